//! A forecast: curves of throughput against cores, one for each lock, and what they mean.

use kilocore_figures::{CurvePoint, Judged, LockCurve, Nanoseconds, Provenance};
use kilocore_lock_profile::TriedHere;
use kilocore_machine::Description;
use serde::Serialize;

use crate::forecast_lock::ForecastLock;
use crate::{Coverage, EmulatedThere, Evidence, GainError, MeasuredHere, Point, Verdict, WhatIf};

/// One simulated number of cores, with its band.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ForecastPoint {
    /// The simulation of the workload as profiled.
    #[serde(flatten)]
    pub point: Point,
    /// The lower end of the band, in sections per second. A measurement is expected within the band
    /// nineteen times in twenty. The band covers what the profile leaves open and the error of the
    /// model.
    pub low: f64,
    /// The upper end of the band.
    pub high: f64,
}

impl CurvePoint for ForecastPoint {
    fn cores(&self) -> u32 {
        self.point.cores
    }

    fn throughput(&self) -> f64 {
        self.point.throughput_per_s
    }
}

/// Throughput against cores under one lock, in sections per second.
pub type Curve = LockCurve<ForecastPoint>;

/// Returns the curve through points on a machine. The points are sorted by cores.
///
/// # Panics
/// If there are no points.
#[must_use]
pub fn curve_on(machine: &Description, lock: &'static str, points: Vec<ForecastPoint>) -> Curve {
    Curve::new(lock, points, Judged::ByLastStretch { worth: &|cores| machine.computing(cores) })
}

/// The machine of a forecast.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// Its name, as on the command line.
    pub name: String,
    /// A description of the machine.
    pub title: String,
    /// Its clock in GHz.
    pub clock_ghz: f64,
    /// The number of its hardware threads.
    pub hardware_threads: u32,
}

/// The verdict on a program, and what to do about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recommendation {
    /// Whether locks limit the program.
    pub verdict: Verdict,
    /// Whether the program's own curve says how the program scales. If not, something that was not
    /// seen, or that is not forecast, may limit it further.
    pub scaling_known: bool,
    /// The verdict in a sentence.
    pub headline: String,
    /// How certain the verdict is, in a few sentences.
    pub confidence: String,
    /// The recommended lock, or `None` if no lock matters or helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<&'static str>,
    /// Locks that the forecast cannot tell from the recommended one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equals: Vec<&'static str>,
    /// The throughput under the recommended lock at the largest number of cores, as a multiple of
    /// today's.
    pub gain: f64,
    /// Between what the profile leaves that open, or `None` if no mutex is recommended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_range: Option<[f64; 2]>,
    /// The chance that it is more than 1, going by how far forecast gains were from measured ones, and by how
    /// the lock did for other programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_chance: Option<f64>,
    /// The recommended read-write lock, or `None` if none matters or helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwlock: Option<&'static str>,
    /// The throughput under it at the largest number of cores, as a multiple of that with the
    /// program's own read-write locks beside `lock`. How far such gains are from measured ones is not
    /// known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rwlock_gain: Option<f64>,
    /// How far gains by other mutexes were from measured ones, or `None` if no mutex is recommended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_error: Option<GainError>,
    /// Further advice. Each item is a sentence or a few.
    pub text: Vec<String>,
    /// The command that follows the advice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Recommendation {
    /// The curve that shows what the recommendation gives: that of the read-write lock, which stands
    /// beside the mutex, or else that of the mutex.
    #[must_use]
    pub fn shown(&self) -> Option<&'static str> {
        self.rwlock.or(self.lock)
    }
}

/// A lock that was asked for and has no curve, as the answer does not need it ([`Extent::Needed`](crate::Extent::Needed)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WithoutCurve {
    /// The lock.
    pub lock: &'static str,
    /// The throughput under it on the most cores, as a multiple of that under the lock in whose place it
    /// would be. `None` if it was not simulated, because threads spend too little time on locks for a gain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<f64>,
}

/// A forecast for a program on a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Forecast {
    /// Always `simulated`: where the figures of the curves come from.
    pub provenance: Provenance,
    /// The machine that the program is forecast on.
    pub machine: Target,
    /// The program and its arguments, as profiled.
    pub command: Vec<String>,
    /// Threads of the profiled run that took locks.
    pub profiled_threads: u64,
    /// Mean computing between sections, on the host.
    #[serde(rename = "think_ns")]
    pub think: Nanoseconds<f64>,
    /// Mean sleep between sections.
    #[serde(rename = "asleep_ns")]
    pub asleep: Nanoseconds<f64>,
    /// The locks that matter, the one under which most time is spent first.
    pub locks: Vec<ForecastLock>,
    /// What had to be assumed. Each item is a sentence.
    pub assumptions: Vec<String>,
    /// The lock that stands for the program as it is.
    pub today: &'static str,
    /// The curves, one for each lock. Those of read-write locks come last, if these matter: with each
    /// of them beside the recommended mutex, or beside today's.
    pub curves: Vec<Curve>,
    /// The other locks that were asked for, the best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_curve: Vec<WithoutCurve>,
    /// What changes of the program would bring, the best first, under today's lock. Empty without advice,
    /// and where the program scales.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub what_if: Vec<WhatIf>,
    /// What was measured of the program on the cores that are here, or `None` if nobody asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<MeasuredHere>,
    /// What the recommended locks did on the cores that are here, or `None` if nobody tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried_here: Option<TriedHere>,
    /// What the program did where it was executed on the simulated machine, or `None` if nobody asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulated: Option<EmulatedThere>,
    /// The verdict, and what to do.
    pub recommendation: Recommendation,
    /// How much the profiled run showed, or `None` if the profile has no run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// How much of the program was seen.
    pub coverage: Coverage,
    /// Seed of the simulations.
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use kilocore_figures::{Judged, Shape};

    use super::{Curve, ForecastPoint, curve_on};
    use crate::Point;

    #[test]
    fn hardware_threads_of_a_core_are_not_cores() {
        let machine = kilocore_machine::find("xeon-8375c-2s").unwrap();
        let through = |rates: &[(u32, f64)]| -> Vec<ForecastPoint> {
            let point = |&(cores, rate): &(u32, f64)| ForecastPoint {
                point: Point { cores, throughput_per_s: rate, ..Point::empty("test") },
                low: rate,
                high: rate,
            };
            rates.iter().map(point).collect()
        };
        // 64 cores with two threads each.
        let rates = [1, 32, 64, 96, 128].map(|cores| (cores, machine.computing(cores)));
        let alike = Curve::new("test", through(&rates), Judged::BY_LAST_CORES);
        assert_eq!(alike.shape, Shape::Flattens);
        assert_eq!(curve_on(&machine, "test", through(&rates)).shape, Shape::Scales);
        let rates = rates.map(|(cores, rate)| (cores, rate.min(20.0)));
        assert_eq!(curve_on(&machine, "test", through(&rates)).shape, Shape::Flattens);
    }
}
