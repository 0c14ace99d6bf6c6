//! What was simulated, to be looked up.

use kilocore_machine::Description;
use kilocore_page_trace::Trace;
use kilocore_published::pages::{Pattern, Point, Policy, Setting};
use kilocore_show::{Across, Line, Lines, Mark};

/// What was done with pages.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'a> {
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
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    pub(super) machine: &'a Description,
    pub(super) subject: Subject<'a>,
    pub(super) seed: u64,
    pub(super) policies: &'a [Policy],
    /// Ascending.
    pub(super) cores: &'a [u32],
    /// By cores, then by policies.
    pub(super) points: &'a [Point],
}

impl Results<'_> {
    /// What was done, in words.
    pub(super) fn what(&self) -> String {
        match self.subject {
            Subject::Trace { name, .. } => name.to_owned(),
            Subject::Pattern(pattern) => format!("the pattern {pattern}"),
        }
    }

    pub(super) fn point(&self, policy: Policy, cores: u32) -> Option<&Point> {
        self.points.iter().find(|point| point.policy == policy.name() && point.cores == cores)
    }

    /// A figure of a policy over that of the baseline; not a number if either was not simulated.
    pub(super) fn over_baseline(
        &self,
        policy: Policy,
        cores: u32,
        figure: impl Fn(&Point) -> f64,
    ) -> f64 {
        let of = |policy| self.point(policy, cores).map_or(f64::NAN, &figure);
        of(policy) / of(Policy::Linux4_18)
    }

    pub(super) fn has_baseline(&self) -> bool {
        self.policies.contains(&Policy::Linux4_18)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.seed)
    }

    /// Mean latency against cores.
    pub(super) fn chart(&self) -> Lines {
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
