//! Simulates the lock-aware policy with its constants changed, none of which is published.
//!
//! Prints a JSON document on standard output. Each point is one load with one set of constants on all cores,
//! beside the load's best fixed number of cores. `make sched-simulated` makes a table of docs/evidence/sched-locks.md of
//! it.
//!
//! ```text
//! cargo run --release -p kilocore-lab --example vary-lock-aware
//! ```

use std::error::Error;

use kilocore_lab::sched::locks::{
    Choice, Job, KernelLock, LOADS, Plan, Point, RunLength, simulate,
};
use kilocore_sched_policy::{LockAwareOptions, PolicyName, Progress, Share};
use kilocore_sim::in_parallel;
use serde::Serialize;

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

/// The AMD machine of the thesis.
const MACHINE: &str = "opteron-8356-8s";
const CORES: u32 = 32;

/// By how many per cent what the policy sees may be wrong.
const NOISES: [u32; 2] = [0, 20];

#[derive(Serialize)]
struct Varied {
    constants: &'static str,
    noise: u32,
    load: &'static str,
    cores: u32,
    /// Operations a second after the search, and from the beginning.
    throughput: f64,
    throughput_with_search: f64,
    k: Option<u32>,
    found_after: Option<u32>,
    /// With the best fixed number of cores.
    best_throughput: f64,
    best_k: u32,
}

/// The constants, the chosen ones first, and how each differs from them.
fn variants() -> Vec<(&'static str, LockAwareOptions)> {
    let chosen = LockAwareOptions::default();
    let useful = LockAwareOptions { progress: Progress::UsefulCores, ..chosen };
    vec![
        ("as chosen", chosen),
        ("by useful cores", useful),
        ("by useful cores, doubt 0 %", LockAwareOptions { doubt: 0, ..useful }),
        ("by useful cores, doubt 50 %", LockAwareOptions { doubt: 50, ..useful }),
        ("enter at 10 %", LockAwareOptions { enter: Share::percent(10), ..chosen }),
        ("enter at 50 %", LockAwareOptions { enter: Share::percent(50), ..chosen }),
        ("leave at 1 %", LockAwareOptions { leave: Share::percent(1), ..chosen }),
        ("leave at 15 %", LockAwareOptions { leave: Share::percent(15), ..chosen }),
        ("1 vote of 1", LockAwareOptions { votes: 1, windows: 1, ..chosen }),
        ("8 votes of 10", LockAwareOptions { votes: 8, windows: 10, ..chosen }),
        ("settle 0", LockAwareOptions { settle: 0, ..chosen }),
        ("settle 3", LockAwareOptions { settle: 3, ..chosen }),
        ("coarse 1, fine 2", LockAwareOptions { coarse: 1, fine: 2, ..chosen }),
        ("coarse 6, fine 16", LockAwareOptions { coarse: 6, fine: 16, ..chosen }),
        ("gain 0 %", LockAwareOptions { gain: 0, ..chosen }),
        ("gain 10 %", LockAwareOptions { gain: 10, ..chosen }),
        ("trial 2", LockAwareOptions { trial: 2, ..chosen }),
        ("trial 24", LockAwareOptions { trial: 24, ..chosen }),
        ("probe after 4", LockAwareOptions { probe: 4, ..chosen }),
        ("probe after 64", LockAwareOptions { probe: 64, ..chosen }),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let machine = kilocore_machine::find(MACHINE)?;
    let length = RunLength::default();
    let best = Plan {
        loads: LOADS.to_vec(),
        locks: vec![KernelLock::Spin],
        choices: vec![Choice::BestStatic],
        cores: vec![CORES],
        noise: 0,
        length,
    };
    let best = best.run(&machine, &|| {})?;
    let mut jobs = Vec::new();
    for (constants, lock_aware) in variants() {
        for noise in NOISES {
            for load in LOADS {
                let (lock, policy, cores) = (KernelLock::Spin, PolicyName::LockAware, CORES);
                jobs.push((
                    constants,
                    Job { load, lock, policy, lock_aware, cores, noise, length },
                ));
            }
        }
    }
    let points = in_parallel(jobs.len(), &|at| simulate(&jobs[at].1, &machine), &|| {});
    let mut varied = Vec::new();
    for ((constants, job), point) in jobs.iter().zip(points) {
        varied.push(beside(constants, job, &point?, &best)?);
    }
    println!("{}", serde_json::to_string_pretty(&varied)?);
    Ok(())
}

fn beside(
    constants: &'static str,
    job: &Job,
    point: &Point,
    best: &[Point],
) -> Result<Varied, Box<dyn Error>> {
    let best = best.iter().find(|best| best.load == point.load).ok_or("every load has a best k")?;
    Ok(Varied {
        constants,
        noise: job.noise,
        load: point.load,
        cores: point.cores,
        throughput: point.throughput,
        throughput_with_search: point.throughput_with_search,
        k: point.k,
        found_after: point.found_after,
        best_throughput: best.throughput,
        best_k: best.k.ok_or("it is confined to k cores")?,
    })
}
