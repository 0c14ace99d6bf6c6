//! What was measured of a program on the cores that are here, and whether the forecast agrees with it.

use kilocore_figures::median;
use kilocore_lock_profile::{
    CpuLimit, ENOUGH_SECTIONS, Profile, Run, Scaling, ScalingPoint, ScalingQuality, UnlikeCores,
    WhyNotTimed,
};
use serde::Serialize;

/// The forecast and what was measured agree if their intervals are no further apart than this factor. The
/// forecast is for another machine, and gives each core a thread of its own.
const APART: f64 = 1.2;
/// All cores together bring nothing if they bring less than this, in all rounds.
const NOTHING: f64 = 1.15;

/// How much more the program did on more cores here, and what the forecast says of that.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredHere {
    /// What a unit of work is called: `run` if each run is one, `section` if each time that a lock was taken is.
    pub unit: String,
    /// What was measured, by number of cores. Empty if nothing was.
    pub points: Vec<ScalingPoint>,
    /// What the points are good for.
    pub quality: ScalingQuality,
    /// Why there are no points, or no more runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNotTimed>,
    /// Whether that was in windows of a program that ran on meanwhile.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub windows: bool,
    /// From how many cores on these are no equals of the first.
    #[serde(skip_serializing_if = "are_equals")]
    pub unlike_cores: UnlikeCores,
    /// The limit that a control group set on the use of the cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<CpuLimit>,
    /// How many threads of the whole system ran or were ready to run during the runs: the median of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Whether the recorder under the program saw that it took locks so often that these could count as its work.
    #[serde(skip)]
    pub took_locks: bool,
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

impl ForecastHere {
    /// Whether its middle is near what was measured: one of the rounds had it, or it is no further than that factor from
    /// their median. Bands that meet further away agree and say little.
    #[must_use]
    pub fn is_near(&self, measured: &ScalingPoint) -> bool {
        let middle = measured.speedup;
        (measured.speedup_low.min(middle / APART)..=measured.speedup_high.max(middle * APART))
            .contains(&self.speedup)
    }
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

fn are_equals(unlike: &UnlikeCores) -> bool {
    *unlike == UnlikeCores::default()
}

/// Whether the recorder under it saw that a program took locks, and so often that these could count as its work. Those
/// that were watched from outside have a precision, and no library would count them.
fn took_locks(run: &Run) -> bool {
    let locks = run.processes.iter().flat_map(|process| &process.locks);
    let counted = locks.filter(|lock| lock.precision.is_none());
    counted.fold(0, |sum: u64, lock| sum.saturating_add(lock.uses())) >= ENOUGH_SECTIONS
}

impl MeasuredHere {
    /// What was measured of a program, if its profile tells.
    pub(crate) fn of(profile: &Profile) -> Option<Self> {
        let scaling = profile.scaling.as_ref()?;
        let unlike = UnlikeCores::of(&profile.host.hardware_threads);
        Some(Self::on(scaling, unlike, profile.runs.first()))
    }

    /// What was measured of a program on such cores, with the run that was recorded.
    fn on(scaling: &Scaling, unlike_cores: UnlikeCores, recorded: Option<&Run>) -> Self {
        let most = scaling.most_cores();
        let in_runs = scaling.runs.iter().filter_map(|run| run.limit.as_ref());
        let in_runs = in_runs.min_by(|a, b| a.cores.total_cmp(&b.cores));
        let in_recorded = recorded.and_then(|run| run.limit.as_ref());
        // A program may have a limit of its own, in which only the recorded run was seen.
        let may_have_been_held_up =
            in_runs.is_none() && in_recorded.is_some_and(|limit| limit.cores < f64::from(most));
        let whole = recorded.filter(|run| run.cpu_time.is_some()).map(|run| run.wall_time);
        let loads = scaling.runs.iter().filter_map(|run| run.interference?.load);
        Self {
            unit: scaling.unit.clone(),
            points: scaling.points(),
            quality: match may_have_been_held_up {
                true => ScalingQuality::HeldUp,
                false => {
                    whole.map_or_else(|| scaling.quality(), |took| scaling.quality_beside(took))
                }
            },
            why_not: scaling.why_not,
            windows: scaling.windows,
            unlike_cores,
            limit: in_runs.or(in_recorded).cloned(),
            load: median(loads),
            took_locks: recorded.is_some_and(took_locks),
            forecast: None,
        }
    }

    /// Holds the forecast against it: how many times as much as on one core the program does on all that
    /// are here, with the ends of the band.
    pub(crate) fn compare(&mut self, speedup: f64, (low, high): (f64, f64), one_core_spins: bool) {
        let Some(measured) = self.comparable() else { return };
        let is_enough = high * APART >= measured.speedup_low || one_core_spins;
        let agrees = low <= APART * measured.speedup_high && is_enough;
        self.forecast = Some(ForecastHere { speedup, low, high, agrees, one_core_spins });
    }

    /// The points up to which there was as much to do as the cores could.
    fn filled(&self) -> &[ScalingPoint] {
        let count = self.points.iter().take_while(|point| point.filled).count();
        &self.points[..count]
    }

    /// The point of the most cores, if it is good for a conclusion.
    pub(crate) fn known(&self) -> Option<ScalingPoint> {
        let last = self.filled().last().copied()?;
        (self.quality == ScalingQuality::Good && last.cores > 1).then_some(last)
    }

    /// The point that a forecast can be held against, which knows of no cores that are slower, nor of some that
    /// share a core: that of the most cores which are alike.
    #[must_use]
    pub fn comparable(&self) -> Option<ScalingPoint> {
        self.known()?;
        let alike =
            |point: &&ScalingPoint| point.cores > 1 && self.unlike_cores.are_alike(point.cores);
        self.filled().iter().rfind(alike).copied()
    }

    /// What the measurement says by itself, if it is good for a conclusion.
    pub(crate) fn shown(&self) -> Option<Shown> {
        /// A program that keeps more cores busy than this uses more than one.
        const ONE: f64 = 1.25;
        /// A program that keeps hardly more than one core busy, and does less than so many times as much, has no use
        /// for more. A single round on so few may be far off.
        const HARDLY_MORE: (f64, f64) = (1.1, 1.25);
        /// Hardware threads of one core that do less than this, all together, do less than one of them alone.
        const LESS: f64 = 0.9;
        let point = self.known()?;
        let within = |from: Option<u32>| from.is_some_and(|from| from <= point.cores);
        let UnlikeCores { siblings_from, slower_from, .. } = self.unlike_cores;
        // Work that is divided equally is done when the slowest core is. Siblings may bring next to nothing.
        let is_expected = within(slower_from)
            || within(siblings_from) && point.busy_cores >= ONE && point.speedup_high >= LESS;
        let on_one = point.busy_cores < HARDLY_MORE.0 && point.speedup < HARDLY_MORE.1;
        match (point.speedup_high < NOTHING || on_one, point.busy_cores < ONE) {
            (false, _) => Some(Shown::Gains(point)),
            (true, _) if is_expected => None,
            (true, true) => Some(Shown::Unused(point)),
            (true, false) => Some(Shown::BusyForNothing(point)),
        }
    }

    /// Whether the program gains less here than the forecast has it, by the median of the rounds. The fastest round
    /// proves nothing of what holds a program back: where the host has other work, one is often far off.
    pub(crate) fn overshot(&self) -> Option<(ScalingPoint, ForecastHere)> {
        let far = |&(point, forecast): &(ScalingPoint, ForecastHere)| {
            forecast.low > APART * point.speedup
        };
        self.comparable().zip(self.forecast).filter(far)
    }

    /// Whether the forecast's middle is far from what was measured, although its band is not.
    pub(crate) fn is_far(&self) -> Option<(ScalingPoint, ForecastHere)> {
        self.comparable().zip(self.forecast).filter(|(point, forecast)| !forecast.is_near(point))
    }

    /// Whether the forecast says something else.
    pub(crate) fn contradicts(&self) -> Option<(ScalingPoint, ForecastHere)> {
        self.comparable().zip(self.forecast.filter(|forecast| !forecast.agrees))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use kilocore_figures::Nanoseconds;
    use kilocore_lock_profile::{Interference, Lock, Precision, Process, RUN, TimedRun};

    use super::*;

    impl MeasuredHere {
        /// What was measured where all cores are alike.
        pub(crate) fn of_runs(scaling: &Scaling) -> Self {
            Self::on(scaling, UnlikeCores::default(), None)
        }
    }

    /// A program that was timed: three rounds with these times on one core and on two.
    pub(crate) fn scaling(one: f64, two: f64, busy: f64) -> Scaling {
        let run = |round, cores: u32, seconds: f64| TimedRun {
            round,
            cores,
            wall_time: Nanoseconds(seconds * 1e9),
            cpu_time: Nanoseconds(seconds * 1e9 * if cores == 1 { 1.0 } else { busy }),
            work: 1.0,
            interference: Some(Interference::default()),
            limit: None,
            cores_lost: 0,
            waiting: None,
        };
        let runs = (0..3).flat_map(|round| [run(round, 1, one), run(round, 2, two)]).collect();
        Scaling { unit: RUN.to_owned(), runs, ..Scaling::default() }
    }

    #[test]
    fn a_forecast_agrees_if_its_band_is_near_what_was_measured() {
        let agrees_if = |spins, low, high| {
            let mut here = MeasuredHere::of_runs(&scaling(1.0, 0.5, 2.0));
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
    fn a_middle_is_near_by_the_median_and_not_by_what_one_round_leaves_room_for() {
        let mut scaling = scaling(1.0, 1.0 / 1.09, 1.3);
        let twos = scaling.runs.iter_mut().filter(|run| run.cores == 2);
        for (run, seconds) in twos.zip([1.0 / 1.02, 1.0 / 1.09, 1.0 / 1.19]) {
            run.wall_time = Nanoseconds(seconds * 1e9);
        }
        let near = |speedup| {
            let mut here = MeasuredHere::of_runs(&scaling);
            here.compare(speedup, (1.0, 1.6), false);
            here.is_far().is_none()
        };
        assert!(near(1.3) && near(0.95) && !near(1.4) && !near(0.85));
    }

    #[test]
    fn a_round_that_is_far_off_does_not_hide_that_the_forecast_has_more() {
        let mut scaling = scaling(1.0, 0.7, 1.3);
        scaling.runs.last_mut().expect("it was timed").wall_time = Nanoseconds(0.5e9);
        let mut here = MeasuredHere::of_runs(&scaling);
        here.compare(2.0, (1.9, 2.1), false);
        assert!(here.comparable().expect("it was measured").speedup_high > 1.9);
        assert!(here.contradicts().is_none() && here.overshot().is_some());
        here.compare(1.6, (1.5, 1.7), false);
        assert!(here.overshot().is_none());
    }

    #[test]
    fn locks_that_were_only_watched_cannot_be_counted() {
        let run = |precision, acquisitions| {
            let lock = Lock { acquisitions, precision, ..Lock::default() };
            let process = Process { locks: vec![lock], ..Process::default() };
            Run { processes: vec![process], ..Run::default() }
        };
        assert!(took_locks(&run(None, 100)));
        assert!(!took_locks(&run(None, 99)) && !took_locks(&Run::default()));
        assert!(!took_locks(&run(Some(Precision::default()), 100)));
    }

    #[test]
    fn cores_that_bring_nothing_are_unused_or_busy() {
        let shown = |two, busy| MeasuredHere::of_runs(&scaling(1.0, two, busy)).shown();
        assert!(matches!(shown(0.98, 1.05), Some(Shown::Unused(_))));
        assert!(matches!(shown(0.95, 1.9), Some(Shown::BusyForNothing(_))));
        assert!(matches!(shown(0.6, 1.9), Some(Shown::Gains(_))));
        assert_eq!(
            MeasuredHere::of_runs(&scaling(1.0, 0.98, 1.9)).shown(),
            None,
            "a set time, perhaps"
        );
        assert_eq!(
            MeasuredHere::of_runs(&scaling(0.01, 0.01, 1.0)).shown(),
            None,
            "it is over at once"
        );
    }

    #[test]
    fn a_program_that_keeps_one_core_busy_leaves_the_others_unused_whatever_one_round_says() {
        let mut scaling = scaling(1.0, 0.85, 1.02);
        scaling.runs.last_mut().expect("it was timed").wall_time = Nanoseconds(0.8e9);
        assert!(matches!(MeasuredHere::of_runs(&scaling).shown(), Some(Shown::Unused(_))));
        let busier = self::scaling(1.0, 0.85, 1.2);
        assert!(matches!(MeasuredHere::of_runs(&busier).shown(), Some(Shown::Gains(_))));
        let faster = self::scaling(1.0, 0.6, 1.02);
        assert!(matches!(MeasuredHere::of_runs(&faster).shown(), Some(Shown::Gains(_))));
    }

    #[test]
    fn siblings_and_slower_cores_are_no_second_core() {
        let shown =
            |unlike, two, busy| MeasuredHere::on(&scaling(1.0, two, busy), unlike, None).shown();
        let siblings = UnlikeCores { siblings_from: Some(2), ..UnlikeCores::default() };
        assert_eq!(shown(siblings, 0.95, 1.9), None, "that is what two threads of a core do");
        assert!(matches!(shown(siblings, 1.6, 1.9), Some(Shown::BusyForNothing(_))));
        assert!(matches!(shown(siblings, 1.01, 1.0), Some(Shown::Unused(_))));
        assert!(matches!(shown(siblings, 0.7, 1.9), Some(Shown::Gains(_))));
        let slower = UnlikeCores { slower_from: Some(2), ..UnlikeCores::default() };
        for (two, busy) in [(0.95, 1.9), (1.6, 1.9), (1.6, 1.1)] {
            assert_eq!(shown(slower, two, busy), None, "the slower core has half of the work");
        }
        let later = UnlikeCores { siblings_from: Some(3), ..UnlikeCores::default() };
        assert!(matches!(shown(later, 0.95, 1.9), Some(Shown::BusyForNothing(_))));
    }

    #[test]
    fn no_forecast_is_held_against_cores_that_are_not_alike() {
        let here = |siblings_from| {
            let unlike = UnlikeCores { siblings_from, ..UnlikeCores::default() };
            let mut here = MeasuredHere::on(&scaling(1.0, 0.9, 1.9), unlike, None);
            here.compare(1.9, (1.9, 1.9), false);
            here
        };
        assert!(here(None).contradicts().is_some());
        assert_eq!((here(Some(2)).comparable(), here(Some(2)).contradicts()), (None, None));
        assert!(here(Some(3)).comparable().is_some());
    }

    #[test]
    fn a_quota_in_which_only_the_recorded_run_was_seen_counts() {
        let limited = |cores| {
            let limit = Some(CpuLimit { cores, ..CpuLimit::default() });
            let recorded = Run { limit, ..Run::default() };
            MeasuredHere::on(&scaling(1.0, 0.98, 1.05), UnlikeCores::default(), Some(&recorded))
        };
        assert_eq!((limited(1.0).quality, limited(1.0).shown()), (ScalingQuality::HeldUp, None));
        assert!(matches!(limited(2.0).shown(), Some(Shown::Unused(_))));
    }
}
