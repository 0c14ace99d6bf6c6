//! Why there is no verdict.

use kilocore_emulation_orders::Report;
use serde::Serialize;

use crate::notes::takes_a_set_time;
use crate::{Point, Variant};

/// A program that computes so many times as much on the most cores as on the fewest may do other work there.
const MORE: f64 = 1.5;

/// Why it is not known whether a program scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// A run ended in another way than it should.
    EndedBadly,
    /// The program starts other processes.
    Processes,
    /// It waits for what is not simulated.
    Outside,
    /// It ran on one number of cores only.
    OneCount,
    /// It takes as long on each number of cores, and keeps more of them busy.
    SetTime,
    /// It computes more on more cores, as if each thread had work of its own. If so, it does something else than its times
    /// do.
    MoreWork,
    /// Runs that differ by nothing else give different verdicts.
    Chance,
}

/// All runs of a program.
pub(super) fn points(variant: &Variant) -> impl Iterator<Item = (u32, &Point)> {
    variant
        .points
        .iter()
        .flat_map(|(cores, runs)| runs.all().map(move |(_, point)| (*cores, point)))
}

/// Whether the program makes no threads on any number of cores, of which one is more than 1.
pub(super) fn has_one_thread(variant: &Variant) -> bool {
    let is_asked_for_more = variant.points.iter().any(|(cores, _)| *cores > 1);
    is_asked_for_more && points(variant).all(|(_, point)| point.report.threads.len() < 2)
}

/// Why nothing follows from times, nor from the number of threads.
pub(super) fn times_say_nothing(variant: &Variant) -> Option<Why> {
    if points(variant).any(|(_, point)| point.ended_badly()) {
        return Some(Why::EndedBadly);
    }
    let has_others = points(variant).any(|(_, point)| point.report.counts.processes > 0);
    has_others.then_some(Why::Processes)
}

/// Why times may not be what they seem.
pub(super) fn times_may_say_nothing(variant: &Variant) -> Option<Why> {
    if points(variant).any(|(_, point)| point.report.counts.outside > 0) {
        return Some(Why::Outside);
    }
    if variant.points.len() < 2 {
        return Some(Why::OneCount);
    }
    takes_a_set_time(variant).then_some(Why::SetTime)
}

/// How many times as much as on the fewest cores the program computes on the most, if that is so much more that it may be
/// other work: by instructions, or by what its own threads compute, whatever is before them.
pub(super) fn more_work(variant: &Variant) -> Option<f64> {
    let (first, last) =
        (&variant.fewest()?.shown().report, &variant.points.last()?.1.shown().report);
    let instructions = |report: &Report| report.counts.instructions as f64;
    let whole = instructions(last) / instructions(first);
    let of_threads = variant.points.iter().find_map(|(_, runs)| computed(&runs.shown().report));
    let by_threads = computed(last).zip(of_threads).map(|(last, first)| last / first);
    let more = by_threads.into_iter().chain([whole]).filter(|ratio| ratio.is_finite());
    more.fold(None, |most: Option<f64>, it| Some(most.map_or(it, |most| most.max(it))))
        .filter(|ratio| *ratio >= MORE)
}

/// How long threads compute that the program has made, and the first one if it does as much as each of them: what it does
/// before it makes them is not told apart.
fn computed(report: &Report) -> Option<f64> {
    let made = report.threads.get(1..).filter(|made| !made.is_empty())?;
    let ns: f64 = made.iter().map(|thread| thread.working_ns).sum();
    let threads = report.threads.len() as f64;
    Some(ns * threads / (threads - 1.0)).filter(|ns| *ns > 0.0)
}
