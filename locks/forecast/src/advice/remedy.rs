//! What to do about a lock that `run` cannot replace, in the language of its program.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Lock, Process, Run, is_pthread};

/// Words of what a lock is, and what its users can do.
const REMEDIES: [(&str, &str); 14] = [
    (
        "Python's global interpreter lock",
        "only one thread of it computes at a time, however many cores there are: divide the work \
         among processes (multiprocessing), let extension code release the lock, or use an \
         interpreter without it (python3.13t)",
    ),
    (
        "Rust std::sync",
        "its source can take a lock of the crate kilocore-locks instead, with the feature \
         `lock_api`, by changing one line; or split the data (a lock for each shard), or use atomics",
    ),
    (
        "parking_lot",
        "its source can take a lock of the crate kilocore-locks instead, with the feature \
         `lock_api`, by changing one line; or split the data, or use atomics",
    ),
    ("spin::", "a spin lock keeps waiters on their cores: take a lock that lets them sleep"),
    (
        "Go sync.RWMutex",
        "its readers all write to one count: copy on write (atomic.Pointer), sync.Map, or a lock \
         for each shard",
    ),
    (
        "Go sync.Mutex",
        "hold it for less long, give each shard of the data its own, or use sync/atomic; a channel \
         only moves the waiting",
    ),
    ("a lock of Go's runtime", "timers, channels or the heap are what goroutines fight for there"),
    (
        "Java monitor",
        "take a java.util.concurrent collection, a LongAdder or a lock for each shard; a \
         ReentrantLock in its place is the same bottleneck",
    ),
    (
        "Java java.util.concurrent",
        "split the data that it protects, use a StampedLock's optimistic reads, a LongAdder, or a \
         concurrent collection",
    ),
    (
        "OpenMP critical",
        "use a reduction or `omp atomic` where that does, and give critical sections that have \
         nothing to do with each other names of their own",
    ),
    ("OpenMP lock", "use a reduction or `omp atomic` where that does, or a lock for each part"),
    ("absl::Mutex", "split the data, or take a lock of kilocore-locks by its C header"),
    ("PostgreSQL LWLock", "fewer backends at a time (a connection pool) wait for it less"),
    ("C++ std::atomic::wait", "take a lock of kilocore-locks by its C header, or split the data"),
];

/// What is said of locks that nobody knows.
const OTHERWISE: &str = "hold it for less long, take it less often, or use more of them";

/// Whether `run` can put another lock in this one's place.
pub(super) fn is_replaced(lock: &Lock, process: &Process, run: &Run) -> bool {
    let pthread = match &lock.what {
        Some(what) => is_pthread(what),
        // Recorded by a library that sees pthread locks only.
        None => lock.precision.is_none(),
    };
    pthread && !is_static(process, run)
}

/// Whether a watched program has no C library of its own that could be replaced.
fn is_static(process: &Process, run: &Run) -> bool {
    // The library's functions then lie in the program's own file.
    let inside = |lock: &Lock| {
        lock.callers.iter().flat_map(|caller| &caller.site).any(|frame| {
            frame.module == process.executable && frame.function.starts_with("start_thread")
        })
    };
    run.watching.is_some() && process.locks.iter().any(inside)
}

/// The lock of a process that threads waited for longest, if `run` cannot replace it.
pub(super) fn foreign<'a>(process: &'a Process, run: &Run) -> Option<&'a Lock> {
    let by_waits = |a: &&Lock, b: &&Lock| {
        a.waited().total_cmp(&b.waited()).then(a.held().total_cmp(&b.held()))
    };
    let longest = process.locks.iter().max_by(by_waits)?;
    (!is_replaced(longest, process, run)).then_some(longest)
}

/// What to do about it. `best` is the lock that does best in the forecast, if one does better than
/// today's.
pub(super) fn remedy(lock: &Lock, best: Option<&str>) -> String {
    let what = lock.what.as_deref().unwrap_or("a lock of its own");
    let known = REMEDIES.iter().find(|(begins, _)| what.starts_with(begins));
    let mend = known.map_or(OTHERWISE, |(_, mend)| *mend);
    let may = best.map_or_else(String::new, |best| {
        format!(" An algorithm like {best} is what would help there.")
    });
    if what.starts_with("pthread ") {
        return format!(
            "The program is linked statically, so that `kilocore run` cannot put another lock under \
             it: link it dynamically, or take a lock of kilocore-locks by its C header.{may}"
        );
    }
    let which = if lock.waited() == Nanoseconds(0.0) {
        "The lock that is used most"
    } else {
        "What threads wait for longest"
    };
    format!("{which} is {what}, which `kilocore run` does not replace: {mend}.{may}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(what: Option<&str>) -> Lock {
        Lock { what: what.map(str::to_owned), ..Lock::default() }
    }

    #[test]
    fn only_pthread_locks_are_replaced() {
        let (process, run) = (Process::default(), Run::default());
        for what in
            [None, Some("pthread mutex"), Some("C++ std::mutex"), Some("C++ std::shared_mutex")]
        {
            assert!(is_replaced(&lock(what), &process, &run), "{what:?}");
        }
        for what in ["Go sync.Mutex", "Java monitor", "C++ std::atomic::wait", "OpenMP lock"] {
            assert!(!is_replaced(&lock(Some(what)), &process, &run), "{what}");
        }
        let unknown =
            Lock { precision: Some(kilocore_lock_profile::Precision::default()), ..lock(None) };
        assert!(!is_replaced(&unknown, &process, &run));
    }

    #[test]
    fn each_language_is_told_in_its_own_terms() {
        assert!(remedy(&lock(Some("Go sync.Mutex")), None).contains("sync/atomic"));
        assert!(remedy(&lock(Some("Rust std::sync::Mutex")), Some("cna")).contains("like cna"));
        assert!(remedy(&lock(None), None).contains(OTHERWISE));
    }
}
