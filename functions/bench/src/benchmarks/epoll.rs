//! `epoll`: raising an event, waiting for it and taking it.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

use crate::sys::check;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Epoll;

const INFO: Info = Info {
    name: "epoll",
    title: "epoll: raise, wait for and take an event",
    operation: "an eventfd of the task's own that is written, waited for with epoll and read",
    source: "perf bench epoll wait, with one descriptor",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Epoll {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        // SAFETY: both calls touch no memory. The descriptors are new and belong to nobody else.
        let (set, event) = unsafe {
            let set = check("epoll_create1", libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
            let set = File::from_raw_fd(set);
            let event = check("eventfd", libc::eventfd(0, libc::EFD_CLOEXEC))?;
            (set, File::from_raw_fd(event))
        };
        let mut interest = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        let (add, fd) = (libc::EPOLL_CTL_ADD, event.as_raw_fd());
        // SAFETY: `interest` is valid for the whole call, and the kernel copies it.
        check("epoll_ctl", unsafe {
            libc::epoll_ctl(set.as_raw_fd(), add, fd, &raw mut interest)
        })?;
        Ok(Box::new(Events { set, event }))
    }
}

struct Events {
    set: File,
    event: File,
}

impl Task for Events {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        const WORD: usize = size_of::<u64>();
        let (set, event) = (self.set.as_raw_fd(), self.event.as_raw_fd());
        let mut word = 1_u64;
        let mut raised = libc::epoll_event { events: 0, u64: 0 };
        for _ in 0..operations {
            // SAFETY: `word` has the eight bytes that the kernel reads.
            if unsafe { libc::write(event, (&raw const word).cast(), WORD) } != WORD as isize {
                return Err(Refusal::last("write to an eventfd"));
            }
            // SAFETY: `raised` has room for the one event that the kernel may write.
            check("epoll_wait", unsafe { libc::epoll_wait(set, &raw mut raised, 1, -1) })?;
            // SAFETY: `word` has room for the eight bytes that the kernel writes.
            if unsafe { libc::read(event, (&raw mut word).cast(), WORD) } != WORD as isize {
                return Err(Refusal::last("read from an eventfd"));
            }
        }
        Ok(())
    }
}
