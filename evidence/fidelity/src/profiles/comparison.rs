//! A forecast beside a measurement.

use kilocore_figures::{Shape, median};
use kilocore_forecast::{
    Curve, Forecast, ForecastGain, Gain, PublishedGain, TODAY, is_worth_a_change,
};
use kilocore_locks::LockId;

use super::Entry;
use crate::data::{Machine, Program, Series};
use crate::published::{PublishedGains, shape};

/// A lock does well if on all nodes it gives at least this share of what the best one gives.
const WELL: f64 = 0.9;

/// A program on a machine: what was measured there, and what was forecast from a profile.
///
/// All throughputs are divided by that of the program as it is on the smallest number of nodes,
/// measured by measured and forecast by forecast.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The profile and its circumstances.
    pub entry: Entry,
    /// The data set's name for the machine.
    pub machine: &'static str,
    /// The data set's name for the program.
    pub program: String,
    /// Numbers of nodes, ascending.
    pub nodes: Vec<u32>,
    /// What the measured throughput of the program as it is does.
    pub measured_shape: Shape,
    /// What the forecast one does.
    pub forecast_shape: Shape,
    /// Whether the answer to a user says that this is how the program scales, and not that too much
    /// of it was not seen.
    pub commits: bool,
    /// The lock that the forecast says to take: today's, if none is worth a change.
    pub advised: LockId,
    /// Every lock that was measured and has a counterpart, today's first.
    pub locks: Vec<LockComparison>,
}

/// One lock of the data set.
#[derive(Debug, Clone, PartialEq)]
pub struct LockComparison {
    /// The data set's name.
    pub name: String,
    /// Kilocore's counterpart of that lock.
    pub lock: LockId,
    /// Measured throughput, by number of nodes.
    pub measured: Vec<f64>,
    /// Forecast throughput, by number of nodes.
    pub forecast: Vec<f64>,
    /// The lower end of its band, and the upper one.
    pub band: Vec<(f64, f64)>,
    /// How the lock did for other programs whose throughput does what is forecast of this one's.
    pub published: Option<PublishedGain>,
}

/// How a lock compares with the program's own on all nodes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LockGain {
    /// The lock.
    pub lock: LockId,
    /// The gain, measured and forecast.
    pub gain: Gain,
    /// How the lock did for other programs.
    pub published: Option<PublishedGain>,
}

impl LockGain {
    /// The chance of a gain, as the advice states it.
    #[must_use]
    pub fn chance(&self) -> f64 {
        ForecastGain::exactly(self.gain.forecast).chance(self.published)
    }
}

impl LockComparison {
    fn new(lock: LockId, series: &Series, curve: &Curve, nodes: &[u32], per_node: u32) -> Self {
        let points = nodes.iter().map(|node| {
            let at =
                |point: &&kilocore_forecast::ForecastPoint| point.point.cores == node * per_node;
            curve.points.iter().find(at).expect("every number of nodes was asked for")
        });
        let points: Vec<_> = points.collect();
        let measured = nodes.iter().map(|&node| {
            series.at(node).expect("it was measured wherever today's lock was").throughput
        });
        Self {
            name: series.alias.clone(),
            lock,
            measured: measured.collect(),
            forecast: points.iter().map(|p| p.point.throughput_per_s).collect(),
            band: points.iter().map(|p| (p.low, p.high)).collect(),
            published: None,
        }
    }

    fn divided(&mut self, measured: f64, forecast: f64) {
        self.measured.iter_mut().for_each(|rate| *rate /= measured);
        self.forecast.iter_mut().for_each(|rate| *rate /= forecast);
        self.band.iter_mut().for_each(|(low, high)| {
            *low /= forecast;
            *high /= forecast;
        });
    }

    fn measured_end(&self) -> f64 {
        self.measured.last().copied().unwrap_or(0.0)
    }

    fn forecast_end(&self) -> f64 {
        self.forecast.last().copied().unwrap_or(0.0)
    }
}

impl Comparison {
    /// Compares; `None` if the program as it is was not measured. Of the `published` gains those of other
    /// programs count.
    #[must_use]
    pub fn new(
        entry: &Entry,
        machine: Machine,
        program: &Program,
        forecast: &Forecast,
        published: &PublishedGains,
    ) -> Option<Self> {
        let per_node = machine.cores_per_node;
        let nodes: Vec<u32> = program.nodes_under(TODAY).collect();
        let compare = |(lock, series): (LockId, &Series)| {
            let curve = forecast.curves.iter().find(|curve| curve.lock == lock.name())?;
            Some(LockComparison::new(lock, series, curve, &nodes, per_node))
        };
        let mut locks: Vec<_> = program.measured_as(TODAY).filter_map(compare).collect();
        // A counterpart has several names there: the one that its registry lists first is first.
        locks.sort_by_key(|of| {
            let alias = of.lock.info().aliases.iter().position(|alias| *alias == of.name);
            (of.lock != TODAY, of.lock, alias)
        });
        let today = locks.first().filter(|of| of.lock == TODAY)?;
        let (measured, forecast_at_first) = (*today.measured.first()?, *today.forecast.first()?);
        locks.iter_mut().for_each(|lock| lock.divided(measured, forecast_at_first));
        let shape =
            |rates: &[f64]| shape(machine, nodes.iter().copied().zip(rates.iter().copied()));
        let (measured_shape, forecast_shape) =
            (shape(&locks[0].measured), shape(&locks[0].forecast));
        for of in &mut locks {
            of.published = published.of_others(&program.name, of.lock, forecast_shape);
        }
        let advised = advised(&locks);
        Some(Self {
            entry: entry.clone(),
            machine: machine.name,
            program: program.name.clone(),
            measured_shape,
            forecast_shape,
            commits: forecast.recommendation.scaling_known,
            nodes,
            advised,
            locks,
        })
    }

    /// Whether the forecast says of the program as it is what the measurement says.
    #[must_use]
    pub fn verdict_is_right(&self) -> bool {
        self.measured_shape == self.forecast_shape
    }

    /// Every other lock against the program's own, on all nodes: measured and forecast.
    #[must_use]
    pub fn gains(&self) -> Vec<LockGain> {
        let Some((today, others)) = self.locks.split_first() else { return Vec::new() };
        others.iter().map(|of| against(of, today)).collect()
    }

    /// The share of the throughput on all nodes that is lost by taking that lock, whatever the
    /// forecast says, where it was measured.
    #[must_use]
    pub fn regret_of(&self, lock: LockId) -> Option<f64> {
        let best = self.locks.iter().map(LockComparison::measured_end).fold(0.0, f64::max);
        let taken = self.locks.iter().find(|of| of.lock == lock)?;
        Some(1.0 - taken.measured_end() / best)
    }

    /// Locks that do well by measurement.
    #[must_use]
    pub fn measured_well(&self) -> Vec<&LockComparison> {
        well(&self.locks, LockComparison::measured_end)
    }

    /// Locks that do well by forecast.
    #[must_use]
    pub fn forecast_well(&self) -> Vec<&LockComparison> {
        well(&self.locks, LockComparison::forecast_end)
    }

    /// The share of the throughput on all nodes that is lost by taking the lock that the forecast
    /// advises instead of the one that was best by measurement.
    #[must_use]
    pub fn regret(&self) -> f64 {
        let best = self.locks.iter().map(LockComparison::measured_end).fold(0.0, f64::max);
        let taken = self.locks.iter().find(|of| of.lock == self.advised);
        taken.map_or(0.0, |taken| 1.0 - taken.measured_end() / best)
    }

    /// The share that is lost by changing nothing.
    #[must_use]
    pub fn regret_of_no_change(&self) -> f64 {
        let best = self.locks.iter().map(LockComparison::measured_end).fold(0.0, f64::max);
        1.0 - self.locks[0].measured_end() / best
    }

    /// Median relative error of the forecast.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.median_error(|lock, at| lock.forecast[at])
    }

    /// Median relative error of 'all stays as the program as it is does on one node'.
    #[must_use]
    pub fn error_if_it_stays(&self) -> f64 {
        self.median_error(|_, _| 1.0)
    }

    /// Median relative error of 'throughput grows with the nodes'.
    #[must_use]
    pub fn error_if_it_scales(&self) -> f64 {
        self.median_error(|_, at| f64::from(self.nodes[at]) / f64::from(self.nodes[0]))
    }

    /// The median, over all locks and numbers of nodes but the one that all is divided by.
    fn median_error(&self, said: impl Fn(&LockComparison, usize) -> f64) -> f64 {
        let error =
            |(lock, at): (&LockComparison, usize)| (said(lock, at) / lock.measured[at] - 1.0).abs();
        median(self.held_back().map(error)).unwrap_or(0.0)
    }

    /// The share of measured points inside the forecast's band, and the median of its upper by its
    /// lower end.
    #[must_use]
    pub fn band(&self) -> (f64, f64) {
        let inside = |&(lock, at): &(&LockComparison, usize)| {
            let (low, high) = lock.band[at];
            (low..=high).contains(&lock.measured[at])
        };
        let all = self.held_back().count().max(1);
        let width = self.held_back().map(|(lock, at)| lock.band[at].1 / lock.band[at].0);
        (self.held_back().filter(inside).count() as f64 / all as f64, median(width).unwrap_or(0.0))
    }

    fn held_back(&self) -> impl Iterator<Item = (&LockComparison, usize)> {
        let all =
            self.locks.iter().flat_map(|lock| (0..self.nodes.len()).map(move |at| (lock, at)));
        all.skip(1)
    }
}

/// A lock against the program's own.
fn against(of: &LockComparison, today: &LockComparison) -> LockGain {
    let gain = Gain {
        measured: of.measured_end() / today.measured_end(),
        forecast: of.forecast_end() / today.forecast_end(),
    };
    LockGain { lock: of.lock, gain, published: of.published }
}

/// The lock that ends highest by forecast of those whose gain is likely and worth a change, or today's.
fn advised(locks: &[LockComparison]) -> LockId {
    let by_end = |a: &&LockComparison, b: &&LockComparison| {
        a.forecast_end().total_cmp(&b.forecast_end()).then(b.name.cmp(&a.name))
    };
    let recommended = |of: &&LockComparison| {
        let LockGain { gain, published, .. } = against(of, &locks[0]);
        is_worth_a_change(&ForecastGain::exactly(gain.forecast), published)
    };
    locks.iter().filter(recommended).max_by(by_end).map_or(TODAY, |best| best.lock)
}

fn well(locks: &[LockComparison], end: impl Fn(&LockComparison) -> f64) -> Vec<&LockComparison> {
    let best = locks.iter().map(&end).fold(0.0, f64::max);
    locks.iter().filter(|lock| end(lock) >= WELL * best).collect()
}
