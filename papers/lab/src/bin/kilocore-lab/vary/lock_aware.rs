//! The lock-aware policy with its constants changed, none of which is published. The table has a row for each set of constants,
//! of the load that does worst beside its best fixed number of cores.

use kilocore_command_line::Failure;
use kilocore_lab::sched::locks::{Choice, Job, KernelLock, LOADS, Plan, Point, RunLength, sweep};
use kilocore_points::PointSource;
use kilocore_sched_policy::{LockAwareOptions, PolicyName, Progress, Share};
use kilocore_show::{Table, number};

use super::Named;

/// The AMD machine of the thesis.
const MACHINE: &str = "opteron-8356-8s";
const CORES: u32 = 32;

/// By how many per cent what the policy sees may be wrong.
const NOISES: [u32; 2] = [0, 20];

/// A load under one set of constants.
struct Varied {
    constants: &'static str,
    noise: u32,
    /// Operations a second over those with the best fixed number of cores: after the search, and from
    /// the beginning.
    throughput: f64,
    throughput_with_search: f64,
    /// By how many cores it is off.
    off_by: u32,
    /// After how many windows cores were found, if there was anything to find.
    found_after: Option<Option<u32>>,
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

pub(super) fn varied(source: &PointSource) -> Result<Named, Failure> {
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
    let best = best.run(source, &machine, &|| {})?;
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
    let (constants, jobs): (Vec<_>, Vec<Job>) = jobs.into_iter().unzip();
    let points = sweep(source, &jobs, &machine, &|| {})?;
    let mut varied = Vec::new();
    for ((constants, job), point) in constants.into_iter().zip(&jobs).zip(&points) {
        varied.push(beside(constants, job, point, &best));
    }
    Ok(("constants", table(&varied)))
}

fn beside(constants: &'static str, job: &Job, point: &Point, best: &[Point]) -> Varied {
    let best = best.iter().find(|best| best.load == point.load).expect("every load has a best k");
    let best_k = best.k.expect("it is confined to k cores");
    Varied {
        constants,
        noise: job.noise,
        throughput: point.throughput / best.throughput,
        throughput_with_search: point.throughput_with_search / best.throughput,
        off_by: point.k.unwrap_or(point.cores).abs_diff(best_k),
        found_after: (best_k < point.cores).then_some(point.found_after),
    }
}

/// A row for each set of constants, by the load that does worst.
fn table(varied: &[Varied]) -> Table {
    let row = |(constants, _): (&'static str, LockAwareOptions)| {
        let cells = NOISES.into_iter().flat_map(|noise| {
            let own = || {
                let is_own = |v: &&Varied| v.constants == constants && v.noise == noise;
                varied.iter().filter(is_own)
            };
            let least =
                |of: fn(&Varied) -> f64| number::change(own().map(of).fold(f64::NAN, f64::min));
            let searches: Option<Vec<u32>> =
                own().filter_map(|varied| varied.found_after).collect();
            let longest = searches.and_then(|windows| windows.into_iter().max());
            [
                least(|varied| varied.throughput),
                least(|varied| varied.throughput_with_search),
                own().map(|varied| varied.off_by).max().unwrap_or(0).to_string(),
                longest.map_or_else(|| "never".to_owned(), |windows| windows.to_string()),
            ]
        });
        (constants.to_owned(), cells.collect())
    };
    Table {
        front: "constants",
        headings: [
            "of the best fixed k",
            "with the search",
            "k off by",
            "windows",
            "noisy: of the best fixed k",
            "noisy: with the search",
            "noisy: k off by",
            "noisy: windows",
        ]
        .into(),
        rows: variants().into_iter().map(row).collect(),
        ..Table::default()
    }
}
