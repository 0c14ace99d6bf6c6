//! `getppid`: entering the kernel and returning at once. It is the baseline of all others.

use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Getppid;

const INFO: Info = Info {
    name: "getppid",
    title: "entering the kernel: getppid",
    operation: "a call of getppid",
    source: "the baseline: it shares nothing that is written",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Getppid {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Calls))
    }
}

struct Calls;

impl Task for Calls {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            // SAFETY: the call touches no memory. It cannot fail.
            unsafe { libc::getppid() };
        }
        Ok(())
    }
}
