//! Which objects of a program are the C library's own, whatever its language calls them.

/// What names of such objects begin with.
const BEGINNINGS: [&str; 9] = [
    "pthread mutex",
    "pthread read-write lock",
    "pthread spin lock",
    "pthread condition variable",
    "pthread barrier",
    "C++ std::mutex",
    "C++ std::shared_mutex",
    "C++ std::shared_timed_mutex",
    "C++ std::condition_variable",
];

/// Whether an object that its program knows by this name ([`Lock::what`](crate::Lock::what)) is one
/// of the C library's. A library under the program can then record its use, and put another in its
/// place.
#[must_use]
pub fn is_pthread(what: &str) -> bool {
    BEGINNINGS.iter().any(|begins| what.starts_with(begins))
}

#[cfg(test)]
mod tests {
    use super::is_pthread;

    #[test]
    fn what_is_built_upon_pthreads_is_theirs_and_nothing_else() {
        for what in
            ["pthread mutex, after a condition", "C++ std::mutex (timed)", "pthread barrier"]
        {
            assert!(is_pthread(what), "{what}");
        }
        for what in ["POSIX semaphore", "C++ std::atomic::wait", "Rust std::sync::Mutex"] {
            assert!(!is_pthread(what), "{what}");
        }
    }
}
