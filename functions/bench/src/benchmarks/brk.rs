//! `brk`: growing the heap by a page and shrinking it again.
//!
//! The page is not touched, so only the change of the address space is measured.

use crate::environment::page_bytes;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Brk;

const INFO: Info = Info {
    name: "brk",
    title: "memory: grow and shrink the heap",
    operation: "a brk that grows the heap by a page and one that shrinks it",
    source: "will-it-scale: brk1",
    default: Kind::Processes,
    only: Some("a process has one heap, and its threads would take it from each other"),
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Brk {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Growing { page: page_bytes() }))
    }
}

struct Growing {
    page: usize,
}

/// Sets the end of the heap and returns where the end is then. An `end` of zero changes nothing.
#[inline]
fn brk(end: usize) -> usize {
    // SAFETY: the callers pass addresses at or above the end of what the allocator uses, and shrink
    // the heap by no more than they grew it. Nothing allocates in between.
    unsafe { libc::syscall(libc::SYS_brk, end) as usize }
}

impl Task for Growing {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let end = brk(0);
        let grown = end + self.page;
        for _ in 0..operations {
            if brk(grown) != grown {
                return Err(Refusal::of("brk", &std::io::Error::from_raw_os_error(libc::ENOMEM)));
            }
            brk(end);
        }
        Ok(())
    }
}
