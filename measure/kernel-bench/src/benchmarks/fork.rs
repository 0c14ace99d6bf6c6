//! `fork`: making a process that ends at once, and waiting for its end.
//!
//! Each copy of an address space enters its mappings into the lists of the files that they map:
//! those of the program and of the C library, which all tasks share. Threads wait for the C library
//! before that: it takes locks of its allocator and its streams around a fork, so that one thread of
//! a process forks at a time.

use crate::sys::check;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Fork;

const INFO: Info = Info {
    name: "fork",
    title: "processes: fork, exit and wait",
    operation: "a process that is made, ends and is waited for",
    source: "Cui, Chen, Shi 2012: forkbench",
    default: Kind::Processes,
    only: None,
    keeps_core: false,
    hidden: false,
};

impl Benchmark for Fork {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Forking))
    }
}

struct Forking;

impl Task for Forking {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            // SAFETY: the child does nothing but end, which is async-signal-safe.
            let child = check("fork", unsafe { libc::fork() })?;
            if child == 0 {
                // SAFETY: ends the process without running anything of it.
                unsafe { libc::_exit(0) };
            }
            wait_for(child)?;
        }
        Ok(())
    }
}

/// Waits for a child's end.
pub(super) fn wait_for(child: libc::pid_t) -> Result<(), Refusal> {
    // SAFETY: the status is not asked for.
    check("waitpid", unsafe { libc::waitpid(child, core::ptr::null_mut(), 0) }).map(drop)
}
