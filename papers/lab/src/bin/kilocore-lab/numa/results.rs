//! What was simulated, to be looked up.

use kilocore_lab::numa::{Load, Point};
use kilocore_placement::{Rule, Setting};
use kilocore_show::{Across, Line, Lines, Mark};

/// The points of a sweep, and of what they are.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    /// The machine's name, if it is not the paper's.
    pub(super) machine: Option<&'a str>,
    pub(super) loads: &'a [Load],
    pub(super) rules: &'a [Rule],
    /// The initial delays, ascending.
    pub(super) delays: &'a [u32],
    /// By loads, then by policies, then by delays.
    pub(super) points: &'a [Point],
}

impl Results<'_> {
    pub(super) fn machine_name(&self) -> &str {
        self.machine.unwrap_or("bus-1996")
    }

    pub(super) fn machine_title(&self) -> String {
        let machine = self.setting.processors_on_nodes() + ", without caches";
        match self.machine {
            Some(_) => machine,
            None => format!("the bus of Lee and Cho (1996): {machine}"),
        }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(self.machine_name(), self.setting.options.seed)
    }

    /// The point of a policy. Of one that has no delay, it is the same for all delays.
    pub(super) fn point(&self, load: &Load, rule: Rule, delay: u32) -> Option<&Point> {
        let wanted = |point: &&Point| {
            point.program == load.name()
                && point.outcome.policy == rule
                && point.outcome.delay.is_none_or(|its| its == delay)
        };
        self.points.iter().find(wanted)
    }

    pub(super) fn namc(&self, load: &Load, rule: Rule, delay: u32) -> f64 {
        self.point(load, rule, delay).map_or(f64::NAN, |point| point.outcome.namc)
    }

    /// NAMC of a policy for all delays that were simulated.
    pub(super) fn all(&self, load: &Load, rule: Rule) -> Vec<f64> {
        self.delays.iter().map(|&delay| self.namc(load, rule, delay)).collect()
    }

    /// The fixed delay with the least NAMC, and that, if the fixed ones were simulated.
    pub(super) fn best_fixed(&self, load: &Load) -> Option<(u32, f64)> {
        let of = |&delay: &u32| Some((delay, self.point(load, Rule::Fixed, delay)?.outcome.namc));
        self.delays.iter().filter_map(of).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// NAMC against the delay.
    pub(super) fn chart(&self, load: &Load) -> Lines {
        let line = |&rule: &Rule| {
            let points = self.delays.iter().filter_map(|&delay| {
                let point = self.point(load, rule, delay)?;
                Some((f64::from(delay), point.outcome.namc))
            });
            Line { smooth: !rule.has_delay(), ..Line::new(rule.name(), points.collect()) }
        };
        Lines {
            title: format!("{}: cost of a reference", load.name()),
            mark: self.mark(),
            across: Across::Ratios("initial delay"),
            up: "NAMC".to_owned(),
            by: "policy",
            linear: None,
            small: false,
            lines: self.rules.iter().map(line).collect(),
        }
    }
}
