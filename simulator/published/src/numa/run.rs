//! One run of a program under one policy.

use std::cell::RefCell;
use std::rc::Rc;

use kilocore_machine::Description;
use kilocore_numa_programs::{Program, Size};
use kilocore_placement::{Account, Driven, Memory, Options, PageSize, Policy};
use kilocore_platform::Cycles;
use kilocore_sim::{Options as Cores, Sim, Simulation};

/// What a run has cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    pub account: Account,
    pub optimum: Option<Cycles>,
    pub end: Cycles,
}

pub fn run(
    program: Program,
    size: Size,
    options: Options,
    page: PageSize,
    policy: Box<dyn Policy>,
    optimum: bool,
) -> Outcome {
    let processors = options.processors();
    let seed = options.seed;
    let mut simulation =
        Simulation::new(&machine(processors), Cores { cores: processors, seed }).expect("cores");
    let run = program.prepare::<Sim>(size, processors as usize, seed).expect("sizes");
    let private: Vec<_> = run.private_memory().into_iter().map(|(_, range)| range).collect();
    let memory = Memory::new(options, policy).expect("options");
    let memory = if optimum { memory.with_optimum() } else { memory };
    let memory = Rc::new(RefCell::new(memory));
    simulation.replace_caches(Box::new(Driven::new(Rc::clone(&memory), page, &private)));
    for index in 0..processors as usize {
        let run = run.clone();
        simulation.spawn(move || run.thread(index)).expect("stack");
    }
    let outcome = simulation.run().expect("no deadlock");
    run.check().expect("right");
    let memory = memory.borrow();
    Outcome { account: *memory.account(), optimum: memory.optimum(), end: outcome.end }
}

fn machine(processors: u32) -> Description {
    let mut machine = kilocore_machine::find("opteron-6344-4s").expect("built in");
    machine.topology.sockets = machine.topology.sockets.max(processors.div_ceil(12));
    machine
}
