//! Memory is bounded by what is distinct in a file, and not by its length.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::pprof::Profile;
use flate2::Compression;
use flate2::write::GzEncoder;
use kilocore_sampled_profile::{Limits, Options, ReadError, SampledProfile, read};
use prost::Message;

const MEGABYTE: usize = 1 << 20;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
struct Counted;

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's promises are the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: it came from the system's allocator with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTED: Counted = Counted;

/// Reads a file, and how many bytes more than before it took at most.
fn measured(path: &Path, limits: Limits) -> (Result<SampledProfile, ReadError>, usize) {
    let before = NOW.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let result = read(path, &Options { limits, ..Options::default() }, &mut |_| {});
    (result, MOST.load(Ordering::Relaxed) - before)
}

/// A file that has a part many times, packed.
fn repeated(at: &Path, before: &[u8], part: &[u8], times: usize, after: &[u8]) {
    let mut file = GzEncoder::new(File::create(at).expect("a place"), Compression::fast());
    file.write_all(before).expect("room");
    (0..times).for_each(|_| file.write_all(part).expect("room"));
    file.write_all(after).expect("room");
    file.finish().expect("room");
}

/// All in one test: what is counted is the whole program's.
#[test]
fn memory_is_bounded() {
    let directory = tempfile::tempdir().expect("a place");
    let path = directory.path().join("file");
    let limits = Limits::default();

    let mut text = String::new();
    for n in 0..1_000 {
        write!(text, "app  7 1.{n:06}: 250000 cycles: \n\t  4010f0 f{}+0x1 (/bin/a)\n\n", n % 50)
            .expect("memory");
    }
    repeated(&path, b"", text.as_bytes(), 300, b"");
    let (profile, peak) = measured(&path, limits);
    assert_eq!(profile.expect("a good file").total().samples, 300_000);
    assert!(peak < 6 * MEGABYTE, "15 MB of text with 50 stacks took {peak} bytes");

    repeated(&path, b"a;b 3\n", &[b'x'; 1 << 16], 300, b"\na;c 4\n");
    let (profile, peak) = measured(&path, limits);
    assert_eq!(profile.expect("two good lines").total().samples, 7);
    assert!(peak < 6 * MEGABYTE, "a line of 20 MB took {peak} bytes");

    // Records without anything in them, of two bytes each.
    let mut good = Profile::go();
    good.sample.push(common::pprof::Sample {
        location_id: vec![1],
        value: vec![1, 10_000_000],
        label: Vec::new(),
    });
    good.location.push(common::pprof::Location { id: 1, ..Default::default() });
    let good = good.encode_to_vec();
    for tag in [0x12, 0x1a, 0x22, 0x2a] {
        repeated(&path, &good, &[tag, 0].repeat(1 << 10), 1 << 10, b"");
        let (profile, peak) = measured(&path, limits);
        assert_eq!(profile.expect("one good sample").total().samples, 1);
        assert!(peak < 30 * MEGABYTE, "2 MB of records {tag} took {peak} bytes");
    }

    // A bomb: all of it is unpacked only up to the limit.
    repeated(&path, &good, &[0; 1 << 16], 1_000, b"");
    let (error, peak) = measured(&path, Limits { message_bytes: 8 * MEGABYTE, ..limits });
    assert!(matches!(error, Err(ReadError::TooLarge { .. })), "{error:?}");
    assert!(peak < 20 * MEGABYTE, "8 MB of a bomb took {peak} bytes");
}
