//! What was simulated, to be looked up.

use kilocore_lab::ldu::{BreakEven, Level, Point, SchemeId, Setting, break_even, levels};
use kilocore_machine::Description;
use kilocore_show::{Across, Line, Lines, Mark, number};

/// What the stock kernel did in the paper.
pub(super) const PUBLISHED_STOCK: &str = "stock, published";

/// The points of a sweep, and of what they are.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    pub(super) machine: &'a Description,
    pub(super) seed: u64,
    /// Shares that were asked for, ascending.
    pub(super) updates: &'a [f64],
    pub(super) schemes: &'a [SchemeId],
    /// The numbers of cores, ascending.
    pub(super) cores: &'a [u32],
    /// By updates, then by schemes, then by cores.
    pub(super) points: &'a [Point],
}

impl Results<'_> {
    /// The share of updates that was asked for, and the point.
    pub(super) fn each(&self) -> impl Iterator<Item = (f64, &Point)> {
        let of_share = self.points.chunks(self.schemes.len() * self.cores.len());
        let shares = self.updates.iter().zip(of_share);
        shares.flat_map(|(&share, points)| points.iter().map(move |point| (share, point)))
    }

    pub(super) fn point(&self, updates: f64, scheme: SchemeId, cores: u32) -> Option<&Point> {
        let wanted = |&(share, point): &(f64, &Point)| {
            share == updates && point.scheme == scheme.name() && point.cores == cores
        };
        self.each().find(wanted).map(|(_, point)| point)
    }

    pub(super) fn most_cores(&self) -> u32 {
        self.cores.last().copied().unwrap_or(1)
    }

    pub(super) fn most_updates(&self) -> f64 {
        self.updates.last().copied().unwrap_or(100.0)
    }

    /// Throughput over that of the stock kernel at the same share, on the most cores; not a number
    /// if either was not simulated.
    pub(super) fn over_stock(&self, updates: f64, scheme: SchemeId) -> f64 {
        let rate = |scheme| self.rate(updates, scheme, self.most_cores());
        rate(scheme) / rate(SchemeId::Stock)
    }

    /// Throughput in a second; not a number if it was not simulated.
    pub(super) fn rate(&self, updates: f64, scheme: SchemeId, cores: u32) -> f64 {
        self.point(updates, scheme, cores).map_or(f64::NAN, |point| point.throughput_per_s)
    }

    /// The deferred logs that were simulated.
    pub(super) fn logs(&self) -> Vec<SchemeId> {
        use SchemeId::{LduAdaptive, LduCombined, LduGlobal, LduPerCore};
        let is_log = |scheme: &SchemeId| {
            matches!(scheme, LduGlobal | LduPerCore | LduCombined | LduAdaptive)
        };
        self.schemes.iter().copied().filter(is_log).collect()
    }

    /// From which share of updates on each log is ahead of the stock kernel at the same share, on
    /// the most cores. None without several shares and the stock kernel.
    pub(super) fn break_evens(&self) -> Vec<(SchemeId, BreakEven)> {
        if self.updates.len() < 2 || !self.schemes.contains(&SchemeId::Stock) {
            return Vec::new();
        }
        let of = |scheme| {
            let ratio = |&updates: &f64| (updates, self.over_stock(updates, scheme));
            (scheme, break_even(&self.updates.iter().map(ratio).collect::<Vec<_>>()))
        };
        self.logs().into_iter().map(of).collect()
    }

    /// What is known of the stock kernel on as many cores as were simulated.
    pub(super) fn levels(&self) -> Vec<Level> {
        let of_workload = levels(self.setting.workload).into_iter();
        of_workload.filter(|level| self.cores.contains(&level.cores)).collect()
    }

    pub(super) fn mark(&self) -> Mark {
        Mark::simulated(&self.machine.name, self.seed)
    }

    /// Throughput against shares of updates if there are several, else against cores.
    pub(super) fn chart(&self) -> Lines {
        let (workload, unit) = (self.setting.workload, self.setting.workload.unit());
        let by_updates = self.updates.len() > 1;
        let most = self.most_cores();
        let points = |scheme: SchemeId| {
            let of_line = self.each().filter(move |(_, point)| point.scheme == scheme.name());
            let shown = of_line.filter(move |(_, point)| !by_updates || point.cores == most);
            let place = |(share, point): (f64, &Point)| {
                (if by_updates { share } else { point.cores.into() }, point.throughput_per_s)
            };
            shown.map(place).collect()
        };
        let line = |&scheme: &SchemeId| Line::new(scheme.name(), points(scheme));
        let mut lines: Vec<Line> = self.schemes.iter().map(line).collect();
        let known = levels(self.setting.workload).into_iter().filter(|level| level.cores <= most);
        let known: Vec<(f64, f64)> =
            known.filter_map(|level| Some((level.cores.into(), level.per_s?))).collect();
        if !by_updates && self.most_updates() == 100.0 && !known.is_empty() {
            lines.push(Line::new(PUBLISHED_STOCK, known));
        }
        let title = if by_updates {
            format!("{workload} on {most} cores by updates of the reverse mapping")
        } else {
            let share = number::plain(self.most_updates());
            format!("{workload} by cores, {share} % updates of the reverse mapping")
        };
        Lines {
            title,
            mark: self.mark(),
            across: if by_updates { Across::Percent("updates") } else { Across::Cores },
            up: format!("{unit} per second"),
            by: "scheme",
            linear: None,
            small: false,
            lines,
        }
    }
}
