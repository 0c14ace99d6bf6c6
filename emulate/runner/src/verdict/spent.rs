//! What a program's time goes to on the most cores.

use kilocore_emulation_orders::{Report, Sharing};
use kilocore_figures::Shape;

use crate::row::shares;
use crate::words::{number_of, part};
use crate::{Point, Variant};

/// A part without threads that is a smaller part of the run than this is not spoken of.
const ALONE: f64 = 0.25;
/// A line that cores wait for in at least this part of all waiting is named.
const MOSTLY: f64 = 0.5;
/// What is at least this part of the chain that bounds the run is named where cores are idle.
const BOUNDING: f64 = 0.25;
/// If less of the cores' time than this is waits for lines and spinning, and less of the chain is hand-overs, threads do not
/// meet often enough for it to matter what an instruction takes.
const MEETING: f64 = 0.05;

/// Which part of a run is before the program's first thread and after its last one, if that is worth a word.
pub(super) fn alone(report: &Report) -> Option<f64> {
    let alone = report.serial_ns() / report.end_ns;
    (report.parallel.is_some() && alone >= ALONE).then_some(alone)
}

/// Whether threads wait for one another, or for lines that others have, on the most cores.
pub(super) fn threads_meet(variant: &Variant) -> bool {
    let Some((cores, runs)) = variant.points.last() else { return false };
    let Point { report, causes, .. } = runs.shown();
    let [_, stalled, spinning, ..] = shares(*cores, report.end_ns, &report.threads);
    let (handing_over, _) = causes.chain.handing_over();
    stalled + spinning >= MEETING || handing_over >= MEETING * causes.chain.end_ns.max(1.0)
}

/// What the cores do for most of the time, if that says more than that the program is alone for so long.
pub(super) fn said(cores: u32, point: &Point, shape: Option<Shape>) -> Option<String> {
    let report = &point.report;
    let [working, stalled, spinning, system, idle] = shares(cores, report.end_ns, &report.threads);
    let does = [
        (working, format!("compute for {} of the time there", part(working))),
        (stalled, waits_for_lines(stalled, point)),
        (spinning, format!("spin for {} of the time there", part(spinning))),
        (system, format!("are in the kernel for {} of the time there", part(system))),
        (
            idle,
            format!("are idle for {} of the time there{}", part(idle), because(cores, idle, point)),
        ),
    ];
    let others = f64::from(cores - 1) / f64::from(cores);
    let is_alone = alone(report).is_some_and(|alone| alone * others >= MOSTLY * idle);
    let most = does.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    // What scales is told in one sentence if nothing is odd about it.
    let is_odd = shape != Some(Shape::Scales) || most.0 > working;
    let is_told = most.0 == idle && is_alone;
    (is_odd && !is_told).then(|| format!("Its {} {}.", number_of(cores, "core"), most.1))
}

fn waits_for_lines(stalled: f64, point: &Point) -> String {
    let all: f64 = point.report.threads.iter().map(|thread| thread.stalled_ns).sum();
    let first = point.causes.lines.first().filter(|line| line.waited_ns >= MOSTLY * all);
    let mostly = first.map_or_else(String::new, |line| {
        let false_sharing = match line.sharing {
            Some(Sharing::False) => ", on which each thread has bytes of its own (false sharing)",
            Some(Sharing::True) | None => "",
        };
        format!(", most of it for one: that of {}{false_sharing}", line.data)
    });
    format!("wait for cache lines for {} of the time there{mostly}", part(stalled))
}

/// Why cores are idle.
fn because(cores: u32, idle: f64, point: &Point) -> String {
    let report = &point.report;
    let threads = report.threads.len();
    // No more threads than that have a core.
    let without = 1.0 - threads as f64 / f64::from(cores);
    if without >= MOSTLY * idle {
        return format!(": it has {} for them", number_of(threads as u32, "thread"));
    }
    let chain = &point.causes.chain;
    let (handing_over, _) = chain.handing_over();
    let waking = handing_over / chain.end_ns.max(f64::MIN_POSITIVE);
    let slowest = chain.functions.first().filter(|of| of.ns() >= BOUNDING * chain.end_ns);
    match slowest {
        _ if waking >= BOUNDING => {
            format!(", and {} of the run is hand-overs from thread to thread", part(waking))
        }
        Some(of) if chain.end_ns > 0.0 => {
            let share = part(of.ns() / chain.end_ns);
            format!(": what bounds the run is {} for {share} of it", of.function)
        }
        _ => ": its threads wait there, or have ended".to_owned(),
    }
}
