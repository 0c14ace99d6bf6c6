//! The tables of two compared profiles.

use kilocore_lock_profile::{Pace, PaceChange, ProfileComparison};
use kilocore_show::{Mark, Provenance, Table, number};

use super::locks::LockChange;
use super::recorded::{LockUse, Per, Recorded};
use super::{ProfileComparisonReport, words};
use crate::measured_words::units;

/// The answer, in sentences.
pub(super) fn answer(report: &ProfileComparisonReport<'_>) -> Table {
    let mut below = words::answer(&report.comparison, report.allowed);
    let [before, after] = [report.before, report.after].map(|profile| &profile.host.kernel);
    if before != after {
        below.push(format!(
            "The kernels differ: Linux {before} before, {after} after. What changed may be theirs."
        ));
    }
    Table { name: "answer".to_owned(), below, ..Table::default() }
}

/// How long the same work takes.
pub(super) fn paces(comparison: &ProfileComparison) -> Option<Table> {
    let row = |pace: &PaceChange| {
        let throughput = |pace: &Pace| {
            let [low, high] = [pace.throughput_low, pace.throughput_high].map(number::per_second);
            let middle = number::per_second(pace.throughput);
            if low == high { middle } else { format!("{middle} ({low}–{high})") }
        };
        let times = format!(
            "{:.2} ({:.2}–{:.2})",
            pace.times_as_long, pace.times_as_long_low, pace.times_as_long_high
        );
        let change = words::change(pace).to_owned();
        (
            pace.cores.to_string(),
            vec![throughput(&pace.before), throughput(&pace.after), times, change],
        )
    };
    let rounds = |of: fn(&PaceChange) -> usize| {
        comparison.paces.iter().map(of).min().unwrap_or(0).to_string()
    };
    let (before, after) = (rounds(|pace| pace.before.rounds), rounds(|pace| pace.after.rounds));
    let table = Table {
        name: "paces".to_owned(),
        title: format!(
            "Throughput, {} per second: {before} rounds before, {after} after",
            units(&comparison.unit)
        ),
        mark: Some(measured()),
        front: "cores",
        headings: ["before", "after", "times as long", "change"].into(),
        rows: comparison.paces.iter().map(row).collect(),
        below: Vec::new(),
    };
    (!table.rows.is_empty()).then_some(table)
}

/// How it scales, and what processor time the same work takes.
pub(super) fn scaling(comparison: &ProfileComparison) -> Option<Table> {
    let row = |pace: &PaceChange| {
        let speedup = |pace: &Pace| {
            let figure = format!("{:.2}", pace.speedup);
            let ends = [pace.speedup_low, pace.speedup_high].map(|end| format!("{end:.2}"));
            if ends[0] == ends[1] {
                figure
            } else {
                format!("{figure} ({}–{})", ends[0], ends[1])
            }
        };
        let processor = |pace: &Pace| number::nanoseconds(pace.cpu_time_per_unit);
        let figures = vec![
            speedup(&pace.before),
            speedup(&pace.after),
            processor(&pace.before),
            processor(&pace.after),
            number::change(pace.after.cpu_time_per_unit / pace.before.cpu_time_per_unit),
        ];
        (pace.cores.to_string(), figures)
    };
    let table = Table {
        name: "scaling".to_owned(),
        title: "Scaling, and processor time of a unit of work".to_owned(),
        mark: Some(measured()),
        front: "cores",
        headings: ["× one core before", "after", "processor time before", "after", "change"].into(),
        rows: comparison.paces.iter().map(row).collect(),
        below: Vec::new(),
    };
    (!table.rows.is_empty()).then_some(table)
}

/// The recorded runs.
pub(super) fn recorded(before: Option<Recorded>, after: Option<Recorded>) -> Option<Table> {
    let (before, after) = before.zip(after)?;
    let row = |what: &str, figure: &dyn Fn(&Recorded) -> f64, shown: fn(f64) -> String| {
        let [first, second] = [figure(&before), figure(&after)];
        let figures = vec![shown(first), shown(second), number::change(second / first)];
        (what.to_owned(), figures)
    };
    let time = number::nanoseconds;
    let mut rows = vec![row("elapsed", &|run| run.wall_ns, time)];
    if before.cpu_ns.is_some() && after.cpu_ns.is_some() {
        rows.push(row("processor time", &|run| run.cpu_ns.unwrap_or(0.0), time));
    }
    rows.extend([
        row("acquisitions of locks", &|run| run.locks.acquisitions, count),
        row("of these had to wait", &|run| run.locks.contended, count),
        row("time under locks", &|run| run.locks.hold_ns, time),
        row("waited for locks", &|run| run.locks.wait_ns, time),
    ]);
    Some(Table {
        name: "recorded".to_owned(),
        title: format!("The recorded runs, on {} and on {} cores", before.cores, after.cores),
        mark: Some(measured()),
        front: "",
        headings: ["before", "after", "change"].into(),
        rows,
        below: Vec::new(),
    })
}

/// The locks that changed most.
pub(super) fn locks(changes: &[LockChange], per: Per, most: usize) -> Option<Table> {
    let row = |change: &LockChange| {
        let both = |figure: &dyn Fn(LockUse) -> String| {
            let [before, after] =
                [change.before, change.after].map(|used| used.map_or("–".to_owned(), figure));
            format!("{before} → {after}")
        };
        let figures = vec![
            both(&|used| count(used.acquisitions)),
            both(&|used| number::percent(used.waited())),
            both(&|used| number::nanoseconds(used.hold_ns)),
            both(&|used| number::nanoseconds(used.wait_ns)),
        ];
        (format!("{} {}", change.family, change.place), figures)
    };
    let unit = match per {
        Per::Run => "run",
        Per::CpuSecond => "second of processor time",
    };
    let more = changes.len().saturating_sub(most);
    let mut below = vec![
        "Each side is one recorded run: how much such figures differ from run to run is not known."
            .to_owned(),
    ];
    if more > 0 {
        below.insert(0, format!("and {} more places", number::count(more as u64)));
    }
    (!changes.is_empty()).then(|| Table {
        name: "locks".to_owned(),
        title: format!("Locks whose times changed most, for each {unit}"),
        mark: Some(measured()),
        front: "lock",
        headings: ["acquired", "waited", "time under it", "time waited"].into(),
        rows: changes.iter().take(most).map(row).collect(),
        below,
    })
}

fn measured() -> Mark {
    Mark::new(Provenance::Measured, "")
}

fn count(value: f64) -> String {
    number::figure(value.round())
}
