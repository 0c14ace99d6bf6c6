//! `dup`: duplicating a descriptor and closing the duplicate.
//!
//! Threads share the table of descriptors, while each process has its own. A descriptor points to a
//! file, and the kernel counts the references to the file. Here each task duplicates the descriptor
//! of a file of its own, so tasks do not share that count.

use std::fs::File;
use std::os::fd::AsRawFd;

use crate::sys::{self, check};
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Dup;

const INFO: Info = Info {
    name: "dup",
    title: "descriptors: dup and close",
    operation: "a dup of a file of the task's own, and a close",
    source: "Cui, Chen, Shi 2012: dupbench",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Dup {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Duplicating { file: sys::memory_file(0)? }))
    }
}

struct Duplicating {
    file: File,
}

impl Task for Duplicating {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let fd = self.file.as_raw_fd();
        for _ in 0..operations {
            // SAFETY: the call touches no memory.
            let duplicate = check("dup", unsafe { libc::dup(fd) })?;
            // SAFETY: the descriptor was just made and belongs to nobody else.
            check("close", unsafe { libc::close(duplicate) })?;
        }
        Ok(())
    }
}
