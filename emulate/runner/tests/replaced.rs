//! Whether a lock of a program was replaced by another one.

use crate::support::{on, program, under};

/// The calls of a program with this kind of lock on two cores that take one under mcs, and how many of these were left to
/// glibc at most.
fn taken(kind: &str) -> [u64; 2] {
    let (point, _) = under("mcs", 2, &program("locks", &[]), &["2", kind]);
    let counts = point.report.counts;
    [counts.lock_calls, counts.lock_calls_left]
}

#[test]
fn locks_that_are_replaced_are_told_from_those_that_are_left() {
    for kind in ["plain", "c11"] {
        let [calls, left] = taken(kind);
        // The dynamic linker takes some of glibc's.
        assert!(calls >= 2_000 && left < 1_000, "{kind}: {calls}, {left}");
    }
    let [calls, left] = taken("recursive");
    assert!(calls >= 2_000 && left == calls, "{calls}, {left}");
    // Only its mutexes are replaced.
    let [calls, left] = taken("read-write");
    assert!(calls >= 2_000 && left == calls, "{calls}, {left}");
}

#[test]
fn who_takes_no_lock_of_the_library_has_none_replaced() {
    assert_eq!(taken("none"), [0, 0]);
    let (own, _) = on(2, &program("locks", &[]), &["2", "plain"]);
    assert_eq!(own.report.counts.lock_calls, 0);
}
