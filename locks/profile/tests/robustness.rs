//! Whatever bytes come in, the answer is a profile or a message that says what is wrong where.

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    ClockRate, Handoffs, Histogram, Host, Lack, Lock, MigratingLines, Process, Profile,
    ProfileError, Recording, RecordingError, Run, Symbols, Threads, read_directory,
};
use kilocore_lock_recording::{
    BarrierBlock, CallerBlock, ContentionBlock, FileHeader, HistogramBlock, LockBlock, MAGIC,
    ShardBlock, ThreadBlock, UNIT, VERSION, family, kind, sparse,
};
use proptest::prelude::*;

const FILE: &str = "some.kcrec";

/// The bytes of a block that was filled in.
fn bytes_of<B>(fill: impl FnOnce(&mut B)) -> Vec<u8> {
    let mut bytes = vec![0_u64; (size_of::<B>() + align_of::<B>()) / 8];
    let (_, aligned, _) = {
        // SAFETY: the types of a recording are atomics and bytes, valid for every bit pattern.
        unsafe { bytes.align_to_mut::<B>() }
    };
    fill(&mut aligned[0]);
    // SAFETY: such a type has no padding that was not zeroed above.
    let block =
        unsafe { std::slice::from_raw_parts((&raw const aligned[0]).cast::<u8>(), size_of::<B>()) };
    block.to_vec()
}

fn header(used: usize) -> Vec<u8> {
    bytes_of(|header: &mut FileHeader| {
        header.magic.store(MAGIC, Ordering::Relaxed);
        header.version.store(VERSION, Ordering::Relaxed);
        header.used.store(used as u64, Ordering::Relaxed);
        header.pid.store(77, Ordering::Relaxed);
        header.last_cycles.store(2000, Ordering::Relaxed);
        header.last_ns.store(1000, Ordering::Relaxed);
    })
}

/// A recording of a mutex that was taken five times.
fn recording() -> Vec<u8> {
    let lock_at = size_of::<FileHeader>();
    // A block whose writer died before the header leaves zeros behind.
    let hole = vec![0; 3 * UNIT];
    let shard_at = (lock_at + size_of::<LockBlock>() + hole.len()) / UNIT;
    let hold_at = shard_at + size_of::<ShardBlock>() / UNIT;
    let caller_at = hold_at + size_of::<HistogramBlock>() / UNIT;
    let lock = bytes_of(|lock: &mut LockBlock| {
        lock.asleep[0].store(5000, Ordering::Relaxed);
        lock.callers.store(caller_at as u32, Ordering::Relaxed);
        lock.header.kind.store(kind::LOCK, Ordering::Relaxed);
        lock.header.units.store((size_of::<LockBlock>() / UNIT) as u32, Ordering::Relaxed);
        lock.family.store(family::MUTEX, Ordering::Relaxed);
        lock.address.store(4096, Ordering::Relaxed);
        lock.instances.store(1, Ordering::Relaxed);
        lock.shards[0][3].store(shard_at as u32, Ordering::Relaxed);
    });
    let shard = bytes_of(|shard: &mut ShardBlock| {
        shard.header.kind.store(kind::SHARD, Ordering::Relaxed);
        shard.header.units.store((size_of::<ShardBlock>() / UNIT) as u32, Ordering::Relaxed);
        shard.holds.more.store(hold_at as u32, Ordering::Relaxed);
        shard.holds.sum.store(200, Ordering::Relaxed);
        for (index, (bucket, count)) in [(16, 1), (8, 1)].into_iter().enumerate() {
            let entry = sparse::entry(bucket, count);
            shard.holds.entries[index].store(entry, Ordering::Relaxed);
        }
        shard.same_core.store(4, Ordering::Relaxed);
        shard.other_core.store(1, Ordering::Relaxed);
    });
    let hold = bytes_of(|hold: &mut HistogramBlock| {
        hold.header.kind.store(kind::HISTOGRAM, Ordering::Relaxed);
        hold.header.units.store((size_of::<HistogramBlock>() / UNIT) as u32, Ordering::Relaxed);
        hold.histogram.sum.store(800, Ordering::Relaxed);
        hold.histogram.buckets[16].store(3, Ordering::Relaxed);
    });
    let thread = bytes_of(|thread: &mut ThreadBlock| {
        thread.header.kind.store(kind::THREAD, Ordering::Relaxed);
        thread.header.units.store((size_of::<ThreadBlock>() / UNIT) as u32, Ordering::Relaxed);
        thread.asleep.store(6000, Ordering::Relaxed);
        thread.asleep_between.store(5000, Ordering::Relaxed);
    });
    // Two places, the second of which leads back to the first.
    let caller = |index: usize| {
        bytes_of(|caller: &mut CallerBlock| {
            caller.header.kind.store(kind::CALLER, Ordering::Relaxed);
            caller.header.units.store((size_of::<CallerBlock>() / UNIT) as u32, Ordering::Relaxed);
            caller.site.store(1 + index as u32, Ordering::Relaxed);
            caller.next.store((caller_at + 1 - index) as u32, Ordering::Relaxed);
            caller.acquisitions.store(10 + 20 * index as u64, Ordering::Relaxed);
        })
    };
    let barrier = bytes_of(|barrier: &mut BarrierBlock| {
        barrier.header.kind.store(kind::BARRIER, Ordering::Relaxed);
        barrier.header.units.store((size_of::<BarrierBlock>() / UNIT) as u32, Ordering::Relaxed);
        barrier.parties.store(2, Ordering::Relaxed);
        barrier.rounds.store(4, Ordering::Relaxed);
        barrier.wait.sum.store(800, Ordering::Relaxed);
        barrier.wait.buckets[16].store(8, Ordering::Relaxed);
    });
    let body = [lock, hole, shard, hold, caller(0), caller(1), barrier, thread].concat();
    [header(lock_at + body.len()), body].concat()
}

fn parse(bytes: Vec<u8>) -> Result<Option<Process>, RecordingError> {
    let recording = Recording::parse(Path::new(FILE), bytes)?;
    // Damaged ones are read in every way.
    drop(recording.as_ref().map(Recording::lock_counts));
    Ok(recording
        .map(|recording| recording.process(ClockRate { ghz: 2.0 }, &mut Symbols::default())))
}

#[test]
fn a_recording_with_a_hole_is_read() {
    let process = parse(recording()).expect("it is whole").expect("it had begun");
    assert_eq!(process.pid, 77);
    let lock = &process.locks[0];
    assert_eq!((lock.acquisitions, lock.address, lock.instances), (5, 4096, 1));
    assert_eq!(lock.handoffs, Handoffs { same_core: 4, other_core: 1 });
    assert_eq!((lock.hold.count, lock.hold.sum), (5, Nanoseconds(500.0)));
    // Bucket 4n begins at 16 · 2ⁿ cycles; 256 cycles are 128 ns at 2 GHz.
    assert_eq!(lock.hold.buckets, [(32.0, 1), (128.0, 4)]);
    // Half of what was seen, of 3000 ns that there were.
    assert_eq!([lock.hold_asleep, process.threads.think_asleep], [Nanoseconds(1500.0); 2]);
    // Ten to thirty, of the five that there were.
    let taken: Vec<u64> = lock.callers.iter().map(|caller| caller.acquisitions).collect();
    assert_eq!(taken, [4, 1]);
    let barrier = &process.barriers[0];
    assert_eq!((barrier.parties, barrier.rounds, barrier.wait.count), (2, 4, 8));
}

#[test]
fn acquisitions_and_waits_of_a_lock_are_read_without_the_rest() {
    let counts =
        |bytes| Recording::parse(Path::new(FILE), bytes).ok().flatten().map(|r| r.lock_counts());
    let [lock] = counts(recording()).expect("it is whole")[..] else { panic!("one lock") };
    assert_eq!((lock.address, lock.acquired, lock.waited_cycles), (Some(4096), 5, 0));
    let waits_at = recording().len() / UNIT;
    let waits = bytes_of(|waits: &mut ContentionBlock| {
        waits.header.kind.store(kind::CONTENTION, Ordering::Relaxed);
        waits.header.units.store((size_of::<ContentionBlock>() / UNIT) as u32, Ordering::Relaxed);
        waits.wait.sum.store(300, Ordering::Relaxed);
    });
    let mut more = [recording(), waits].concat();
    more.splice(..size_of::<FileHeader>(), header(more.len()));
    let at = size_of::<FileHeader>() + std::mem::offset_of!(LockBlock, contention) + 4;
    more.splice(at..at + 4, (waits_at as u32).to_ne_bytes());
    let [lock] = counts(more).expect("it is whole")[..] else { panic!("one lock") };
    assert_eq!((lock.acquired, lock.waited_cycles), (5, 300));
}

#[test]
fn what_is_wrong_with_a_recording_is_said() {
    assert!(parse(Vec::new()).expect("nothing is wrong").is_none());
    assert!(parse(vec![0; 4096]).expect("it had not begun").is_none());
    let message = |bytes| parse(bytes).expect_err("it is damaged").to_string();
    assert!(message(b"something else entirely".to_vec()).contains("some.kcrec: byte 0"));
    let mut cut = recording();
    cut.truncate(cut.len() - 100);
    assert!(message(cut).contains("ends inside a block"));
    let mut other = recording();
    other[8] = 99;
    assert!(message(other).contains("version 99"));
    let mut unknown = recording();
    unknown[size_of::<FileHeader>()] = 99;
    assert!(message(unknown).contains("unknown kind"));
}

#[test]
fn a_directory_is_read_without_its_other_files() {
    let directory = std::env::temp_dir().join(format!("kilocore-profile-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("there is room");
    fs::write(directory.join("1.kcrec"), recording()).expect("there is room");
    fs::write(directory.join("2.kcrec"), []).expect("there is room");
    fs::write(directory.join("notes.txt"), "not one of ours").expect("there is room");
    let processes = read_directory(&directory, None);
    fs::remove_dir_all(&directory).expect("it is ours");
    assert_eq!(processes.expect("all is well").len(), 1);
    let missing = read_directory(Path::new("/nonexistent/place"), None);
    assert!(missing.unwrap_err().to_string().contains("/nonexistent/place"));
}

/// A folder of this test's own, and a file in it.
fn file_in(name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("there is room");
    let file = folder.path().join(name);
    (folder, file)
}

#[test]
fn of_a_long_file_with_a_hole_only_what_is_in_use_is_read() {
    let (_folder, path) = file_in(FILE);
    let file = fs::File::create(&path).expect("there is room");
    fs::write(&path, recording()).expect("there is room");
    file.set_len(256 << 20).expect("a hole takes no room");
    let recording = Recording::open(&path).expect("it is whole").expect("it had begun");
    let process = recording.process(ClockRate { ghz: 2.0 }, &mut Symbols::default());
    assert_eq!(process.locks[0].acquisitions, 5);
    assert_eq!(recording.lack(), None);
}

#[test]
fn a_file_that_claims_more_than_can_be_is_cut_short_and_takes_little_memory() {
    let (_folder, path) = file_in(FILE);
    let file = fs::File::create(&path).expect("there is room");
    fs::write(&path, [header(usize::MAX), recording()].concat()).expect("there is room");
    // More than any machine has memory.
    file.set_len(1 << 43).expect("a hole takes no room");
    let before = peak_kib();
    let error = Recording::open(&path).expect_err("it is damaged").to_string();
    assert!(error.contains(FILE) && error.contains("byte"), "{error}");
    fs::write(&path, vec![1; 4096]).expect("there is room");
    file.set_len(1 << 43).expect("a hole takes no room");
    assert!(matches!(Recording::open(&path), Err(RecordingError::Foreign { .. })));
    // The tests beside this one take some, too.
    assert!(peak_kib() - before < 200 << 10, "{} KiB more", peak_kib() - before);
}

/// The most memory that this process has had so far.
fn peak_kib() -> i64 {
    let mut usage: libc::rusage = {
        // SAFETY: zeros are a valid value.
        unsafe { std::mem::zeroed() }
    };
    // SAFETY: `usage` is a local variable.
    assert_eq!(unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) }, 0);
    usage.ru_maxrss
}

#[test]
fn a_pipe_and_a_link_are_no_recordings() {
    let (folder, pipe) = file_in("1.kcrec");
    let path = std::ffi::CString::new(pipe.to_str().expect("a plain path")).expect("no zeros");
    // SAFETY: the path is a C string.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    let error = Recording::open(&pipe).expect_err("nobody writes to it").to_string();
    assert!(error.contains("no regular file"), "{error}");
    let link = folder.path().join("2.kcrec");
    let real = folder.path().join("real");
    fs::write(&real, recording()).expect("there is room");
    std::os::unix::fs::symlink(&real, &link).expect("there is room");
    assert!(matches!(Recording::open(&link), Err(RecordingError::Io { .. })));
    assert!(Recording::open(&real).is_ok());
    assert_eq!(read_directory(folder.path(), None).expect("neither is looked at").len(), 0);
}

#[test]
fn a_recording_tells_why_it_could_not_grow() {
    for (number, expected) in
        [(1, Some(Lack::Room)), (2, Some(Lack::Permission)), (3, Some(Lack::Memory)), (9, None)]
    {
        let mut bytes = recording();
        let at = std::mem::offset_of!(FileHeader, lack);
        bytes[at..at + 8].copy_from_slice(&u64::to_ne_bytes(number));
        let recording = Recording::parse(Path::new(FILE), bytes).expect("it is whole");
        assert_eq!(recording.expect("it had begun").lack(), expected);
    }
}

/// A lock with holds in one bucket, which begins at `hold`.
fn lock(hold: Nanoseconds<f64>, handoffs: Handoffs) -> Lock {
    Lock {
        id: 0,
        family: kilocore_lock_profile::Family::Mutex,
        attributes: Vec::new(),
        address: 0,
        instances: 1,
        site: Vec::new(),
        acquisitions: 10_000,
        contended: 0,
        failed_tries: 0,
        hold: Histogram { count: 10_000, sum: hold * 1e4, buckets: vec![(hold.0, 10_000)] },
        wait: Histogram::default(),
        waiters_met: Vec::new(),
        handoffs,
        mostly_by: None,
        ..Lock::default()
    }
}

fn run(cores: u32, lock: Lock) -> Run {
    Run {
        cores,
        wall_time: Nanoseconds(1e9),
        exit_status: 0,
        processes: vec![Process {
            pid: 1,
            executable: "/bin/program".to_owned(),
            threads: Threads::default(),
            locks: vec![lock],
            ..Process::default()
        }],
        ..Run::default()
    }
}

fn profile() -> Profile {
    let handoffs = Handoffs { same_core: 5000, other_core: 5000 };
    Profile {
        format: "kilocore-profile".to_owned(),
        version: 1,
        command: vec!["program".to_owned()],
        host: Host {
            processor: "a processor".to_owned(),
            cores: 2,
            clock_ghz: 2.0,
            core_to_core: Some(Nanoseconds(100.0)),
            kernel: "6.1".to_owned(),
            offline: None,
            hardware_threads: Vec::new(),
        },
        runs: vec![
            run(2, lock(Nanoseconds(500.0), handoffs)),
            run(1, lock(Nanoseconds(200.0), Handoffs { same_core: 10_000, other_core: 0 })),
        ],
        trace: None,
        scaling: None,
    }
}

#[test]
fn migrating_lines_follow_from_the_two_runs() {
    let mut profile = profile();
    let estimate =
        |profile: &Profile| profile.migrating_lines(0, &profile.runs[0].processes[0].locks[0]);
    // 300 ns more (up to the width of a bucket), over half of the acquisitions at 100 ns a line.
    let MigratingLines { lines, low, high, extra_hold } =
        estimate(&profile).expect("the data suffice");
    assert!((5.9..6.7).contains(&lines), "{lines}");
    assert!(low <= lines && lines <= high && high - low < 2.0, "{low} to {high}");

    assert!((295.0..335.0).contains(&extra_hold.0), "{extra_hold:?}");

    // The same for a lock that one in eight holders takes over from the other core: 24 lines if they
    // go with it, 6 if they are on either core alike, and the mean of these in between.
    let mut in_runs = profile.clone();
    in_runs.runs[0].processes[0].locks[0].handoffs =
        Handoffs { same_core: 8_750, other_core: 1_250 };
    let MigratingLines { lines, low, high, .. } = estimate(&in_runs).expect("the data suffice");
    assert!(low < 6.7 && (11.8..13.4).contains(&lines) && high > 23.0, "{low} {lines} {high}");

    let mut same = profile.clone();
    same.runs[0].processes[0].locks[0].hold = same.runs[1].processes[0].locks[0].hold.clone();
    assert_eq!(estimate(&same).expect("the data suffice").lines, 0.0);

    let mut few = profile.clone();
    few.runs[0].processes[0].locks[0].handoffs = Handoffs { same_core: 9_990, other_core: 10 };
    assert_eq!(estimate(&few), None);
    let mut unknown = profile.clone();
    unknown.host.core_to_core = None;
    assert_eq!(estimate(&unknown), None);
    profile.runs.truncate(1);
    assert_eq!(estimate(&profile), None);
}

#[test]
fn what_is_wrong_with_a_profile_is_said() {
    let text = serde_json::to_string(&profile()).expect("it can be written");
    let read = |text: &str| Profile::parse(Path::new("p.json"), text.as_bytes());
    assert!(read(&text).expect("it is whole") == profile());
    let message = |text: &str| read(text).expect_err("it is damaged").to_string();
    assert!(matches!(read(&text[..text.len() / 2]), Err(ProfileError::Truncated { .. })));
    assert!(message("{}").contains("p.json: format"));
    assert!(message("[1, 2").starts_with("p.json:1:"));
    assert!(message(&text.replace("\"version\":1", "\"version\":9")).contains("version: 9"));
    assert!(message(&text.replace("\"cores\":2", "\"cores\":\"two\"")).contains("invalid type"));
    assert!(
        message(&text.replace("\"clock_ghz\":2.0", "\"clock_ghz\":-2.0")).contains("clock_ghz")
    );
    let missing = Profile::read(Path::new("/nonexistent/profile.json"));
    assert!(missing.unwrap_err().to_string().contains("/nonexistent/profile.json"));
}

#[test]
fn writing_leaves_the_old_profile_or_the_new() {
    let directory = std::env::temp_dir().join(format!("kilocore-write-{}", std::process::id()));
    fs::create_dir_all(&directory).expect("there is room");
    let file = directory.join("profile.json");
    profile().write(&file).expect("it can be written");
    assert!(Profile::read(&file).expect("it can be read") == profile());
    // The file's place taken by a directory with something in it: the rename fails.
    let taken = directory.join("taken");
    fs::create_dir_all(taken.join("inside")).expect("there is room");
    assert!(profile().write(&taken).is_err());
    let left: Vec<_> = fs::read_dir(&directory).expect("it exists").collect();
    fs::remove_dir_all(&directory).expect("it is ours");
    assert_eq!(left.len(), 2, "{left:?}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_are_no_reason_to_panic(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
        let _ = parse(bytes.clone());
        let _ = Profile::parse(Path::new("p.json"), &bytes);
    }

    #[test]
    fn a_recording_with_arbitrary_changes_is_no_reason_to_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = recording();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = parse(bytes.clone());
        bytes.truncate(cut.index(bytes.len()));
        let _ = parse(bytes);
    }

    #[test]
    fn a_profile_with_arbitrary_changes_is_no_reason_to_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..10),
    ) {
        let mut bytes = serde_json::to_vec(&profile()).expect("it can be written");
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        if let Ok(profile) = Profile::parse(Path::new("p.json"), &bytes) {
            for process in profile.runs.iter().flat_map(|run| &run.processes) {
                for lock in &process.locks {
                    let _ = profile.migrating_lines(0, lock);
                    let _ = lock.hold.quantile(0.5);
                }
            }
        }
    }

    #[test]
    fn quantiles_ascend(
        counts in prop::collection::vec(1_u64..1000, 1..30),
        a in 0.0_f64..=1.0,
        b in 0.0_f64..=1.0,
    ) {
        let buckets: Vec<(f64, u64)> =
            counts.iter().enumerate().map(|(i, count)| (1.25_f64.powi(i as i32), *count)).collect();
        let histogram = Histogram { count: counts.iter().sum(), sum: Nanoseconds(0.0), buckets };
        let (low, high) = (a.min(b), a.max(b));
        prop_assert!(histogram.quantile(low) <= histogram.quantile(high));
    }
}
