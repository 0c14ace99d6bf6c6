//! How many threads of the whole system run or want to: proc_loadavg(5).

use crate::small_file::read;

/// Returns how many threads of the system run at this moment or are ready to, the calling one among them, or
/// nothing if the kernel does not tell.
#[must_use]
pub fn runnable_threads() -> Option<u32> {
    let mut room = [0; 256];
    runnable(read("/proc/loadavg", &mut room).ok()?)
}

/// Reads `0.92 2.74 4.21 1/86 6512`: one of 86.
fn runnable(text: &[u8]) -> Option<u32> {
    /// No system has more threads (`PID_MAX_LIMIT`).
    const MOST: u32 = 4 << 20;
    let text = std::str::from_utf8(text).ok()?;
    let (runnable, _) = text.split_whitespace().nth(3)?.split_once('/')?;
    runnable.parse().ok().filter(|&threads| threads <= MOST)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_calling_thread_runs() {
        assert!(runnable_threads().is_some_and(|threads| threads >= 1));
    }

    #[test]
    fn the_fourth_word_counts() {
        assert_eq!(runnable(b"0.92 2.74 4.21 31/86 6512\n"), Some(31));
        for wrong in [
            &b""[..],
            b"0.92 2.74 4.21",
            b"1 2 3 4 5",
            b"1 2 3 -1/9",
            b"1 2 3 99999999999/1",
            b"1 2 3 4194305/1",
            b"\xff 2 3 4/5",
        ] {
            assert_eq!(runnable(wrong), None, "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_it_says_is_read(text in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = runnable(&text);
        }
    }
}
