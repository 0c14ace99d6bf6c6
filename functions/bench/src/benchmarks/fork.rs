//! `fork`: making a process that ends at once, and waiting for its end.
//!
//! A fork copies the address space. The kernel enters each mapping of the copy into a list of the
//! file that it maps. All tasks map the program and the C library, so they share these lists.
//! Threads wait for the C library before that: it holds the locks of its allocator and its streams
//! during a fork, so only one thread of a process forks at a time.

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
            // SAFETY: the child only ends, by a call that is async-signal-safe.
            let child = check("fork", unsafe { libc::fork() })?;
            if child == 0 {
                // SAFETY: the call ends the process without running any of its exit handlers.
                unsafe { libc::_exit(0) };
            }
            wait_for(child)?;
        }
        Ok(())
    }
}

/// Waits until the child process has ended.
pub(super) fn wait_for(child: libc::pid_t) -> Result<(), Refusal> {
    // SAFETY: the pointer to the status is null, so nothing is written.
    check("waitpid", unsafe { libc::waitpid(child, core::ptr::null_mut(), 0) }).map(drop)
}
