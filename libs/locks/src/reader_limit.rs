//! The end of a process that has too many readers inside one lock.
//!
//! Readers are counted, and safe code can forget guards until any count is full. A count that starts
//! again at 0 would let a writer in beside readers. So a count has a *limit* far below its end, as that
//! of `Arc` has: more than any number of threads reach, and so far from the end that the threads that
//! pass it meanwhile cannot fill the rest. A reader that finds the limit reached when it comes ends
//! the process. A try that finds it reached fails.
//!
//! The limit shows in a bit of the word that a reader tests anyway, so it costs nothing.

use kilocore_platform::Platform;

/// Ends the process because a lock has too many readers. A checker only ends the execution.
#[cold]
#[inline(never)]
pub(crate) fn too_many_readers<P: Platform>() -> ! {
    /// No panic leaves this: safe code could catch it and go on, with the reader counted.
    extern "C" fn end() -> ! {
        say()
    }

    fn say() -> ! {
        panic!("a read-write lock has too many readers: some never left, or one left twice")
    }

    if P::CHECKED { say() } else { end() }
}

/// Writes the tests of the limit of a lock. `$fill` gives a lock, as an expression, all readers that it
/// may have.
#[cfg(test)]
macro_rules! limit_tests {
    ($lock:ident, $fill:expr) => {
        #[cfg(test)]
        mod limit {
            use kilocore_platform::Native;

            use super::*;
            use crate::reader_limit::tests::assert_ends_process;

            fn full() -> $lock<Native> {
                let lock = $lock::<Native>::new();
                let fill: fn(&$lock<Native>) = $fill;
                fill(&lock);
                lock
            }

            #[test]
            fn one_reader_too_many_ends_the_process() {
                let test = concat!(module_path!(), "::one_reader_too_many_ends_the_process");
                assert_ends_process(test, || full().acquire_shared());
            }

            #[test]
            fn a_try_to_be_one_reader_too_many_fails() {
                let lock = full();
                assert!(lock.try_acquire_shared().is_none());
                assert!(!lock.try_acquire(), "a writer came in beside readers");
                // SAFETY: the lock is full of readers, for one of which this leaves.
                unsafe { lock.release_shared(()) };
                assert!(lock.try_acquire_shared().is_some(), "there is room for one");
                assert!(!lock.try_acquire(), "a writer came in beside readers");
            }
        }
    };
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::string::String;

    /// Asserts that `deed` ends the process by an abort that names the cause. The caller is the test
    /// with the given path, which runs once more, in a process of its own.
    #[track_caller]
    pub(crate) fn assert_ends_process(test: &str, deed: impl FnOnce()) {
        const CHILD: &str = "KILOCORE_TEST_ENDS_PROCESS";
        if std::env::var_os(CHILD).is_some() {
            deed();
            std::process::exit(0);
        }
        let (_, test) = test.split_once("::").expect("the path begins with the crate");
        let ended = Command::new(std::env::current_exe().expect("this program has a path"))
            .args(["--exact", test, "--nocapture"])
            .env(CHILD, "1")
            .output()
            .expect("this program runs");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{:?}: {said}", ended.status);
        assert!(said.contains("too many readers"), "{said}");
    }
}
