//! Each rival on eight simulated cores: it ends, and twice at the same time.

use kilocore_ldu::Scheme;
use kilocore_platform::Cycles;
use kilocore_rivals::conformance::{Job, Plan, together};
use kilocore_sim::{Options, Sim, Simulation};

const CORES: usize = 8;

fn simulate(jobs: Vec<Job>) -> Cycles {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let options = Options { cores: CORES as u32, seed: 1 };
    let mut simulation = Simulation::new(&machine, options).unwrap();
    for job in jobs {
        simulation.spawn(job).unwrap();
    }
    simulation.run().unwrap().end
}

fn end<S: Scheme<Sim>>() -> Cycles {
    let plan = Plan { threads: CORES, objects: 6, operations: 300, seed: 7, place: |_| () };
    let mut end = Cycles(0);
    together::<Sim, S>(plan, |jobs| end = simulate(jobs));
    end
}

for_every_scheme! { Sim, S => {
    let first = end::<S>();
    assert!(first > Cycles(10_000), "{first:?}: eight cores and nothing to wait for");
    assert_eq!(first, end::<S>());
} }
