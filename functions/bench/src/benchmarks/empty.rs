//! `empty`: does nothing, which shows what measuring itself costs.

use std::hint::black_box;

use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Empty;

const INFO: Info = Info {
    name: "empty",
    title: "nothing",
    operation: "a turn of the loop",
    source: "what measuring itself costs",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: true,
};

impl Benchmark for Empty {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        Ok(Box::new(Turns))
    }
}

struct Turns;

impl Task for Turns {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        for turn in 0..operations {
            black_box(turn);
        }
        Ok(())
    }
}
