//! How locks did against glibc's mutex, program by program: what `kilocore-forecast` keeps of it, and what is left
//! of it where a program is itself forecast. Programs to which the choice of a lock does not matter say nothing of
//! locks.

use kilocore_figures::{Judged, Shape};
use kilocore_forecast::{PublishedGain, TODAY};
use kilocore_locks::LockId;

use crate::data::{DataSet, Machine, Program};
use crate::summary::Group;

/// The measured gains of sensitive programs under all locks that have a counterpart, on all nodes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PublishedGains {
    cases: Vec<Case>,
}

/// A program on a machine under a lock.
#[derive(Debug, Clone, PartialEq)]
struct Case {
    program: String,
    /// What its throughput does under glibc's mutex.
    today: Shape,
    lock: LockId,
    /// The throughput as a multiple of that under glibc's mutex.
    gain: f64,
}

/// What the throughput of a program does under glibc's mutex, by the points of that series.
pub(crate) fn shape(machine: Machine, points: impl Iterator<Item = (u32, f64)>) -> Shape {
    let points: Vec<(u32, f64)> =
        points.map(|(nodes, rate)| (nodes * machine.cores_per_node, rate)).collect();
    Shape::of(&points, Judged::BY_LAST_CORES)
}

/// The program that several names of the data set stand for, as `memcached-old` and `memcached-new`, and
/// `streamcluster` and `streamcluster_ll`.
fn same_program(name: &str) -> &str {
    let name = name.strip_suffix("_ll").unwrap_or(name);
    name.split_once('-').map_or(name, |(program, _)| program)
}

impl PublishedGains {
    /// All that the measurements say.
    #[must_use]
    pub fn of(sets: &[DataSet]) -> Self {
        let of_set = |set: &DataSet| {
            let of = |program: &Program| cases(set.machine, program);
            let sensitive = set.programs.iter().filter(|p| Group::Sensitive.has_spread(p.spread()));
            sensitive.flat_map(of).collect::<Vec<_>>()
        };
        Self { cases: sets.iter().flat_map(of_set).collect() }
    }

    /// How a lock did for programs other than this one whose throughput does the same under glibc's mutex.
    #[must_use]
    pub fn of_others(&self, program: &str, lock: LockId, today: Shape) -> Option<PublishedGain> {
        let other = |case: &&Case| same_program(&case.program) != same_program(program);
        sum(self.cases.iter().filter(other), lock, today)
    }

    /// The file that `kilocore-forecast` is built with.
    #[must_use]
    pub fn file(&self) -> String {
        let mut rows = Vec::new();
        for &lock in LockId::ALL.iter().filter(|lock| **lock != TODAY) {
            for today in [Shape::Scales, Shape::Flattens, Shape::Collapses] {
                let gain = sum(self.cases.iter(), lock, today);
                rows.extend(gain.map(|gain| (lock.name(), today, gain)));
            }
        }
        PublishedGain::file(&rows)
    }
}

fn sum<'a>(
    cases: impl Iterator<Item = &'a Case>,
    lock: LockId,
    today: Shape,
) -> Option<PublishedGain> {
    let alike = cases.filter(|case| case.lock == lock && case.today == today);
    PublishedGain::of(&alike.map(|case| case.gain).collect::<Vec<_>>())
}

/// The cases of a program; none where it was not measured as it is, or on one node only.
fn cases(machine: Machine, program: &Program) -> Vec<Case> {
    let mut measured = program.measured_as(TODAY);
    let Some((_, as_it_is)) = measured.find(|(lock, _)| *lock == TODAY) else { return Vec::new() };
    let today = shape(machine, as_it_is.points.iter().map(|point| (point.nodes, point.throughput)));
    let Some(last) = as_it_is.points.last().filter(|point| point.nodes > 1) else {
        return Vec::new();
    };
    let others = program.measured_as(TODAY).filter(|(lock, _)| *lock != TODAY);
    let case = |(lock, series): (LockId, &crate::data::Series)| {
        let gain = series.at(last.nodes)?.throughput / last.throughput;
        Some(Case { program: program.name.clone(), today, lock, gain })
    };
    others.filter_map(case).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn measured() -> PublishedGains {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/litl");
        PublishedGains::of(&DataSet::read_all(&folder).unwrap())
    }

    #[test]
    fn the_forecast_is_built_with_what_the_data_say() {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../locks/forecast/data/published-gains.csv");
        let kept = std::fs::read_to_string(kept).unwrap();
        assert_eq!(measured().file(), kept, "`make fidelity-c` writes it anew");
    }

    #[test]
    fn a_program_says_nothing_of_itself() {
        let all = measured();
        let cases = |program: &str| {
            let gain = all.of_others(program, LockId::Mcs, Shape::Collapses);
            gain.map(|gain| gain.cases)
        };
        assert_eq!(cases("memcached-old"), cases("memcached-new"));
        assert_eq!(cases("streamcluster"), cases("streamcluster_ll"));
        assert!(cases("memcached") < cases("no-such-program"));
        // It scales on both machines.
        assert_eq!(cases("rocksdb"), cases("no-such-program"));
    }
}
