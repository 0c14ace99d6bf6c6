//! What was simulated, to be looked up.

use kilocore_lab::sched::cache::{Contender, Judgements, Mix, Point, Setting};
use kilocore_show::{Across, Line, Lines, Mark};

/// The points of an experiment.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    pub(super) mixes: &'a [Mix],
    pub(super) contenders: &'a [Contender],
    /// By mixes, then by who schedules.
    pub(super) points: &'a [Point],
    /// Which counts tell best how hard a program presses, if cores share caches.
    pub(super) metrics: Option<&'a Judgements>,
}

/// The mix of which nothing is published.
const MADE: &str = "uncorrelated";

impl Results<'_> {
    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(&self.setting.machine.name, self.setting.seed)
    }

    pub(super) fn point(&self, mix: &Mix, contender: Contender) -> Option<&Point> {
        self.points.iter().find(|point| point.mix == mix.name && point.policy == contender)
    }

    /// The mean throughput beside fair sharing over the mixes of the suite's programs, if there are such.
    pub(super) fn mean_gain(&self, contender: Contender) -> Option<f64> {
        let own = |point: &&Point| point.policy == contender && point.mix != MADE;
        let gains: Vec<f64> =
            self.points.iter().filter(own).map(|point| point.beside_fair).collect();
        (!gains.is_empty()).then(|| gains.iter().sum::<f64>() / gains.len() as f64)
    }

    /// Throughput beside fair sharing, mix by mix.
    pub(super) fn chart(&self) -> Lines {
        let line = |&contender: &Contender| {
            let points = self.mixes.iter().enumerate().filter_map(|(at, mix)| {
                let point = self.point(mix, contender)?;
                Some(((at + 1) as f64, point.beside_fair))
            });
            Line::new(contender.name(), points.collect())
        };
        Lines {
            title: "Throughput beside fair sharing".to_owned(),
            mark: self.mark(),
            across: Across::Ratios("number of the mix"),
            up: "times fair sharing".to_owned(),
            by: "policy",
            linear: None,
            small: false,
            lines: self.contenders.iter().map(line).collect(),
        }
    }
}

/// The programs of a mix: `4 CG, 8 EP`.
pub(super) fn counted(mix: &Mix) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for program in &mix.programs {
        match counts.iter_mut().find(|(name, _)| *name == program.name) {
            Some((_, count)) => *count += 1,
            None => counts.push((program.name, 1)),
        }
    }
    let texts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    texts.join(", ")
}
