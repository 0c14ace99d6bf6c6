//! What was measured of a program on the cores that are here, and whether the forecast agrees with it.

use kilocore_lock_profile::{Scaling, ScalingPoint, ScalingQuality, WhyNotTimed};
use serde::Serialize;

/// The forecast and what was measured agree if their intervals are no further apart than this factor. The
/// forecast is for another machine, and gives each core a thread of its own.
const APART: f64 = 1.2;
/// All cores together bring nothing if they bring less than this, in all rounds.
const NOTHING: f64 = 1.15;

/// How much more the program did on more cores here, and what the forecast says of that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredHere {
    /// What a unit of work is called: `run` if each run is one.
    pub unit: String,
    /// What was measured, by number of cores. Empty if nothing was.
    pub points: Vec<ScalingPoint>,
    /// What the points are good for.
    pub quality: ScalingQuality,
    /// Why there are no points, or no more runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNotTimed>,
    /// The forecast for the same number of cores of the other machine, under today's lock. Absent without
    /// a forecast, and where the points are not good for a comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<ForecastHere>,
}

/// The forecast of how many times as much the program does on all cores that are here.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ForecastHere {
    /// How many times as much as on one core.
    pub speedup: f64,
    /// The lower end of the forecast's band.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether that agrees with what was measured.
    pub agrees: bool,
    /// Whether threads spin for the lock that matters most, and there were more of them than the one core
    /// that all is held against. They keep its holder from that core, so that a program with a thread for
    /// each core would gain less than was measured.
    pub one_core_spins: bool,
}

/// What the measurement says by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Shown {
    /// More cores bring nothing, and the program leaves them unused.
    Unused(ScalingPoint),
    /// More cores bring nothing although it keeps them busy.
    BusyForNothing(ScalingPoint),
    /// More cores bring something.
    Gains(ScalingPoint),
}

impl MeasuredHere {
    /// What was measured of a program.
    pub(crate) fn of(scaling: &Scaling) -> Self {
        Self {
            unit: scaling.unit.clone(),
            points: scaling.points(),
            quality: scaling.quality(),
            why_not: scaling.why_not,
            forecast: None,
        }
    }

    /// Holds the forecast against it: how many times as much as on one core the program does on all that
    /// are here, with the ends of the band.
    pub(crate) fn compare(&mut self, speedup: f64, (low, high): (f64, f64), one_core_spins: bool) {
        let Some(measured) = self.known() else { return };
        let is_enough = high * APART >= measured.speedup_low || one_core_spins;
        let agrees = low <= APART * measured.speedup_high && is_enough;
        self.forecast = Some(ForecastHere { speedup, low, high, agrees, one_core_spins });
    }

    /// The point of the most cores, if it is good for a conclusion.
    pub(crate) fn known(&self) -> Option<ScalingPoint> {
        let last = self.points.last().copied()?;
        (self.quality == ScalingQuality::Good && last.cores > 1).then_some(last)
    }

    /// What the measurement says by itself, if it is good for a conclusion.
    pub(crate) fn shown(&self) -> Option<Shown> {
        /// A program that keeps more cores busy than this uses more than one.
        const ONE: f64 = 1.25;
        let point = self.known()?;
        Some(match (point.speedup_high < NOTHING, point.busy_cores < ONE) {
            (false, _) => Shown::Gains(point),
            (true, true) => Shown::Unused(point),
            (true, false) => Shown::BusyForNothing(point),
        })
    }

    /// Whether the forecast says something else.
    pub(crate) fn contradicts(&self) -> Option<(ScalingPoint, ForecastHere)> {
        self.known().zip(self.forecast.filter(|forecast| !forecast.agrees))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use kilocore_figures::Nanoseconds;
    use kilocore_lock_profile::{Interference, RUN, TimedRun};

    use super::*;

    /// A program that was timed: three rounds with these times on one core and on two.
    pub(crate) fn scaling(one: f64, two: f64, busy: f64) -> Scaling {
        let run = |round, cores: u32, seconds: f64| TimedRun {
            round,
            cores,
            wall_time: Nanoseconds(seconds * 1e9),
            cpu_time: Nanoseconds(seconds * 1e9 * if cores == 1 { 1.0 } else { busy }),
            work: 1.0,
            interference: Some(Interference::default()),
        };
        let runs = (0..3).flat_map(|round| [run(round, 1, one), run(round, 2, two)]).collect();
        Scaling { unit: RUN.to_owned(), runs, ..Scaling::default() }
    }

    #[test]
    fn a_forecast_agrees_if_its_band_is_near_what_was_measured() {
        let agrees_if = |spins, low, high| {
            let mut here = MeasuredHere::of(&scaling(1.0, 0.5, 2.0));
            here.compare(f64::midpoint(low, high), (low, high), spins);
            here.forecast.expect("it was measured").agrees
        };
        let agrees = |low, high| agrees_if(false, low, high);
        assert!(agrees(1.8, 2.2) && agrees(1.0, 1.7) && agrees(2.3, 3.0));
        assert!(!agrees(0.8, 1.1) && !agrees(2.5, 3.0));
        // Threads that spin on one core make the second look better than it is.
        assert!(agrees_if(true, 0.8, 1.1) && !agrees_if(true, 2.5, 3.0));
    }

    #[test]
    fn cores_that_bring_nothing_are_unused_or_busy() {
        let shown = |two, busy| MeasuredHere::of(&scaling(1.0, two, busy)).shown();
        assert!(matches!(shown(0.98, 1.05), Some(Shown::Unused(_))));
        assert!(matches!(shown(0.95, 1.9), Some(Shown::BusyForNothing(_))));
        assert!(matches!(shown(0.6, 1.9), Some(Shown::Gains(_))));
        assert_eq!(MeasuredHere::of(&scaling(1.0, 0.98, 1.9)).shown(), None, "a set time, perhaps");
        assert_eq!(MeasuredHere::of(&scaling(0.01, 0.01, 1.0)).shown(), None, "it is over at once");
    }
}
