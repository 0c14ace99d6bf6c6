//! The loads with everything in them shorter or longer: how far what confinement gains depends on times that nobody has
//! published. The table has, on all cores, what the spin lock under `lock-aware` has above the best lock under fair scheduling.

use kilocore_command_line::Failure;
use kilocore_lab::sched::locks::{Job, KernelLock, LOADS, Load, RunLength, Section, sweep};
use kilocore_platform::Nanos;
use kilocore_points::PointSource;
use kilocore_sched_policy::{LockAwareOptions, PolicyName};
use kilocore_show::{Table, number};

use super::Named;

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

/// A load at one length under one lock and policy.
struct Varied {
    load: &'static str,
    quarters: u64,
    policy: PolicyName,
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

pub(super) fn varied(source: &PointSource) -> Result<Named, Failure> {
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
    let (quarters, jobs): (Vec<u64>, Vec<Job>) = jobs.into_iter().unzip();
    let points = sweep(source, &jobs, &machine, &|| {})?;
    let varied =
        quarters.into_iter().zip(&jobs).zip(&points).map(|((quarters, job), point)| Varied {
            load: job.load.name,
            quarters,
            policy: job.policy,
            throughput: point.throughput,
            k: point.k,
        });
    let varied: Vec<Varied> = varied.collect();
    Ok(("lengths", table(&varied)))
}

/// A row for each load, a column for each length.
fn table(varied: &[Varied]) -> Table {
    let cell = |load: &Load, quarters: u64| {
        let of = |policy| {
            let own = move |v: &&Varied| {
                v.load == load.name && v.quarters == quarters && v.policy == policy
            };
            varied.iter().filter(own)
        };
        let fair = of(PolicyName::Fair).map(|fair| fair.throughput).fold(f64::NAN, f64::max);
        let Some(aware) = of(PolicyName::LockAware).next() else { return number::NONE.to_owned() };
        let k = aware.k.map_or_else(|| "free".to_owned(), |k| k.to_string());
        format!("{} ({k})", number::change(aware.throughput / fair))
    };
    let row = |load: &Load| {
        let cells = LENGTHS.iter().map(|&quarters| cell(load, quarters));
        (load.name.to_owned(), cells.collect())
    };
    Table {
        front: "load",
        headings: ["0.25 times", "0.5 times", "1 times", "2 times", "4 times"].into(),
        rows: LOADS.iter().filter(|load| load.collapses).map(row).collect(),
        ..Table::default()
    }
}
