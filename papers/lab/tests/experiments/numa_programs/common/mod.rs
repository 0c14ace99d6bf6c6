//! Running a program.

use std::rc::Rc;
use std::sync::Arc;

use kilocore_lab::numa_programs::{Run, Summary, Workload};
use kilocore_platform::Native;
use kilocore_sim::{Options, Outcome, Sim, Simulation};

/// Runs all threads of a program as threads of this host.
pub(crate) fn run_natively(run: &dyn Run) {
    std::thread::scope(|scope| {
        for index in 0..run.threads() {
            scope.spawn(move || run.thread(index));
        }
    });
}

/// Runs a workload on this host, and checks the result.
pub(crate) fn native(workload: Workload, threads: usize, seed: u64) -> Summary {
    let run = workload.prepare::<Native>(threads, seed).unwrap();
    run_natively(&*run);
    run.check().unwrap_or_else(|wrong| panic!("{workload:?} with {threads} threads: {wrong}"))
}

/// Runs a workload on a simulated machine with a core for each thread, and checks the result.
pub(crate) fn simulated(workload: Workload, threads: usize, seed: u64) -> (Summary, Outcome) {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let options = Options { cores: threads as u32, seed: 1 };
    let mut simulation = Simulation::new(&machine, options).unwrap();
    let run: Rc<Arc<dyn Run>> = Rc::new(workload.prepare::<Sim>(threads, seed).unwrap());
    for index in 0..threads {
        let run = Rc::clone(&run);
        simulation.spawn(move || run.thread(index)).unwrap();
    }
    let outcome = simulation.run().unwrap();
    let summary = run.check();
    (summary.unwrap_or_else(|wrong| panic!("{workload:?} with {threads}: {wrong}")), outcome)
}

/// What a result has in common for all numbers of threads: exact digests, or figures that differ by
/// roundings. `None` where chance differs by thread.
pub(crate) fn same_for_all(summary: Summary) -> Option<(u64, f64)> {
    match summary {
        Summary::Mp3d(_) => None,
        Summary::Barnes(bodies) => Some((bodies.digest, bodies.force_error)),
        Summary::Cholesky(factor) => Some((factor.values as u64, factor.log_determinant)),
        Summary::Radix(keys) => Some((keys.digest, 0.0)),
    }
}

/// Fails unless two results agree in what they should.
pub(crate) fn assert_agree(one: Summary, other: Summary) {
    match (same_for_all(one), same_for_all(other)) {
        (Some((digest, figure)), Some((other_digest, other_figure))) => {
            assert_eq!(digest, other_digest, "{one:?} {other:?}");
            assert!((figure - other_figure).abs() <= 1e-9 * figure.abs(), "{one:?} {other:?}");
        }
        (None, None) => {}
        _ => panic!("two programs"),
    }
}
