//! `futex`: asking to wait on a word that has changed already.
//!
//! The call takes the lock of the word's bucket in the kernel's table of waiters. It sees that the
//! word has another value, and returns. Each task has a word of its own, but tasks share buckets.

use std::sync::atomic::AtomicU32;

use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Futex;

const INFO: Info = Info {
    name: "futex",
    title: "futexes: a wait that ends at once",
    operation: "a FUTEX_WAIT on a word of the task's own that does not have the value",
    source: "will-it-scale: futex2",
    default: Kind::Threads,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Futex {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Waiting { word: AtomicU32::new(0) }))
    }
}

/// The word lies on cache lines of its own.
#[repr(align(128))]
struct Waiting {
    word: AtomicU32,
}

impl Task for Waiting {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        const WAIT: i32 = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
        const ANOTHER_VALUE: u32 = 1;
        let forever: *const libc::timespec = core::ptr::null();
        for _ in 0..operations {
            // SAFETY: the word is valid for the whole call.
            let result = unsafe {
                libc::syscall(libc::SYS_futex, self.word.as_ptr(), WAIT, ANOTHER_VALUE, forever)
            };
            debug_assert_eq!(result, -1, "the word has another value");
        }
        // The error is checked only once a batch: reading `errno` each time would be measured, too.
        let error = std::io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EAGAIN) => Ok(()),
            _ => Err(Refusal::of("futex", &error)),
        }
    }
}
