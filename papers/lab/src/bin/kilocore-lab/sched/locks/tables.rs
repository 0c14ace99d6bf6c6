//! The results for people: speed-ups by cores, and what goes on with all of them.

use kilocore_lab::sched::locks::{Choice, KernelLock, Load, Point};
use kilocore_sched_policy::PolicyName;
use kilocore_show::{Table, number};

use super::results::{Results, speedup};

const FAIR: Choice = Choice::Policy(PolicyName::Fair);

/// All tables of the experiment, by loads, then by policies.
pub(super) fn all(results: &Results<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    for load in &results.plan.loads {
        for &choice in &results.plan.choices {
            tables.push(speedups(results, load, choice));
        }
        tables.push(with_all_cores(results, load));
    }
    if results.plan.cores.len() > 1 {
        tables.push(peaks(results));
    }
    tables.push(throughputs(results));
    tables
}

/// A row for each number of cores, a column for each lock.
fn speedups(results: &Results<'_>, load: &Load, choice: Choice) -> Table {
    let locks = &results.plan.locks;
    let curves: Vec<Vec<&Point>> =
        locks.iter().map(|&lock| results.curve(load, lock, choice)).collect();
    let row = |(index, &cores): (usize, &u32)| {
        let cells = curves.iter().map(|curve| number::multiple(speedup(curve[index])));
        (cores.to_string(), cells.collect())
    };
    Table {
        name: format!("{}-{choice}", load.name),
        title: format!("{}: speed-up under {choice}", load.name),
        mark: Some(results.mark()),
        front: "cores",
        headings: locks.iter().map(|lock| lock.name()).collect(),
        rows: results.plan.cores.iter().enumerate().map(row).collect(),
        below: Vec::new(),
    }
}

/// A row for each lock and who schedules, on the largest number of cores.
fn with_all_cores(results: &Results<'_>, load: &Load) -> Table {
    let mut rows = Vec::new();
    for &lock in &results.plan.locks {
        for &choice in &results.plan.choices {
            let curve = results.curve(load, lock, choice);
            let Some(last) = curve.last() else { continue };
            let peak = curve.iter().map(|point| point.throughput).fold(0.0, f64::max);
            rows.push((format!("{lock}, {choice}"), cells(last, peak)));
        }
    }
    let cores = results.plan.cores.last().copied().unwrap_or(1);
    Table {
        name: load.name.to_owned(),
        title: format!("{}: {cores} cores", load.name),
        mark: Some(results.mark()),
        front: "lock, policy",
        headings: [
            "operations",
            "of its peak",
            "waiting",
            "power",
            "an operation",
            "fairness",
            "k",
        ].into(),
        rows,
        below: vec![
            "k: cores to which the processes are confined, and after how many windows of contention it was found".to_owned(),
            published(load),
        ],
    }
}

/// Of the first lock: how far up each load goes under who schedules, and what is left on all cores.
fn peaks(results: &Results<'_>) -> Table {
    let (lock, choices) = (results.plan.locks[0], &results.plan.choices);
    let mut rows = Vec::new();
    for load in &results.plan.loads {
        for &choice in choices {
            let curve = results.curve(load, lock, choice);
            let highest = curve.iter().max_by(|a, b| speedup(a).total_cmp(&speedup(b)));
            let (Some(peak), Some(last)) = (highest, curve.last()) else { continue };
            let cells = vec![
                format!("{:.1} at {}", speedup(peak), peak.cores),
                format!("{:.1}", speedup(last)),
                number::percent(speedup(last) / speedup(peak)),
            ];
            rows.push((format!("{}, {choice}", load.name), cells));
        }
    }
    Table {
        name: "peaks".to_owned(),
        title: format!("Speed-up under {lock}"),
        mark: Some(results.mark()),
        front: "load, policy",
        headings: ["peak", "on all cores", "of the peak"].into(),
        rows,
        below: Vec::new(),
    }
}

/// On all cores: each load under each lock and who schedules, and the highest above the best that fair
/// scheduling reaches with a lock that Linux had.
fn throughputs(results: &Results<'_>) -> Table {
    let (locks, choices) = (&results.plan.locks, &results.plan.choices);
    let of_linux = |lock: &KernelLock| *lock != KernelLock::Requester;
    let last = |load, lock, choice| results.curve(load, lock, choice).last().copied();
    let mut rows = Vec::new();
    for load in &results.plan.loads {
        let fair = locks
            .iter()
            .copied()
            .filter(of_linux)
            .filter_map(|lock| choices.contains(&FAIR).then(|| last(load, lock, FAIR))?);
        let best = fair.map(|point| point.throughput).fold(f64::NAN, f64::max);
        for &choice in choices {
            let points = || locks.iter().map(|&lock| last(load, lock, choice));
            let in_words = |point: Option<&Point>| {
                let Some(point) = point else { return number::NONE.to_owned() };
                let k = point.k.map_or_else(String::new, |k| format!(" (k {k})"));
                number::per_second(point.throughput) + &k
            };
            let highest = points().flatten().map(|point| point.throughput).fold(f64::NAN, f64::max);
            let cells = points().map(in_words).chain([number::change(highest / best)]);
            rows.push((format!("{}, {choice}", load.name), cells.collect()));
        }
    }
    let cores = results.plan.cores.last().copied().unwrap_or(1);
    Table {
        name: "throughputs".to_owned(),
        title: format!("Operations on {cores} cores"),
        mark: Some(results.mark()),
        front: "load, policy",
        headings: locks.iter().map(|lock| lock.name()).chain(["highest, over fair"]).collect(),
        rows,
        below: vec![
            "highest, over fair: above the best of spin, mutex and adaptive under fair".to_owned(),
        ],
    }
}

fn cells(point: &Point, peak: f64) -> Vec<String> {
    let k = match (point.k, point.found_after) {
        (Some(k), Some(windows)) => format!("{k} after {windows}"),
        (Some(k), None) => k.to_string(),
        (None, _) => "–".to_owned(),
    };
    vec![
        number::per_second(point.throughput),
        number::percent(point.throughput / peak),
        number::percent(point.waiting),
        format!("{:.0} W", point.watts),
        number::joules(point.joules_per_operation),
        format!("{:.3}", point.fairness),
        k,
    ]
}

/// What the thesis shows, which has no figures.
fn published(load: &Load) -> String {
    let shape = if load.collapses { "collapses" } else { "does not collapse" };
    format!("published, shape only: {} {shape} under the spin lock", load.name)
}
