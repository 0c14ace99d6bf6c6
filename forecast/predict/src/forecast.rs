//! A forecast: curves of throughput against cores, one for each lock, and what they mean.

use kilocore_machine::Description;
use serde::Serialize;

use crate::{Coverage, Evidence, GainError, Point, Verdict};

/// How a curve ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// Still rising at the largest number of cores.
    Scales,
    /// Close to its peak at the largest number of cores, but not rising any more.
    Flattens,
    /// Well below its peak at the largest number of cores.
    Collapses,
}

impl Shape {
    /// How a curve ends that goes through these numbers of cores, ascending, and throughputs.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn of(points: &[(u32, f64)]) -> Self {
        let points: Vec<(f64, f64)> =
            points.iter().map(|&(cores, rate)| (cores.into(), rate)).collect();
        Self::against(&points)
    }

    /// The same, where a number of cores is worth what it computes: two hardware threads of a core
    /// are not two cores, and who has both of them scales all the same.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn against(points: &[(f64, f64)]) -> Self {
        let &(most, end) = points.last().expect("a curve has points");
        let peak = points.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
        if end < COLLAPSED * peak {
            return Shape::Collapses;
        }
        let before = points.iter().rfind(|(cores, _)| *cores <= most * LAST_STRETCH);
        let rising = before
            .is_none_or(|&(cores, rate)| end / rate - 1.0 >= STILL_RISING * (most / cores - 1.0));
        if rising { Shape::Scales } else { Shape::Flattens }
    }

    /// In a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Shape::Scales => "scales",
            Shape::Flattens => "flattens",
            Shape::Collapses => "collapses",
        }
    }
}

/// One simulated number of cores, with its band.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForecastPoint {
    /// The simulation of the workload as profiled.
    #[serde(flatten)]
    pub point: Point,
    /// The lower end of the band in which a measurement is expected nineteen times in twenty, in
    /// sections per second: what the profile leaves open, and how far the model errs.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Throughput against cores under one lock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Curve {
    /// The lock.
    pub lock: &'static str,
    /// What the curve does.
    pub shape: Shape,
    /// Cores at the highest throughput.
    pub peak_cores: u32,
    /// The highest throughput, in sections per second.
    pub peak_per_s: f64,
    /// The first number of cores beyond the peak at which a tenth of it is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collapse_cores: Option<u32>,
    /// Throughput at the largest number of cores, as a share of the peak.
    pub end_share: f64,
    /// The points, by ascending number of cores.
    pub points: Vec<ForecastPoint>,
}

/// The share of the peak below which a curve counts as collapsed at its end.
const COLLAPSED: f64 = 0.8;
/// The share of the peak below which the collapse is said to begin.
const COLLAPSE_BEGINS: f64 = 0.9;
/// The part of the increase in cores over the last stretch that throughput must follow to count as
/// scaling.
const STILL_RISING: f64 = 0.4;
/// Where the last stretch begins, as a share of the largest number of cores.
const LAST_STRETCH: f64 = 0.8;

impl Curve {
    /// The curve through the given points, which are sorted by cores and not empty, where each core
    /// is worth as much as the first.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn new(lock: &'static str, points: Vec<ForecastPoint>) -> Self {
        Self::against(lock, points, f64::from)
    }

    /// The curve through points on a machine, sorted by cores and not empty.
    ///
    /// # Panics
    /// If there are no points.
    #[must_use]
    pub fn on(machine: &Description, lock: &'static str, points: Vec<ForecastPoint>) -> Self {
        Self::against(lock, points, |cores| machine.computing(cores))
    }

    fn against(lock: &'static str, points: Vec<ForecastPoint>, worth: impl Fn(u32) -> f64) -> Self {
        let rate = |p: &ForecastPoint| p.point.throughput_per_s;
        let peak = points
            .iter()
            .max_by(|a, b| rate(a).total_cmp(&rate(b)))
            .expect("a curve has points")
            .clone();
        let (peak_cores, peak_per_s) = (peak.point.cores, rate(&peak));
        let last = points.last().expect("a curve has points");
        let end_share = rate(last) / peak_per_s;
        let collapse_cores = points
            .iter()
            .find(|p| p.point.cores > peak_cores && rate(p) < COLLAPSE_BEGINS * peak_per_s)
            .map(|p| p.point.cores);
        let through: Vec<_> = points.iter().map(|p| (worth(p.point.cores), rate(p))).collect();
        let shape = Shape::against(&through);
        Self { lock, shape, peak_cores, peak_per_s, collapse_cores, end_share, points }
    }

    /// The point at the largest number of cores.
    ///
    /// # Panics
    /// Never: a curve has points.
    #[must_use]
    pub fn end(&self) -> &ForecastPoint {
        self.points.last().expect("a curve has points")
    }
}

/// The machine of a forecast.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Its clock in GHz.
    pub clock_ghz: f64,
    /// Its hardware threads.
    pub hardware_threads: u32,
}

/// A lock of the program as the forecast sees it: those created at the same place are one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForecastLock {
    /// Where to look in the source: the innermost caller that does more than make or take a lock,
    /// and through what it does that.
    pub place: String,
    /// Where it is created or first taken, innermost frame first, ready to be shown.
    pub site: Vec<String>,
    /// Where it is acquired: the places with the longest waits first. Empty where the profile does
    /// not tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acquired_at: Vec<AcquiredAt>,
    /// What it is, if `run` does not replace it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<&'static str>,
    /// `mutex`, `read-write` or `spin`.
    pub family: &'static str,
    /// How many there are.
    pub instances: u32,
    /// How many equally used ones would collide as often.
    pub effective_instances: u32,
    /// Exclusive acquisitions in the profile.
    pub acquisitions: u64,
    /// Shared acquisitions in the profile.
    pub shared_acquisitions: u64,
    /// Share of the acquisitions that had to wait, as measured.
    pub contended_share: f64,
    /// Mean hold in nanoseconds of the host, without locks taken inside, in the mode in which the
    /// lock is taken more often.
    pub hold_ns: f64,
    /// Mean exclusive hold in nanoseconds of the host, without locks taken inside.
    pub exclusive_hold_ns: f64,
    /// Mean wait of those that waited, in nanoseconds, as measured.
    pub wait_ns: f64,
    /// Lines of data that move with the lock, and the range that the profile leaves open.
    pub lines: f64,
    /// The lower end of that range.
    pub lines_low: f64,
    /// The upper end of that range.
    pub lines_high: f64,
    /// Whether the lines are assumed because the profile does not tell.
    pub lines_assumed: bool,
    /// Share of the threads' busy time spent under this lock, as measured.
    pub held_share: f64,
}

/// A place at which a lock is acquired.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AcquiredAt {
    /// Where to look in the source, as [`ForecastLock::place`] says it.
    pub place: String,
    /// The whole call stack, innermost frame first.
    pub site: Vec<String>,
    /// Acquisitions there. An estimate.
    pub acquisitions: u64,
    /// How many of them had to wait. An estimate.
    pub contended: u64,
    /// How long they waited, all together, in nanoseconds. An estimate.
    pub wait_ns: f64,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// Whether locks limit the program.
    pub verdict: Verdict,
    /// Whether the curve of the program as it is says how it scales. If not, something that was not
    /// seen, or is not forecast, may keep it from that.
    pub scaling_known: bool,
    /// The verdict in a sentence.
    pub headline: String,
    /// How sure it is, in a few sentences.
    pub confidence: String,
    /// The lock to take; none if no lock matters or helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<&'static str>,
    /// Locks that the forecast does not tell from that one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equals: Vec<&'static str>,
    /// Throughput under it at the largest number of cores, as a multiple of today's.
    pub gain: f64,
    /// How far such gains were from measured ones; none if no lock is recommended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_error: Option<GainError>,
    /// What else there is to say, a sentence or a few each.
    pub text: Vec<String>,
    /// The command that follows the advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// A forecast for a program on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Always `simulated`: where the figures of the curves come from.
    pub provenance: &'static str,
    /// The machine.
    pub machine: Target,
    /// The program and its arguments, as profiled.
    pub command: Vec<String>,
    /// Threads of the profiled run that took locks.
    pub profiled_threads: u64,
    /// Mean computing between sections, in nanoseconds of the host.
    pub think_ns: f64,
    /// Mean sleep between sections, in nanoseconds.
    pub asleep_ns: f64,
    /// The locks that matter, the one under which most time is spent first.
    pub locks: Vec<ForecastLock>,
    /// What had to be assumed, a sentence each.
    pub assumptions: Vec<String>,
    /// The lock that stands for the program as it is.
    pub today: &'static str,
    /// The curves, one for each lock.
    pub curves: Vec<Curve>,
    /// What to do.
    pub recommendation: Recommendation,
    /// How much the profiled run showed; none if the profile has no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// How much of the program was seen.
    pub coverage: Coverage,
    /// Seed of the simulations.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use super::{Curve, ForecastPoint, Shape};
    use crate::Point;

    fn curve(rates: &[(u32, f64)]) -> Curve {
        let points = rates.iter().map(|&(cores, rate)| ForecastPoint {
            point: Point { cores, throughput_per_s: rate, ..Point::empty("test") },
            low: rate,
            high: rate,
        });
        Curve::new("test", points.collect())
    }

    #[test]
    fn a_fall_is_a_collapse_and_has_a_beginning() {
        let fall = curve(&[(1, 1.0), (8, 6.0), (16, 5.8), (32, 4.0), (64, 2.0)]);
        assert_eq!(fall.shape, Shape::Collapses);
        assert_eq!((fall.peak_cores, fall.collapse_cores), (8, Some(32)));
    }

    #[test]
    fn a_plateau_flattens_and_a_rise_scales() {
        assert_eq!(curve(&[(1, 1.0), (8, 6.0), (32, 6.2), (64, 6.3)]).shape, Shape::Flattens);
        assert_eq!(curve(&[(1, 1.0), (8, 6.0), (32, 20.0), (64, 35.0)]).shape, Shape::Scales);
        assert_eq!(curve(&[(1, 1.0)]).shape, Shape::Scales);
    }

    #[test]
    fn hardware_threads_of_a_core_are_not_cores() {
        let machine = kilocore_machine::find("xeon-8375c-2s").unwrap();
        // 64 cores with two threads each.
        let rates = [1, 32, 64, 96, 128].map(|cores| (cores, machine.computing(cores)));
        assert_eq!(curve(&rates).shape, Shape::Flattens);
        let points = curve(&rates).points;
        assert_eq!(Curve::on(&machine, "test", points).shape, Shape::Scales);
        let rates = rates.map(|(cores, rate)| (cores, rate.min(20.0)));
        let points = curve(&rates).points;
        assert_eq!(Curve::on(&machine, "test", points).shape, Shape::Flattens);
    }
}
