//! Simulates the loads with everything in them shorter or longer: how far what confinement gains depends on
//! times that nobody has published.
//!
//! Prints a JSON document on standard output. Each point is one load at one length on all cores, with its
//! locks under fair scheduling and the spin lock under `lock-aware`. `make sched-simulated` makes a table of
//! docs/evidence/sched-locks.md of it.
//!
//! ```text
//! cargo run --release -p kilocore-lab --example vary-sections
//! ```

use std::error::Error;

use kilocore_lab::sched::locks::{
    Job, KernelLock, LOADS, Load, LocksError, RunLength, Section, simulate,
};
use kilocore_platform::Nanos;
use kilocore_sched_policy::{LockAwareOptions, PolicyName};
use kilocore_sim::in_parallel;
use serde::Serialize;

// As in `kilocore`: simulated memory lies the same way every time.
#[global_allocator]
static HEAP: kilocore_sim::SimHeap = kilocore_sim::SimHeap;

/// The AMD machine of the thesis.
const MACHINE: &str = "opteron-8356-8s";
const CORES: u32 = 32;

/// Lengths beside those of the loads, in quarters.
const LENGTHS: [u64; 5] = [1, 2, 4, 8, 16];

/// What scalability collapses under, and what it is to be compared with.
const CONTENDERS: [(KernelLock, PolicyName); 4] = [
    (KernelLock::Spin, PolicyName::Fair),
    (KernelLock::Mutex, PolicyName::Fair),
    (KernelLock::Adaptive, PolicyName::Fair),
    (KernelLock::Spin, PolicyName::LockAware),
];

#[derive(Serialize)]
struct Varied {
    load: &'static str,
    /// Beside the load's own.
    length: f64,
    lock: &'static str,
    policy: String,
    throughput: f64,
    k: Option<u32>,
}

/// A load in which all computing takes another time. Lines still travel as fast.
fn at_length(load: Load, quarters: u64) -> Load {
    let scaled = |time: Nanos| Nanos(time.0 * quarters / 4);
    let sections: Vec<Section> = load
        .sections
        .iter()
        .map(|section| Section { hold: scaled(section.hold), ..*section })
        .collect();
    let (user, kernel) = (scaled(load.user), scaled(load.kernel));
    Load { user, kernel, sections: sections.leak(), ..load }
}

fn main() -> Result<(), Box<dyn Error>> {
    let machine = kilocore_machine::find(MACHINE)?;
    let lock_aware = LockAwareOptions::default();
    let mut jobs = Vec::new();
    for load in LOADS.into_iter().filter(|load| load.collapses) {
        for quarters in LENGTHS {
            for (lock, policy) in CONTENDERS {
                let load = at_length(load, quarters);
                let (cores, length) = (CORES, RunLength::default());
                let job = Job { load, lock, policy, lock_aware, cores, noise: 0, length };
                jobs.push((quarters, job));
            }
        }
    }
    let points = in_parallel(jobs.len(), &|at| simulate(&jobs[at].1, &machine), &|| {});
    let varied = jobs.iter().zip(points).map(|((quarters, job), point)| {
        let point = point?;
        Ok(Varied {
            load: job.load.name,
            length: *quarters as f64 / 4.0,
            lock: job.lock.name(),
            policy: job.policy.to_string(),
            throughput: point.throughput,
            k: point.k,
        })
    });
    let varied: Vec<Varied> = varied.collect::<Result<_, LocksError>>()?;
    println!("{}", serde_json::to_string_pretty(&varied)?);
    Ok(())
}
