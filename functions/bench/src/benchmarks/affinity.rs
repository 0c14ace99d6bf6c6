//! `affinity`: checks that tasks are pinned to the processors that they were given. It is
//! for tests.

use crate::cpus::allowed;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Affinity;

const INFO: Info = Info {
    name: "affinity",
    title: "the processors that a task may use",
    operation: "a call of sched_getaffinity, and a look at what it says",
    source: "what measuring relies on",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: true,
};

impl Benchmark for Affinity {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        let mut given = seat.cpus.clone();
        given.sort_unstable();
        Ok(Box::new(Looking { given }))
    }
}

struct Looking {
    /// The processors that the task was given, ascending. Empty if it may use any.
    given: Vec<u32>,
}

impl Task for Looking {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for _ in 0..operations {
            let found = allowed();
            if !self.given.is_empty() && found != self.given {
                return Err(Refusal::System {
                    call: "sched_setaffinity".to_owned(),
                    error: format!("a task may use {found:?} and was given {:?}", self.given),
                });
            }
        }
        Ok(())
    }
}
