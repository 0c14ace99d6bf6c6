//! What the host's kernel says of a thread of this process.

use std::fs;

/// What the kernel says of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    /// Whether it waits in the kernel.
    sleeps: bool,
    /// The signals that it blocks, each by a bit.
    blocked: u64,
}

impl Status {
    /// That of the thread with this number, if there is one.
    pub(crate) fn of(number: libc::c_long) -> Option<Self> {
        Self::read(&fs::read_to_string(format!("/proc/self/task/{number}/status")).ok()?)
    }

    fn read(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let sleeps = field("State:")?.trim_start().starts_with('S');
        let blocked = u64::from_str_radix(field("SigBlk:")?.trim(), 16).ok()?;
        Some(Self { sleeps, blocked })
    }

    /// Whether it waits in the kernel.
    pub(crate) fn sleeps(self) -> bool {
        self.sleeps
    }

    /// Whether it blocks a signal.
    pub(crate) fn blocks(self, signal: libc::c_int) -> bool {
        self.blocked >> (signal - 1) & 1 == 1
    }
}

/// Whether all threads of this process wait in the kernel but the calling one. If not, one of them has something to do, and
/// perhaps no core to do it on.
pub(crate) fn others_sleep() -> bool {
    let me = number();
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return false };
    let numbers = threads.flatten().filter_map(|one| one.file_name().to_str()?.parse().ok());
    // One that is gone has nothing to do.
    numbers.filter(|&one| one != me).all(|one| Status::of(one).is_none_or(Status::sleeps))
}

/// The number by which the kernel knows the calling thread.
pub(crate) fn number() -> libc::c_long {
    // SAFETY: it only asks.
    unsafe { libc::syscall(libc::SYS_gettid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read() {
        let text = "Name:\tState: S\nState:\tS (sleeping)\nSigBlk:\t0000000000000402\n";
        let status = Status::read(text).expect("a status");
        assert!(status.sleeps() && status.blocks(libc::SIGSEGV) && status.blocks(libc::SIGINT));
        assert!(!status.blocks(libc::SIGBUS) && !status.blocks(libc::SIGRTMAX()));
        assert_eq!(Status::read("State:\tR (running)\n"), None);
    }

    #[test]
    fn a_thread_that_has_something_to_do_keeps_others_from_all_sleeping() {
        let goes_on = std::sync::atomic::AtomicBool::new(true);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while goes_on.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            // It may not have begun.
            let seen = (0..1_000).any(|_| !others_sleep());
            goes_on.store(false, std::sync::atomic::Ordering::Relaxed);
            assert!(seen);
        });
    }

    #[test]
    fn a_thread_that_runs_does_not_sleep() {
        let status = Status::of(number()).expect("it is there");
        assert!(!status.sleeps() && !status.blocks(libc::SIGSEGV));
    }
}
