//! When there were threads that the program has made.

use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_platform::Cycles;

/// When the first thread began that the program made, and when the last one ended. In cycles.
static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);
static LAST: AtomicU64 = AtomicU64::new(0);
/// How many threads there are that the program has made.
static THREADS: AtomicU64 = AtomicU64::new(0);

/// The part begins that is asked for.
pub(crate) fn forget(now: Cycles) {
    FIRST.store(if has_threads() { now.0 } else { u64::MAX }, Ordering::Relaxed);
    LAST.store(0, Ordering::Relaxed);
}

/// Whether there are threads that the program has made.
pub(crate) fn has_threads() -> bool {
    THREADS.load(Ordering::Relaxed) > 0
}

pub(crate) fn thread_begins(now: Cycles) {
    THREADS.fetch_add(1, Ordering::Relaxed);
    FIRST.fetch_min(now.0, Ordering::Relaxed);
}

/// A thread ends, which the program has made unless it is its first one.
pub(crate) fn thread_ends(now: Cycles, was_made: bool) {
    THREADS.fetch_sub(u64::from(was_made), Ordering::Relaxed);
    LAST.fetch_max(now.0, Ordering::Relaxed);
}

/// The first of these times and the last one, as far as there are any.
pub(crate) fn span() -> (Option<Cycles>, Option<Cycles>) {
    let (first, last) = (FIRST.load(Ordering::Relaxed), LAST.load(Ordering::Relaxed));
    let last = Some(Cycles(last)).filter(|_| last > first);
    (Some(Cycles(first)).filter(|first| first.0 != u64::MAX), last)
}

/// The threads that there are would have worked on, although the run is over.
pub(crate) fn are_cut() {
    if has_threads() {
        LAST.store(0, Ordering::Relaxed);
    }
}
