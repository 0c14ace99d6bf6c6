//! Programs whose locks are known.

use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_process::Output;
use kilocore_reference_recorder::{Options, Traced, trace_locks};
use kilocore_references::TracedLock;

use crate::support::{built, folder, options, words};

/// Builds `locks.c`. Its functions are looked up before it takes a lock, or a first hold would use lines of
/// the loader's.
fn locks(folder: &Path, link: &str) -> PathBuf {
    built(folder, "locks.c", &["cc", "-O2", "-Wall", "-pthread", "-Wl,-z,now", link])
}

fn traced(program: &Path, arguments: &[&str]) -> (Traced, String) {
    traced_as(program, arguments, options())
}

/// Traces a program that ends well, and returns what it prints as well.
pub(crate) fn traced_as(
    program: &Path,
    arguments: &[&str],
    options: Options<'_>,
) -> (Traced, String) {
    use std::os::fd::AsFd;
    let output = tempfile::NamedTempFile::new().expect("there is room");
    let to = Output::To { stdout: output.as_file().as_fd(), stderr: output.as_file().as_fd() };
    let options = Options { output: to, empty_input: true, ..options };
    let recorded = trace_locks(&words(program, arguments), &options).expect("it can be recorded");
    let printed = std::fs::read_to_string(output.path()).expect("it was written");
    assert_eq!(recorded.status.code(), Some(0), "{printed}");
    let traced = recorded.made.expect("the stream is whole").expect("the program has told");
    (traced, printed)
}

/// The lock whose address the program printed last, if it did so in a line of its own.
pub(crate) fn lock(traced: &Traced, printed: &str) -> Option<TracedLock> {
    let address = printed.lines().rev().find_map(|line| line.parse::<u64>().ok());
    let address = address.expect("it prints an address");
    traced.locks.iter().find(|lock| lock.address == address).cloned()
}

const KINDS: [&str; 3] = ["mutex", "xchg", "cmpxchg"];

fn check(program: &Path, kind: &str, lines: u64) -> TracedLock {
    let arguments = [kind, "3", "4000", &lines.to_string()];
    let (traced, printed) = traced(program, &arguments);
    let lock = lock(&traced, &printed).expect("it is a lock");
    assert_eq!((lock.acquisitions, lock.holds, lock.threads), (12_000, 12_000, 3), "{kind}");
    assert_eq!((lock.abandoned, lock.holds_with_more_lines, lock.lines_not_followed), (0, 0, 0));
    assert!(lock.handovers >= 2, "{kind} {lock:?}");
    assert_eq!(lock.lines_moved_to_write, lines * lock.handovers, "{kind} {lock:?}");
    assert_eq!(lock.lines_moved_to_read, 0, "{kind} {lock:?}");
    lock
}

#[test]
fn locks_are_counted_exactly_with_the_lines_that_move() {
    let folder = folder();
    for link in ["-pie", "-static"] {
        let program = locks(folder.path(), link);
        for kind in KINDS {
            for lines in [0, 1, 40] {
                let lock = check(&program, kind, lines);
                // Four instructions for each line, and a few around them; more in the C library.
                let (least, around) = (4 * lines, if kind == "mutex" { 100 } else { 12 });
                let mean = lock.mean_instructions();
                assert!((least as f64..(least + around) as f64).contains(&mean), "{kind} {lock:?}");
                assert!(kind == "mutex" || lock.longest < least + around, "{kind} {lock:?}");
            }
        }
    }
}

#[test]
fn who_takes_a_lock_is_told() {
    let folder = folder();
    let program = locks(folder.path(), "-pie");
    for kind in KINDS {
        let (traced, printed) = traced(&program, &[kind, "2", "10", "1"]);
        let lock = lock(&traced, &printed).expect("it is a lock");
        let functions: Vec<u64> = printed
            .split_whitespace()
            .take(2)
            .map(|word| word.parse().expect("it is one"))
            .collect();
        // A mutex is taken in the C library, for `mutex`; the others in what `run` calls.
        let function = functions[usize::from(kind == "mutex")];
        assert!((function..function + 200).contains(&lock.callers[0]), "{printed} {lock:?}");
        let (file, _) = traced.modules.find(lock.callers[0]).expect("it is in a file");
        assert_eq!(Path::new(file).file_name(), program.file_name());
    }
}

#[test]
fn lines_that_are_only_read_move_when_they_were_written() {
    let folder = folder();
    let program = locks(folder.path(), "-pie");
    let (traced, printed) = traced(&program, &["reader", "2", "4000", "7"]);
    let lock = lock(&traced, &printed).expect("it is a lock");
    assert_eq!(lock.acquisitions, 8_000);
    let (read, written) = (lock.lines_moved_to_read, lock.lines_moved_to_write);
    assert_eq!(read + written, 7 * lock.handovers, "{lock:?}");
    // The two take turns; who comes first finds nothing written.
    assert!(read.abs_diff(written) <= 7, "{lock:?}");
}

#[test]
fn more_lines_than_are_followed_are_said_to_be() {
    let folder = folder();
    let program = locks(folder.path(), "-pie");
    let (traced, printed) = traced(&program, &["xchg", "2", "100", "200"]);
    let lock = lock(&traced, &printed).expect("it is a lock");
    assert_eq!((lock.acquisitions, lock.holds_with_more_lines), (200, 200));
}

#[test]
fn a_counter_is_no_lock() {
    let folder = folder();
    let program = locks(folder.path(), "-pie");
    let (traced, printed) = traced(&program, &["counter", "3", "1000", "1"]);
    assert_eq!(lock(&traced, &printed), None);
}

#[test]
fn mutexes_of_rust_are_seen() {
    let folder = folder();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let program = built(folder.path(), "mutex.rs", &[&rustc, "-O", "--edition=2024"]);
    let (traced, printed) = traced(&program, &[]);
    let address: u64 = printed.trim().parse().expect("it prints an address");
    let near = |lock: &&TracedLock| (address..address + 64).contains(&lock.address);
    let lock = traced.locks.iter().find(near).expect("it is a lock");
    // The main thread takes it once more.
    assert_eq!((lock.acquisitions, lock.holds, lock.threads), (6_001, 6_001, 4));
    assert_eq!(lock.lines_moved_to_write + lock.lines_moved_to_read, 4 * lock.handovers);
    assert!(lock.longest < 100, "{lock:?}");
}

#[test]
fn mutexes_of_go_are_seen() {
    if Command::new("go").arg("version").output().is_err() {
        return;
    }
    let folder = folder();
    let program = built(folder.path(), "mutex.go", &["go", "build"]);
    let (traced, printed) = traced(&program, &[]);
    let lock = lock(&traced, &printed).expect("it is a lock");
    assert_eq!((lock.acquisitions, lock.holds, lock.threads), (6_000, 6_000, 3));
    assert_eq!(lock.lines_moved_to_write, 4 * lock.handovers, "{lock:?}");
}

#[test]
fn unaligned_words_words_that_go_away_and_forks_do_no_harm() {
    let folder = folder();
    let program = built(folder.path(), "lock_edges.c", &["cc", "-O2", "-Wall", "-pthread"]);
    let (traced, _) = traced(&program, &[]);
    // Each of 8 threads takes 300 locks, each at the beginning of a page. Some are not seen: whoever has
    // waited long for a thread that makes QEMU stop all others goes on without being watched.
    let taken = |lock: &&TracedLock| {
        let code = traced.modules.find(lock.code).map(|(file, _)| Path::new(file).file_name());
        lock.address.is_multiple_of(4096) && code == Some(program.file_name())
    };
    let seen: u64 = traced.locks.iter().filter(taken).map(|lock| lock.holds).sum();
    assert!((1_200..=2_400).contains(&seen), "{seen}");
}
