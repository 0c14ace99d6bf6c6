//! Scores of one program and of groups of programs.

use kilocore_figures::median;
use serde::Serialize;

use crate::run::{Answer, Compared, Curve};
use crate::score::{self, Collapse, Method};
use crate::split::Setting;

/// Programs by how much the choice of a lock matters at all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Group {
    /// All programs, whether the choice of a lock matters to them or not.
    All,
    /// The best lock is more than a tenth faster than the worst.
    Sensitive,
    /// The best lock is more than twice as fast as the worst.
    Strongly,
}

impl Group {
    /// Each holds those of the next.
    pub const ALL: [Group; 3] = [Group::All, Group::Sensitive, Group::Strongly];

    /// Whether an answer is about a program of the group.
    #[must_use]
    pub fn has(self, answer: &Answer) -> bool {
        self.has_spread(answer.spread)
    }

    /// Whether a program belongs to the group under whose best lock it is so many times as fast as under the
    /// worst.
    #[must_use]
    pub fn has_spread(self, spread: f64) -> bool {
        match self {
            Group::All => true,
            Group::Sensitive => spread > 1.1,
            Group::Strongly => spread > 2.0,
        }
    }

    /// What its programs are.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Group::All => "all",
            Group::Sensitive => "sensitive",
            Group::Strongly => "strongly sensitive",
        }
    }
}

/// A part of a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Share {
    /// How many have it.
    pub having: usize,
    /// How many there are, those that have it included.
    pub of: usize,
}

impl Share {
    /// How many of `all` have it.
    pub fn count(all: impl Iterator<Item = bool>) -> Self {
        all.fold(Self::default(), |s, has| Self {
            having: s.having + usize::from(has),
            of: s.of + 1,
        })
    }

    /// As a figure from 0 to 1; none of nothing.
    #[must_use]
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| self.having as f64 / self.of as f64)
    }
}

/// How a method did on some programs in one setting. Figures that need what is not there are none.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Programs, those without a forecast included. One program on two machines counts twice.
    pub programs: usize,
    /// Programs without a forecast.
    pub refused: usize,
    /// Held-back points of the others.
    pub points: usize,
    /// Median relative error over all held-back points.
    pub level: Option<f64>,
    /// Median over programs of their own median errors.
    pub level_by_program: Option<f64>,
    /// The same with each curve divided by its own throughput on one node.
    pub shape: Option<f64>,
    /// Median over programs of their own median errors of shape.
    pub shape_by_program: Option<f64>,
    /// Median of the logarithm of forecast over measured: above zero if forecasts are too high.
    pub bias: Option<f64>,
    /// Programs whose regret is at most a tenth; those without a forecast have more.
    pub low_regret: Share,
    /// The median regret: the share of the best lock's throughput at all nodes that is lost under
    /// the lock that the forecast calls best.
    pub regret: Option<f64>,
    /// Collapses that were forecast within a quarter of their cores, of all that were measured or
    /// forecast.
    pub collapses: Share,
    /// Collapses measured and not forecast.
    pub missed: usize,
    /// Collapses forecast and not measured.
    pub false_alarms: usize,
    /// Held-back points inside their bands.
    pub inside: Share,
    /// Median width of the bands, relative to the forecasts.
    pub width: Option<f64>,
    /// Median distance of the quartiles of the measurements, relative to them.
    pub noise: Option<f64>,
}

/// The regret that is still low.
pub const LOW_REGRET: f64 = 0.1;

impl Summary {
    /// How `method` did on `answers`.
    #[must_use]
    pub fn of(answers: &[&Answer], method: Method) -> Self {
        let curves = || answers.iter().flat_map(|a| &a.curves);
        let level = |curve: &Curve| score::level_errors(curve, method).collect::<Vec<_>>();
        let shape = |curve: &Curve| score::shape_errors(curve, method).collect::<Vec<_>>();
        let pooled = |errors: &dyn Fn(&Curve) -> Vec<f64>| median(curves().flat_map(errors));
        let by_program = |errors: &dyn Fn(&Curve) -> Vec<f64>| {
            let own = |a: &&Answer| median(a.curves.iter().flat_map(errors));
            median(answers.iter().filter_map(own))
        };
        let held: Vec<&Compared> = curves().flat_map(|c| &c.points).filter(|p| p.held).collect();
        let regrets: Vec<f64> = answers
            .iter()
            .map(|a| score::choice(a, method).map_or(1.0, |choice| choice.regret))
            .collect();
        let collapses: Vec<Collapse> = answers
            .iter()
            .flat_map(|a| a.curves.iter().map(|c| (a.last_given_nodes, c)))
            .filter_map(|(last, c)| score::collapse(c, method, last))
            .collect();
        let count = |what: Collapse| collapses.iter().filter(|&&c| c == what).count();
        Self {
            programs: answers.len(),
            refused: answers.iter().filter(|a| a.refused.is_some()).count(),
            points: held.len(),
            level: pooled(&level),
            level_by_program: by_program(&level),
            shape: pooled(&shape),
            shape_by_program: by_program(&shape),
            bias: median(curves().flat_map(|c| score::log_ratios(c, method))),
            low_regret: Share::count(regrets.iter().map(|&r| r <= LOW_REGRET)),
            regret: median(regrets),
            collapses: Share::count(collapses.iter().map(|c| c.hit())),
            missed: count(Collapse::Missed),
            false_alarms: count(Collapse::False),
            inside: Share::count(held.iter().map(|p| score::inside(p))),
            width: median(held.iter().map(|p| score::width(p))),
            noise: median(held.iter().map(|p| score::noise(p))),
        }
    }
}

/// What stands for all machines together.
pub const BOTH: &str = "both";

/// The answers of each setting, machine (and all together) and group, without empty ones.
#[must_use]
pub fn groups(answers: &[Answer]) -> Vec<(Setting, &'static str, Group, Vec<&Answer>)> {
    let mut machines: Vec<&'static str> = Vec::new();
    for answer in answers {
        if !machines.contains(&answer.machine.name) {
            machines.push(answer.machine.name);
        }
    }
    if machines.len() > 1 {
        machines.push(BOTH);
    }
    let mut groups = Vec::new();
    for setting in Setting::ALL {
        for &machine in &machines {
            for group in Group::ALL {
                let of = |a: &&Answer| {
                    a.setting == setting
                        && (machine == BOTH || a.machine.name == machine)
                        && group.has(a)
                };
                let chosen: Vec<&Answer> = answers.iter().filter(of).collect();
                if !chosen.is_empty() {
                    groups.push((setting, machine, group, chosen));
                }
            }
        }
    }
    groups
}

/// How far apart implementations of one algorithm are: the median, over all points of curves whose
/// lock has several names, of how much the fastest exceeds the slowest.
#[must_use]
pub fn twins_apart(answers: &[&Answer]) -> Option<f64> {
    let mut apart = Vec::new();
    for answer in answers {
        let mut points: std::collections::BTreeMap<_, Vec<f64>> = std::collections::BTreeMap::new();
        for curve in &answer.curves {
            for point in &curve.points {
                let throughput = point.observed.throughput;
                points.entry((curve.lock, point.nodes)).or_default().push(throughput);
            }
        }
        for twins in points.values().filter(|twins| twins.len() > 1) {
            let low = twins.iter().copied().fold(f64::INFINITY, f64::min);
            let high = twins.iter().copied().fold(0.0, f64::max);
            apart.push(high / low - 1.0);
        }
    }
    median(apart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::answer;
    use crate::sample::{self, MACHINE, Oracle, Silent};

    fn program() -> crate::data::Program {
        let series: &[(&str, &[f64])] = &[
            ("mcs-ls", &[1.0, 2.0, 4.0, 6.0, 10.0]),
            ("mcs_spin", &[1.0, 2.0, 4.0, 6.0, 8.0]),
            ("pthread", &[1.0, 2.0, 3.0, 4.0, 4.0]),
        ];
        sample::program("p", series)
    }

    #[test]
    fn groups_go_by_the_spread_at_all_nodes() {
        let answer = answer(Setting::A, MACHINE, &program(), &Oracle(1.0), &|_, _| {});
        assert!((answer.spread - 2.5).abs() < 1e-12);
        assert!(Group::ALL.iter().all(|group| group.has(&answer)));
        let even = crate::run::Answer { spread: 1.1, ..answer };
        assert!(Group::All.has(&even) && !Group::Sensitive.has(&even));
    }

    #[test]
    fn an_oracle_is_only_wrong_about_twins() {
        let answer = answer(Setting::A, MACHINE, &program(), &Oracle(1.0), &|_, _| {});
        let summary = Summary::of(&[&answer], Method::Forecast);
        assert_eq!((summary.level, summary.shape), (Some(0.0), Some(0.0)));
        assert_eq!((summary.points, summary.programs, summary.refused), (9, 1, 0));
        // It forecasts one throughput for both names of one lock, so it cannot choose between.
        assert_eq!(summary.low_regret, Share { having: 1, of: 1 });
        assert!(summary.inside.having < summary.inside.of);
        assert_eq!(twins_apart(&[&answer]), Some(0.0));
    }

    #[test]
    fn a_refusal_counts_as_regret() {
        let answer = answer(Setting::A, MACHINE, &program(), &Silent, &|_, _| {});
        let summary = Summary::of(&[&answer], Method::Forecast);
        assert_eq!((summary.refused, summary.level), (1, None));
        assert_eq!(summary.low_regret, Share { having: 0, of: 1 });
    }
}
