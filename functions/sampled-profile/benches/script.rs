//! Speed of the reader of `perf script`'s text, and the memory it takes.
//!
//! The text is like that of a busy server: stacks of five to forty functions, of which the outer
//! ones are shared, some eighty thousand addresses, half of them the kernel's, and nearly all
//! stacks differ: over a million calling contexts. A name of a file as argument measures that file instead.
//! The bar: 100 MB/s.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use kilocore_figures::{ascending, percentile};
use kilocore_sampled_profile::{Options, read};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

const ROUNDS: usize = 5;

/// Bytes of the text.
const LENGTH: usize = 200_000_000;

const FUNCTIONS: u64 = 4_000;

fn main() {
    let mut files = std::env::args().skip(1).filter(|word| !word.starts_with('-'));
    let directory = tempfile::tempdir().expect("a place for files");
    let path = files.next().map_or_else(|| generated(directory.path()), PathBuf::from);
    let length = std::fs::metadata(&path).expect("a file").len() as f64 / 1e6;
    let before = peak_megabytes();
    let mut rates = Vec::new();
    for round in 0..ROUNDS {
        let start = Instant::now();
        let profile = read(&path, &Options::default(), &mut |_| {}).expect("a good file");
        rates.push(length / start.elapsed().as_secs_f64());
        if round == 0 {
            println!("{length:.0} MB, {} samples", profile.total().samples);
            let (contexts, functions) = (profile.contexts.len(), profile.functions.len());
            println!("{contexts} contexts, {functions} functions");
        }
    }
    let rates = ascending(rates);
    let [low, middle, high] =
        [0, 50, 100].map(|percent| percentile(&rates, percent).expect("rounds"));
    println!("{middle:.0} MB/s ({low:.0}–{high:.0})");
    println!("memory: {:.0} MB at most, {before:.0} MB of it before", peak_megabytes());
}

/// The most memory that the process had, in megabytes.
fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes: Option<f64> =
        line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    kilobytes.unwrap_or(f64::NAN) / 1e3
}

/// Writes what `perf script` might print of a long recording into a file of this directory.
fn generated(directory: &Path) -> PathBuf {
    let path = directory.join("script");
    let mut file = BufWriter::new(File::create(&path).expect("a place for files"));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut written, mut time) = (0, 0);
    let mut text = String::new();
    while written < LENGTH {
        text.clear();
        time += random.next_u64() % 500;
        sample(&mut text, time, &mut random);
        file.write_all(text.as_bytes()).expect("room for files");
        written += text.len();
    }
    file.flush().expect("room for files");
    path
}

/// Replaces `text` by what `perf script` prints of a sample at `time`, which is in microseconds.
fn sample(text: &mut String, time: u64, random: &mut Xoshiro256PlusPlus) {
    let (seconds, fraction) = (time / 1_000_000, time % 1_000_000);
    let (thread, processor) = (1_000 + random.next_u64() % 64, random.next_u64() % 48);
    writeln!(text, "worker {thread} [{processor:03}] {seconds}.{fraction:06}:     250000 cycles: ")
        .expect("memory");
    // A walk from the outermost function inwards. Few callees are frequent, many are rare.
    let depth = 5 + random.next_u64() % 36;
    let mut at = random.next_u64() % 4;
    let mut stack = Vec::new();
    for _ in 0..depth {
        let choice = random.next_u64();
        let pick = (choice >> 32) % 64;
        let callee = if choice.is_multiple_of(64) { pick } else { pick / 48 };
        at = (at.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) ^ callee) % FUNCTIONS;
        stack.push((at, (choice >> 8) % 10));
    }
    let border = random.next_u64() % depth;
    for (index, (function, site)) in stack.into_iter().enumerate().rev() {
        let offset = 16 + site * 12;
        if index as u64 > border {
            let address = 0xffff_ffff_8100_0000 + function * 256 + offset;
            writeln!(
                text,
                "\t{address:16x} do_work_{function:x}.part.0+0x{offset:x} ([kernel.kallsyms])"
            )
        } else {
            let address = 0x55d0_0000_0000 + function * 256 + offset;
            let library = function % 7;
            writeln!(
                text,
                "\t{address:16x} server::Worker<int, Task>::step_{function}(unsigned long)\
                 +0x{offset:x} (/usr/lib/x86_64-linux-gnu/libserver-{library}.so.1)"
            )
        }
        .expect("memory");
    }
    text.push('\n');
}
