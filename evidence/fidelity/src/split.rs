//! Which measurements a forecast is given, and which are held back.
//!
//! The rule looks at names and counts alone, never at throughputs.

use kilocore_forecast::fit::{Measurement, Measurements};
use kilocore_locks::LockId;
use serde::Serialize;

use crate::data::{Machine, Program, Series};

/// How much a forecast is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Setting {
    /// Three locks up to half of the machine.
    A,
    /// Three locks up to a quarter of the machine.
    B,
}

impl Setting {
    /// Both settings, the one that is given more first.
    pub const ALL: [Setting; 2] = [Setting::A, Setting::B];

    /// The numbers of nodes that are given on a machine.
    #[must_use]
    pub fn given_nodes(self, machine: Machine) -> &'static [u32] {
        // Nodes of the one machine have as many cores as two of the other.
        match (self, machine.cores_per_node < 12) {
            (Setting::A, true) => &[1, 2, 4],
            (Setting::A, false) | (Setting::B, true) => &[1, 2],
            (Setting::B, false) => &[1],
        }
    }

    /// Its letter, by which tables and options name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Setting::A => "A",
            Setting::B => "B",
        }
    }
}

/// Locks to give, in order of preference. The first three that a program was measured under are
/// given: the first three of this list, except for programs that cannot run under spinning locks.
pub const PREFERENCE: [&str; 6] =
    ["pthread", "ticket", "mcs_spin", "mcs_stp", "malth_stp", "pthreadadapt"];

/// How many locks are given.
pub const GIVEN_LOCKS: usize = 3;

/// A split of a program's measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct Split<'a> {
    /// How much is given.
    pub setting: Setting,
    /// The machine of the measurements.
    pub machine: Machine,
    /// The program that was measured.
    pub program: &'a Program,
    /// The locks that are given, in order of preference.
    pub given: Vec<&'a Series>,
}

impl<'a> Split<'a> {
    /// Splits the measurements of a program.
    #[must_use]
    pub fn new(setting: Setting, machine: Machine, program: &'a Program) -> Self {
        let known = PREFERENCE.iter().filter_map(|alias| program.series(alias));
        let known = known.filter(|series| series.lock.is_some());
        Self { setting, machine, program, given: known.take(GIVEN_LOCKS).collect() }
    }

    /// Whether the forecast is given any point of this lock.
    #[must_use]
    pub fn gives_lock(&self, alias: &str) -> bool {
        self.given.iter().any(|series| series.alias == alias)
    }

    /// Whether the forecast is given this point.
    #[must_use]
    pub fn gives(&self, alias: &str, nodes: u32) -> bool {
        self.gives_lock(alias) && self.setting.given_nodes(self.machine).contains(&nodes)
    }

    /// The largest number of nodes of the given points.
    #[must_use]
    pub fn last_given_nodes(&self) -> u32 {
        let all = self.setting.given_nodes(self.machine);
        all.iter().copied().max().unwrap_or(0)
    }

    /// What the forecast is given.
    #[must_use]
    pub fn measurements(&self) -> Measurements {
        let mut points = Vec::new();
        for series in &self.given {
            let Some(lock) = series.lock else { continue };
            for point in series.points.iter().filter(|p| self.gives(&series.alias, p.nodes)) {
                points.push(Measurement {
                    lock,
                    alias: Some(series.alias.clone()).filter(|alias| alias != lock.name()),
                    cores: point.nodes * self.machine.cores_per_node,
                    throughput: point.throughput,
                });
            }
        }
        points.sort_by(|a, b| (a.lock, &a.alias, a.cores).cmp(&(b.lock, &b.alias, b.cores)));
        Measurements { points, left_out: Vec::new() }
    }

    /// All locks with a counterpart at all counts that they were measured at, given or not, each
    /// once and sorted.
    #[must_use]
    pub fn wanted(&self) -> Vec<(LockId, u32)> {
        let of = |series: &'a Series| {
            let cores = series.points.iter().map(|p| p.nodes * self.machine.cores_per_node);
            series.lock.into_iter().flat_map(move |lock| cores.clone().map(move |c| (lock, c)))
        };
        let mut wanted: Vec<(LockId, u32)> = self.program.series.iter().flat_map(of).collect();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::MACHINES;
    use crate::sample;

    #[test]
    fn settings_give_three_locks_on_few_nodes() {
        let program = sample::program(
            "p",
            &[("pthread", &[1.0; 5]), ("ticket", &[1.0; 5]), ("mcs_spin", &[1.0; 5])],
        );
        let split = Split::new(Setting::A, MACHINES[0], &program);
        assert_eq!(split.measurements().points.len(), 9);
        assert!(split.gives("ticket", 4) && !split.gives("ticket", 6));
        assert!(!split.gives("ttas", 1));
        let split = Split::new(Setting::B, MACHINES[1], &program);
        assert_eq!(split.measurements().points.len(), 3);
        assert!(split.measurements().points.iter().all(|p| p.cores == 12));
    }

    #[test]
    fn programs_without_spinning_locks_give_what_they_have() {
        let series: &[(&str, &[f64])] = &[
            ("malth_stp", &[1.0]),
            ("mcs_stp", &[1.0]),
            ("mutexee", &[1.0]),
            ("pthread", &[1.0]),
            ("pthreadadapt", &[1.0]),
        ];
        let program = sample::program("sql", series);
        let split = Split::new(Setting::A, MACHINES[0], &program);
        let given: Vec<&str> = split.given.iter().map(|s| s.alias.as_str()).collect();
        assert_eq!(given, ["pthread", "mcs_stp", "malth_stp"]);
    }

    #[test]
    fn two_names_of_one_lock_are_wanted_once() {
        let series: &[(&str, &[f64])] = &[("mcs-ls", &[1.0, 2.0]), ("mcs_spin", &[1.0, 2.0])];
        let program = sample::program("p", series);
        let split = Split::new(Setting::A, MACHINES[0], &program);
        assert_eq!(split.wanted(), [(LockId::Mcs, 6), (LockId::Mcs, 12)]);
    }
}
