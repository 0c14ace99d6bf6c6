//! How much more a program does here on more cores: runs that were timed, without a recorder unless it counts the work.
//!
//! Runs on one core, on two, and so on are made in turn, and such a round is made several times: what
//! happens on a host meanwhile then falls on all numbers of cores alike. A run on many cores is held
//! against the run on one core of the same round.
//!
//! Of a program that runs already, a run is a window in which it was confined to so many cores. There, a run that
//! left cores idle does not show what they can do, unless requests waited all the same.

use std::collections::BTreeMap;
use std::time::Duration;

use kilocore_figures::{Nanoseconds, Spread, median};
use serde::{Deserialize, Serialize};

use crate::{CpuLimit, Pace};

/// A run is disturbed if others took more than this share of the time of its cores.
const DISTURBED: f64 = 0.1;
/// The kernel counts in ticks of at most 10 ms, and by samples: on each core, so much of what others took may
/// be the program's own.
const TICKS: Nanoseconds<f64> = Nanoseconds(20e6);
/// Shorter runs show how a program starts, and no tick counts what happened meanwhile.
pub(crate) const SHORT: Nanoseconds<f64> = Nanoseconds(50e6);
/// Runs whose times differ by less than this share take the same time.
const SAME_TIME: f64 = 0.03;
/// It takes less than so many times as long under a recorder.
const LONGER_RECORDED: f64 = 1.1;
/// A program that runs for a set time has so many times the processor time on all cores, at least.
const MORE_COMPUTING: f64 = 1.3;
/// A window leaves cores idle if it uses less than this share of their time, together with others.
const FILLED: f64 = 0.9;
/// Requests always waited if they did so at this share of the looks.
const ALWAYS: f64 = 0.9;
/// Rounds that were not disturbed, from which on something is concluded.
const ENOUGH: usize = 2;

/// What other programs, and other guests of the same machine, took of the cores that a run was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Interference {
    /// The time that programs of this system had on them, summed over the cores.
    #[serde(rename = "others_ns")]
    pub others: Nanoseconds<f64>,
    /// The time that the hypervisor gave to others while something wanted to run here.
    #[serde(rename = "stolen_ns")]
    pub stolen: Nanoseconds<f64>,
    /// How many threads of the whole system ran or were ready to run, on average: the program's, and those of
    /// others. Absent if the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}

impl Interference {
    /// How many cores that was on average, of a run of this length.
    #[must_use]
    pub fn cores(&self, wall_time: Nanoseconds<f64>) -> f64 {
        (self.others + self.stolen) / wall_time.max(Nanoseconds(1.0))
    }

    /// The share of the cores' time that it certainly was, from 0 to 1.
    #[must_use]
    pub fn share(&self, cores: u32, wall_time: Nanoseconds<f64>) -> f64 {
        let cores = f64::from(cores.max(1));
        let certain = (self.others + self.stolen).0 - TICKS.0 * cores;
        (certain / (wall_time.0.max(1.0) * cores)).clamp(0.0, 1.0)
    }
}

/// A timed run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimedRun {
    /// The round that it belongs to. In a round, each number of cores has one run.
    pub round: u32,
    /// How many cores it was allowed.
    pub cores: u32,
    /// From its start to its end.
    #[serde(rename = "wall_ns")]
    pub wall_time: Nanoseconds<f64>,
    /// The processor time of all its threads and processes.
    #[serde(rename = "cpu_ns")]
    pub cpu_time: Nanoseconds<f64>,
    /// The units of work that it did.
    pub work: f64,
    /// What others took of its cores. Absent if the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<Interference>,
    /// The limit that a control group set on its use of the cores. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<CpuLimit>,
    /// How many of its cores were turned off or taken from it before its end. Absent if none were.
    #[serde(default, skip_serializing_if = "none_lost")]
    pub cores_lost: u32,
    /// In which share of the looks at its TCP sockets something had come that it had not read. Absent unless it is a
    /// window, and if nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
}

/// Whether there is nothing to be told of cores that went.
pub(crate) fn none_lost(cores: &u32) -> bool {
    *cores == 0
}

impl TimedRun {
    /// Units of work in a second.
    #[must_use]
    pub fn throughput(&self) -> f64 {
        self.work / self.wall_time.max(Nanoseconds(1.0)).seconds()
    }

    /// How many cores it kept busy on average.
    #[must_use]
    pub fn busy_cores(&self) -> f64 {
        self.cpu_time / self.wall_time.max(Nanoseconds(1.0))
    }

    /// Whether others took too much of its cores.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let share = |other: &Interference| other.share(self.cores, self.wall_time);
        self.interference.as_ref().map_or(0.0, share) > DISTURBED
    }

    /// Whether a control group held it up for so long that its time says nothing, or may have: nobody counted
    /// that, and it was allowed less than its cores.
    #[must_use]
    pub fn is_held_up(&self) -> bool {
        self.limit.as_ref().is_some_and(|limit| {
            let uncounted = limit.periods == 0 && limit.cores < f64::from(self.cores);
            uncounted || limit.held_up(self.cores, self.wall_time)
        })
    }

    /// Whether there was as much to do as its cores could: they were busy, or requests waited all the same.
    fn is_filled(&self) -> bool {
        let others = self.interference.as_ref();
        let others = others.map_or(0.0, |others| others.cores(self.wall_time));
        let busy = self.busy_cores() + others >= FILLED * f64::from(self.cores);
        busy || self.waiting.is_some_and(|waiting| waiting >= ALWAYS)
    }

    /// Whether it had its cores for itself, all of them, to its end.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        !self.is_disturbed() && !self.is_held_up() && self.cores_lost == 0
    }
}

/// Why a program was not timed on fewer cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyNotTimed {
    /// It may run once only.
    Once,
    /// It ran already, and nobody asked for it to be confined.
    Attached,
    /// It ran already and could not be confined, or not all of it.
    NotConfined,
    /// It ran already, and its threads are confined to different cores.
    OwnCores,
    /// It ran already, and nobody could count what it does.
    Uncounted,
    /// It ran already, and sent nothing.
    Idle,
    /// It had ended, or somebody asked for the end, before all rounds were over.
    Ended,
    /// Only one core is allowed.
    OneCore,
    /// A control group allows it the time of fewer cores.
    Quota,
    /// A round would take longer than all rounds may.
    TooLong,
    /// What counts was not a whole run: it was ended, or counted from a moment on.
    PartOfARun,
    /// A run failed.
    Failed,
    /// Its standard input was no file, so that it had none the second time, and did less.
    Input,
    /// Nothing of what it printed could be counted.
    NoWork,
    /// It took hardly any lock that could be counted.
    FewSections,
    /// A process of it could not count all locks that it took.
    SectionsLost,
}

/// How much more the program does here on more cores, as measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Scaling {
    /// What a unit of work is called: [`RUN`] if each run is one, [`SECTION`] if each time that a lock was taken is.
    pub unit: String,
    /// Whether the command says how many cores, or threads, it runs with, so that the program's threads
    /// follow the cores.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sized: bool,
    /// Whether the runs are windows of a program that ran on meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub windows: bool,
    /// The timed runs. Empty if there were none.
    pub runs: Vec<TimedRun>,
    /// Why there are no runs, or no more of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNotTimed>,
}

/// What was measured on one number of cores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ScalingPoint {
    /// The number of cores.
    pub cores: u32,
    /// Runs that the figures are of.
    pub runs: usize,
    /// Units of work in a second: the median.
    pub throughput: f64,
    /// How many times as much that is as on one core: the median over the rounds.
    pub speedup: f64,
    /// The least of the rounds.
    pub speedup_low: f64,
    /// The most of the rounds.
    pub speedup_high: f64,
    /// Cores that were busy: the median.
    pub busy_cores: f64,
    /// Whether there was as much to do as the cores could in most rounds. Of less than that, nobody knows what they
    /// would have done with more.
    pub filled: bool,
}

/// What the timed runs are good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScalingQuality {
    /// They show how the program scales here.
    Good,
    /// There are too few of them.
    FewRounds,
    /// Others had too much of the cores in most rounds.
    Disturbed,
    /// A control group held the program up in most rounds.
    HeldUp,
    /// Cores were turned off, or taken from the program, in most rounds.
    CoresLost,
    /// There was less to do than one core could, or two.
    Unfilled,
    /// The runs are so short that they show how the program starts.
    Short,
    /// All runs took the same time, and computed more on more cores. The program runs for a set time
    /// whatever it does, or it spins: a run is no unit of work.
    SetTime,
}

impl Scaling {
    /// A program that was not timed.
    #[must_use]
    pub fn untimed(why: WhyNotTimed) -> Self {
        Self { why_not: Some(why), ..Self::default() }
    }

    /// The largest number of cores that was timed.
    #[must_use]
    pub fn most_cores(&self) -> u32 {
        self.runs.iter().map(|run| run.cores).max().unwrap_or(0)
    }

    /// How long a run takes on all cores: the median.
    #[must_use]
    pub fn usual_time(&self) -> Option<Duration> {
        let most = self.most_cores();
        let times = self.runs.iter().filter(|run| run.cores == most);
        let median = median(times.map(|run| run.wall_time.0))?;
        Some(Duration::from_nanos(median.max(0.0) as u64))
    }

    /// The rounds that have all numbers of cores, and whether all of their runs were quiet.
    fn rounds(&self) -> Vec<(bool, BTreeMap<u32, &TimedRun>)> {
        let mut rounds: BTreeMap<u32, BTreeMap<u32, &TimedRun>> = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.throughput() > 0.0) {
            rounds.entry(run.round).or_default().insert(run.cores, run);
        }
        let counts = rounds.values().map(BTreeMap::len).max().unwrap_or(0);
        let whole =
            rounds.into_values().filter(|round| round.len() == counts && round.contains_key(&1));
        whole.map(|round| (round.values().all(|run| run.is_quiet()), round)).collect()
    }

    /// The rounds that count: those that were quiet, if there are any.
    fn counted(&self) -> Vec<BTreeMap<u32, &TimedRun>> {
        let rounds = self.rounds();
        let any_quiet = rounds.iter().any(|(quiet, _)| *quiet);
        let counts = |(quiet, _): &(bool, _)| *quiet || !any_quiet;
        rounds.into_iter().filter(counts).map(|(_, round)| round).collect()
    }

    /// What was measured on each number of cores, in ascending order. Rounds in which others had too much
    /// of the cores, a control group held the program up, or cores went are left out, unless all were so.
    #[must_use]
    pub fn points(&self) -> Vec<ScalingPoint> {
        let rounds = self.counted();
        let cores = rounds.first().into_iter().flat_map(|round| round.keys().copied());
        cores
            .filter_map(|cores| {
                let runs: Vec<&TimedRun> =
                    rounds.iter().filter_map(|round| round.get(&cores).copied()).collect();
                let speedup = Spread::of(rounds.iter().filter_map(|round| {
                    Some(round.get(&cores)?.throughput() / round.get(&1)?.throughput())
                }))?;
                Some(ScalingPoint {
                    cores,
                    runs: runs.len(),
                    throughput: median(runs.iter().map(|run| run.throughput()))?,
                    speedup: speedup.median,
                    speedup_low: speedup.low,
                    speedup_high: speedup.high,
                    busy_cores: median(runs.iter().map(|run| run.busy_cores()))?,
                    filled: !self.windows
                        || 2 * runs.iter().filter(|run| run.is_filled()).count() > runs.len(),
                })
            })
            .collect()
    }

    /// How fast the program was on each number of cores, of the rounds that count.
    #[must_use]
    pub fn paces(&self) -> BTreeMap<u32, Pace> {
        let rounds = self.counted();
        let pace = |point: ScalingPoint| {
            let runs = || rounds.iter().filter_map(|round| round.get(&point.cores));
            let throughput = Spread::of(runs().map(|run| run.throughput()))?;
            let pace = Pace {
                rounds: point.runs,
                throughput: point.throughput,
                throughput_low: throughput.low,
                throughput_high: throughput.high,
                cpu_time_per_unit: median(runs().map(|run| run.cpu_time.0 / run.work))?,
                speedup: point.speedup,
                speedup_low: point.speedup_low,
                speedup_high: point.speedup_high,
            };
            Some((point.cores, pace))
        };
        self.points().into_iter().filter_map(pace).collect()
    }

    /// What the timed runs are good for.
    #[must_use]
    pub fn quality(&self) -> ScalingQuality {
        let rounds = self.rounds();
        let quiet = rounds.iter().filter(|(quiet, _)| *quiet).count();
        let rounds_with = |is: fn(&TimedRun) -> bool| {
            rounds.iter().filter(|(_, round)| round.values().any(|run| is(run))).count()
        };
        if rounds.is_empty() {
            ScalingQuality::FewRounds
        } else if 2 * quiet < rounds.len() {
            let held_up = rounds_with(TimedRun::is_held_up);
            let lost = rounds_with(|run| run.cores_lost > 0);
            // What is said first is what no quieter host mends.
            match rounds_with(TimedRun::is_disturbed) {
                disturbed if held_up > 0 && held_up >= disturbed.max(lost) => {
                    ScalingQuality::HeldUp
                }
                disturbed if lost > disturbed => ScalingQuality::CoresLost,
                _ => ScalingQuality::Disturbed,
            }
        } else if self.runs.iter().any(|run| run.wall_time < SHORT) {
            ScalingQuality::Short
        } else if self.points().iter().take(2).any(|point| !point.filled) {
            ScalingQuality::Unfilled
        } else if self.has_set_time() {
            ScalingQuality::SetTime
        } else if quiet < ENOUGH {
            ScalingQuality::FewRounds
        } else {
            ScalingQuality::Good
        }
    }

    /// The same, with how long the program took from start to end as it was recorded. One that runs for a set time
    /// does so under a recorder as well, where one that has a set amount of work takes longer.
    #[must_use]
    pub fn quality_beside(&self, recorded: Nanoseconds<f64>) -> ScalingQuality {
        let timed = median(
            self.counted().iter().flat_map(|round| round.values()).map(|run| run.wall_time.0),
        );
        let longer = timed.is_some_and(|timed| recorded.0 > timed * LONGER_RECORDED);
        match self.quality() {
            ScalingQuality::SetTime if longer => match self.counted().len() < ENOUGH {
                true => ScalingQuality::FewRounds,
                false => ScalingQuality::Good,
            },
            quality => quality,
        }
    }

    fn has_set_time(&self) -> bool {
        let rounds = self.counted();
        let most = self.most_cores();
        let alike = rounds.iter().filter(|round| {
            let (Some(one), Some(all)) = (round.get(&1), round.get(&most)) else { return false };
            let times = all.wall_time / one.wall_time;
            (times - 1.0).abs() < SAME_TIME && all.cpu_time.0 > MORE_COMPUTING * one.cpu_time.0
        });
        self.unit == RUN && most > 1 && !rounds.is_empty() && alike.count() == rounds.len()
    }
}

/// The unit where each run is one.
pub const RUN: &str = "run";

/// The unit where each time that a lock was taken is one: a critical section.
pub const SECTION: &str = "section";

/// Of fewer sections, a run takes most as it starts and ends, and they are no measure of what it does.
pub const ENOUGH_SECTIONS: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn run(round: u32, cores: u32, seconds: f64, busy: f64) -> TimedRun {
        let wall_time = Nanoseconds(seconds * 1e9);
        TimedRun {
            round,
            cores,
            wall_time,
            cpu_time: wall_time * busy,
            work: 1.0,
            interference: Some(Interference::default()),
            limit: None,
            cores_lost: 0,
            waiting: None,
        }
    }

    fn scaling(runs: Vec<TimedRun>) -> Scaling {
        Scaling { unit: RUN.to_owned(), runs, ..Scaling::default() }
    }

    /// The point of the most cores, if the runs are good for anything.
    fn known(scaling: &Scaling) -> Option<ScalingPoint> {
        scaling.points().pop().filter(|_| scaling.quality() == ScalingQuality::Good)
    }

    #[test]
    fn runs_are_held_against_those_of_the_same_round() {
        let scaling = scaling(vec![
            run(0, 1, 2.0, 1.0),
            run(0, 2, 1.0, 2.0),
            run(1, 1, 4.0, 1.0),
            run(1, 2, 2.5, 1.6),
            run(2, 1, 2.0, 1.0),
            run(2, 2, 1.1, 1.8),
        ]);
        let point = known(&scaling).expect("three rounds");
        assert_eq!((point.cores, point.runs), (2, 3));
        assert!((point.speedup - 2.0 / 1.1).abs() < 1e-9, "{point:?}");
        assert_eq!((point.speedup_low, point.speedup_high), (1.6, 2.0));
    }

    #[test]
    fn rounds_that_others_disturbed_are_left_out_or_said_to_be_so() {
        let mut runs = vec![
            run(0, 1, 1.0, 1.0),
            run(0, 2, 0.5, 2.0),
            run(1, 1, 1.0, 1.0),
            run(1, 2, 0.5, 2.0),
        ];
        let mut bad = run(2, 2, 2.0, 0.5);
        bad.interference =
            Some(Interference { others: Nanoseconds(3e9), ..Interference::default() });
        runs.extend([run(2, 1, 1.0, 1.0), bad.clone()]);
        let known = known(&scaling(runs.clone())).expect("two of three rounds were quiet");
        assert_eq!((known.runs, known.speedup), (2, 2.0));
        runs.extend(
            [3, 4]
                .into_iter()
                .flat_map(|round| [run(round, 1, 1.0, 1.0), TimedRun { round, ..bad.clone() }]),
        );
        assert_eq!(scaling(runs).quality(), ScalingQuality::Disturbed);
    }

    #[test]
    fn rounds_in_which_a_quota_held_the_program_up_say_nothing() {
        let under = |throttled: f64| {
            let limit = |wall: Nanoseconds<f64>| CpuLimit {
                cores: 1.0,
                periods: 10,
                throttled: 9,
                throttled_time: Some(wall * throttled),
                group: None,
            };
            let rounds =
                (0..3).flat_map(|round| [run(round, 1, 1.0, 1.0), run(round, 2, 1.0, 1.0)]);
            let limited = |run: TimedRun| match run.cores {
                1 => run,
                _ => TimedRun { limit: Some(limit(run.wall_time)), ..run },
            };
            scaling(rounds.map(limited).collect()).quality()
        };
        assert_eq!(under(1.0), ScalingQuality::HeldUp);
        assert_eq!(under(0.01), ScalingQuality::Good);
        let mut uncounted = run(0, 2, 1.0, 1.0);
        uncounted.limit = Some(CpuLimit { cores: 1.0, ..CpuLimit::default() });
        assert!(uncounted.is_held_up(), "nobody knows whether it was");
        uncounted.limit = Some(CpuLimit { cores: 2.0, ..CpuLimit::default() });
        assert!(!uncounted.is_held_up(), "it had what it could use");
    }

    #[test]
    fn a_window_that_leaves_cores_idle_shows_nothing_unless_requests_wait() {
        let windows = |busy: f64, waiting: f64| {
            let window = |round, cores, busy| TimedRun {
                waiting: Some(waiting),
                work: 1000.0,
                ..run(round, cores, 1.0, busy)
            };
            let rounds = (0..3).flat_map(|round| {
                [window(round, 1, 1.0), window(round, 2, busy), window(round, 4, 2.0)]
            });
            Scaling {
                windows: true,
                unit: "send".to_owned(),
                runs: rounds.collect(),
                ..Scaling::default()
            }
        };
        let quality = |busy, waiting| windows(busy, waiting).quality();
        assert_eq!(quality(1.2, 0.1), ScalingQuality::Unfilled);
        assert_eq!(quality(1.0, 1.0), ScalingQuality::Good, "it does not use them");
        assert_eq!(quality(1.9, 0.1), ScalingQuality::Good, "up to two cores");
        let filled = |scaling: Scaling| scaling.points().iter().map(|point| point.filled).collect();
        let of_two: Vec<bool> = filled(windows(1.9, 0.1));
        assert_eq!(of_two, [true, true, false]);
        let whole: Vec<bool> = filled(Scaling { windows: false, ..windows(1.2, 0.1) });
        assert_eq!(whole, [true; 3], "a whole run has done all that there was");
        // A client that had the rest of the core.
        let mut shared = windows(1.75, 0.0);
        for run in &mut shared.runs {
            let others = Nanoseconds(0.1e9 * f64::from(run.cores));
            run.interference = Some(Interference { others, ..Interference::default() });
        }
        assert_eq!(shared.quality(), ScalingQuality::Good);
    }

    #[test]
    fn rounds_in_which_cores_went_say_nothing() {
        let mut runs: Vec<_> =
            (0..3).flat_map(|round| [run(round, 1, 1.0, 1.0), run(round, 2, 1.0, 1.0)]).collect();
        runs[1].cores_lost = 1;
        assert_eq!(known(&scaling(runs.clone())).map(|point| point.runs), Some(2));
        runs[3].cores_lost = 1;
        assert_eq!(scaling(runs).quality(), ScalingQuality::CoresLost);
    }

    #[test]
    fn a_tick_that_may_be_the_programs_own_is_no_disturbance() {
        let mut one = run(0, 1, 0.06, 1.0);
        one.interference =
            Some(Interference { others: Nanoseconds(20e6), ..Interference::default() });
        assert!(!one.is_disturbed());
    }

    #[test]
    fn a_set_time_is_no_unit_of_work_and_neither_is_a_start() {
        let of = |all: TimedRun, one: TimedRun| {
            let again = [&one, &all].map(|run| TimedRun { round: 1, ..run.clone() });
            scaling([one, all].into_iter().chain(again).collect())
        };
        let timed = of(run(0, 2, 5.0, 2.0), run(0, 1, 5.01, 1.0));
        assert_eq!(timed.quality(), ScalingQuality::SetTime);
        let beside = |seconds: f64| timed.quality_beside(Nanoseconds(seconds * 1e9));
        assert_eq!(beside(5.1), ScalingQuality::SetTime);
        assert_eq!(beside(6.5), ScalingQuality::Good, "it has a set amount to do");
        let counted = Scaling { unit: "event".to_owned(), ..timed };
        assert_eq!(counted.quality(), ScalingQuality::Good);
        let turns = of(run(0, 2, 5.0, 1.0), run(0, 1, 5.01, 1.0));
        assert_eq!(turns.quality(), ScalingQuality::Good, "it computes one thread at a time");
        assert_eq!(of(run(0, 2, 0.01, 1.0), run(0, 1, 0.01, 1.0)).quality(), ScalingQuality::Short);
        assert_eq!(scaling(Vec::new()).quality(), ScalingQuality::FewRounds);
        assert_eq!(
            scaling(vec![run(0, 1, 1.0, 1.0), run(0, 2, 1.0, 1.0)]).quality(),
            ScalingQuality::FewRounds
        );
    }

    #[test]
    fn a_round_that_was_broken_off_does_not_count() {
        let whole = [0, 1].into_iter().flat_map(|r| [run(r, 1, 1.0, 1.0), run(r, 2, 0.5, 2.0)]);
        let scaling = scaling(whole.chain([run(2, 1, 1.0, 1.0)]).collect());
        assert_eq!(scaling.points().iter().map(|point| point.runs).collect::<Vec<_>>(), [2, 2]);
    }
}
