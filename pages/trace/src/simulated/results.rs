//! What was simulated, to be looked up.

use std::path::Path;

use crate::Trace;
use crate::simulated::run::{Job, Load};
use crate::simulated::sweep::sweep;
use crate::simulated::{PagesError, Pattern, Point, Policy, RunLength, Setting};
use kilocore_machine::Description;
use kilocore_points::PointSource;
use kilocore_show::{Across, Generated, Line, Lines, Mark};

/// What was done with pages.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// What a trace says.
    Trace {
        /// The name of the trace's file.
        name: &'a str,
        /// The trace itself, with all its events.
        trace: &'a Trace,
    },
    /// Cores as fast as they can.
    Pattern(Pattern),
}

/// The points that are to be simulated: each policy on each number of hardware threads.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    /// What does not depend on the policy.
    pub setting: &'a Setting,
    /// The machine file of the simulated machine.
    pub machine: &'a Description,
    /// What is done with pages.
    pub subject: Subject<'a>,
    /// The seed of all chance.
    pub seed: u64,
    /// The policies that are compared.
    pub policies: &'a [Policy],
    /// The numbers of hardware threads, ascending.
    pub cores: &'a [u32],
}

impl<'a> Plan<'a> {
    /// Returns how many points there are.
    #[must_use]
    pub fn points(&self) -> usize {
        self.cores.len() * self.policies.len()
    }

    /// Simulates every policy on every number of hardware threads. `on_done` is called after each point,
    /// from any thread.
    ///
    /// # Errors
    /// [`PagesError`] if the machine does not have so many hardware threads.
    ///
    /// # Panics
    /// If a simulated task panics.
    pub fn run(
        self,
        source: &PointSource,
        generated: Generated,
        on_done: &(dyn Fn() + Sync),
    ) -> Result<Results<'a>, PagesError> {
        let load = match self.subject {
            Subject::Trace { trace, .. } => Load::Trace(trace),
            Subject::Pattern(pattern) => Load::Pattern(pattern),
        };
        let length = RunLength { seed: self.seed, ..RunLength::default() };
        let Self { setting, policies, .. } = self;
        let of_cores = |&cores| {
            policies.iter().map(move |&policy| Job { setting, policy, load, cores, length })
        };
        let jobs: Vec<_> = self.cores.iter().flat_map(of_cores).collect();
        let points = sweep(source, &jobs, self.machine, on_done)?;
        Ok(Results { plan: self, points, generated })
    }
}

/// The points of a plan.
#[derive(Debug)]
pub struct Results<'a> {
    /// The plan whose points these are.
    pub plan: Plan<'a>,
    /// By cores, then by policies.
    pub points: Vec<Point>,
    /// Who made them, and how.
    pub generated: Generated,
}

impl Results<'_> {
    /// What was done, in words.
    pub(crate) fn what(&self) -> String {
        match self.plan.subject {
            Subject::Trace { name, .. } => name.to_owned(),
            Subject::Pattern(pattern) => format!("the pattern {pattern}"),
        }
    }

    /// The trace's name without its folder, or that of the pattern.
    pub(crate) fn load_name(&self) -> String {
        match self.plan.subject {
            Subject::Trace { name, .. } => {
                let stem = Path::new(name).file_stem().unwrap_or_default();
                stem.to_string_lossy().into_owned()
            }
            Subject::Pattern(pattern) => pattern.name().to_owned(),
        }
    }

    pub(crate) fn point(&self, policy: Policy, cores: u32) -> Option<&Point> {
        self.points.iter().find(|point| point.policy == policy.name() && point.cores == cores)
    }

    /// A figure of a policy over that of the baseline; not a number if either was not simulated.
    pub(crate) fn over_baseline(
        &self,
        policy: Policy,
        cores: u32,
        figure: impl Fn(&Point) -> f64,
    ) -> f64 {
        let of = |policy| self.point(policy, cores).map_or(f64::NAN, &figure);
        of(policy) / of(Policy::Linux4_18)
    }

    pub(crate) fn has_baseline(&self) -> bool {
        self.plan.policies.contains(&Policy::Linux4_18)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark::simulated(&self.plan.machine.name, self.plan.seed)
    }

    /// Mean latency against cores.
    pub(crate) fn chart(&self) -> Lines {
        let line = |&policy: &Policy| {
            let points = self.plan.cores.iter().filter_map(|&cores| {
                let point = self.point(policy, cores)?;
                Some((f64::from(cores), point.initialization.mean))
            });
            Line::new(policy.name(), points.collect())
        };
        Lines {
            title: format!("Initializing a page, {}", self.what()),
            mark: self.mark(),
            across: Across::Threads,
            up: "cycles".to_owned(),
            by: "policy",
            linear: None,
            small: false,
            lines: self.plan.policies.iter().map(line).collect(),
        }
    }
}
