//! What was simulated, to be looked up.

use crate::Trace;
use crate::simulated::{Pattern, Point, Policy, Setting};
use kilocore_machine::Description;
use kilocore_show::{Across, Generated, Line, Lines, Mark};

/// What was done with pages.
#[derive(Debug, Clone, Copy)]
pub enum Subject<'a> {
    /// What a trace says.
    Trace {
        /// The trace's file.
        name: &'a str,
        /// The trace.
        trace: &'a Trace,
    },
    /// Cores as fast as they can.
    Pattern(Pattern),
}

/// The points of a sweep, and of what they are.
#[derive(Debug)]
pub struct Results<'a> {
    /// What does not depend on the policy.
    pub setting: &'a Setting,
    /// The simulated machine.
    pub machine: &'a Description,
    /// What was done with pages.
    pub subject: Subject<'a>,
    /// The seed of all chance.
    pub seed: u64,
    /// The policies that were simulated.
    pub policies: &'a [Policy],
    /// The numbers of hardware threads, ascending.
    pub cores: &'a [u32],
    /// By cores, then by policies.
    pub points: &'a [Point],
    /// Who made them, and how.
    pub generated: Generated,
}

impl Results<'_> {
    /// What was done, in words.
    pub(crate) fn what(&self) -> String {
        match self.subject {
            Subject::Trace { name, .. } => name.to_owned(),
            Subject::Pattern(pattern) => format!("the pattern {pattern}"),
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
        self.policies.contains(&Policy::Linux4_18)
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.seed)
    }

    /// Mean latency against cores.
    pub(crate) fn chart(&self) -> Lines {
        let line = |&policy: &Policy| {
            let points = self.cores.iter().filter_map(|&cores| {
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
            lines: self.policies.iter().map(line).collect(),
        }
    }
}
