//! What was simulated, to be looked up.

use kilocore_lab::kernel::{Point, Setting, TreeScheme};
use kilocore_lab::ldu::{self, Level, levels};
use kilocore_machine::Description;
use kilocore_show::{Across, Line, Lines, Mark};

/// The points of a sweep, and of what they are.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    /// The workload that goes on beside, if it is one of the paper's.
    pub(super) beside: Option<&'a ldu::Setting>,
    pub(super) machine: &'a Description,
    pub(super) schemes: &'a [TreeScheme],
    /// The numbers of cores, ascending.
    pub(super) cores: &'a [u32],
    /// By schemes, then by cores.
    pub(super) points: &'a [Point],
}

impl Results<'_> {
    pub(super) fn point(&self, scheme: TreeScheme, cores: u32) -> Option<&Point> {
        let wanted = |point: &&Point| point.scheme == scheme.name() && point.cores == cores;
        self.points.iter().find(wanted)
    }

    pub(super) fn most_cores(&self) -> u32 {
        self.cores.last().copied().unwrap_or(1)
    }

    /// Operations per second; not a number if it was not simulated.
    pub(super) fn rate(&self, scheme: TreeScheme, cores: u32) -> f64 {
        self.point(scheme, cores).map_or(f64::NAN, |point| point.operations_per_s)
    }

    /// What is published of the stock kernel on as many cores as were simulated, in operations.
    pub(super) fn levels(&self) -> Vec<Level> {
        let Some(beside) = self.beside else { return Vec::new() };
        let known =
            levels(beside.workload).into_iter().filter(|level| self.cores.contains(&level.cores));
        let in_operations =
            |level: Level| Level { per_s: level.per_s.map(|units| units * beside.forks), ..level };
        known.map(in_operations).collect()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.setting.seed)
    }

    pub(super) fn chart(&self) -> Lines {
        let line = |&scheme: &TreeScheme| {
            let of_scheme = self.points.iter().filter(|point| point.scheme == scheme.name());
            let place = |point: &Point| (f64::from(point.cores), point.operations_per_s);
            Line::new(scheme.name(), of_scheme.map(place).collect())
        };
        Lines {
            title: format!("{} by cores", self.setting.path.operation),
            mark: self.mark(),
            across: Across::Cores,
            up: "operations per second".to_owned(),
            by: "scheme",
            linear: None,
            small: false,
            lines: self.schemes.iter().map(line).collect(),
        }
    }
}
