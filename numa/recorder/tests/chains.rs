//! Programs whose lines are known to come at the same time, or one after the other.

use std::path::{Path, PathBuf};

use kilocore_reference_recorder::Options;
use kilocore_references::TracedLock;

use crate::locks::{lock, traced_as};
use crate::support::{built, folder, options};

const ROUNDS: u64 = 300;

/// So many rounds may look different: where a thread inside the plugin loses its core for long, an update goes
/// unseen, and the line between fenced ones is taken for a lock until it has been updated a few times.
const MOST_UNSEEN: u64 = 20;

/// Builds `chains.c`. Without optimization, everything passes through the stack.
fn chains(folder: &Path, optimization: &str) -> PathBuf {
    let how = [optimization, "-Wall", "-Wextra", "-Werror", "-pthread", "-Wl,-z,now"];
    built(folder, "chains.c", &[&["cc"], &how[..]].concat())
}

fn traced(program: &Path, kind: &str, lines: u64, options: Options<'_>) -> TracedLock {
    let arguments = [kind, &lines.to_string(), &ROUNDS.to_string()];
    let (traced, printed) = traced_as(program, &arguments, options);
    let lock = lock(&traced, &printed).expect("it is a lock");
    assert!((2 * ROUNDS - MOST_UNSEEN..=2 * ROUNDS).contains(&lock.acquisitions), "{lock:?}");
    assert!((2 * ROUNDS - MOST_UNSEEN..2 * ROUNDS).contains(&lock.handovers), "{lock:?}");
    lock
}

/// Checks how many lines move at each handover, and how many of them one after the other.
#[track_caller]
fn check(program: &Path, kind: &str, lines: u64, options: Options<'_>, [moved, in_turn]: [u64; 2]) {
    let lock = traced(program, kind, lines, options);
    let about = |sum: u64, each: u64| sum.abs_diff(each * lock.handovers) <= MOST_UNSEEN * each;
    assert!(about(lock.lines_moved_to_write, moved), "{kind} {moved} {lock:?}");
    assert!(about(lock.moves_in_turn, in_turn), "{kind} {in_turn} {lock:?}");
}

#[test]
fn lines_whose_addresses_are_known_come_at_the_same_time_and_others_one_after_the_other() {
    let folder = folder();
    for optimization in ["-O2", "-O0"] {
        let program = chains(folder.path(), optimization);
        for (kind, lines, in_turn) in [
            ("adjacent", 7, 1),
            ("written", 7, 1),
            ("chained", 7, 7),
            ("spilled", 7, 7),
            // Those that the indices choose, behind the one that has the indices.
            ("indexed", 8, 2),
            ("chosen", 7, 7),
            ("forgotten", 7, 1),
            ("fenced", 8, 8),
        ] {
            check(&program, kind, 7, options(), [lines, in_turn]);
        }
        check(&program, "chained", 1, options(), [1, 1]);
        check(&program, "chained", 48, options(), [48, 48]);
    }
}

#[test]
fn a_processor_looks_only_so_far_ahead() {
    let folder = folder();
    let program = chains(folder.path(), "-O2");
    check(&program, "distant", 7, options(), [7, 7]);
    check(&program, "distant", 7, Options { window: 100_000, ..options() }, [7, 1]);
    // Between one line and the next but one are 600 instructions and a few.
    check(&program, "distant", 7, Options { window: 500, ..options() }, [7, 4]);
    check(&program, "chained", 7, Options { window: 100_000, ..options() }, [7, 7]);
    // A line that is only written is waited for by nobody.
    check(&program, "written", 40, Options { window: 1, ..options() }, [40, 1]);
}
