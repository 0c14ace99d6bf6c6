//! Why two profiles say nothing of a change, whatever their figures are.

use std::fmt;

use serde::Serialize;

use super::pace_change::PaceChange;
use crate::{Profile, RUN, Run, Scaling, ScalingQuality, WhyNotTimed};

/// Rounds on each side, from which on something is concluded.
const ENOUGH: usize = 3;
/// What programs that run for a set time take beyond whole seconds, to start and to end.
const BEYOND_SECONDS: f64 = 0.05;
/// What their times differ by.
const SET_TIMES_DIFFER: f64 = 0.01;
/// Clocks of one machine are measured alike to this share.
const SAME_CLOCK: f64 = 0.01;

/// One of two profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// That from before the change.
    Before,
    /// That from after it.
    After,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Before => "before",
            Self::After => "after",
        })
    }
}

/// Why nothing can be concluded from two profiles.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Doubt {
    /// The programs are others, or do something else. The folder that a program is in does not count.
    Commands {
        /// What ran before.
        before: String,
        /// What ran after.
        after: String,
    },
    /// The machines are others.
    Machines {
        /// What differs.
        what: &'static str,
        /// What it was before.
        before: String,
        /// What it is after.
        after: String,
    },
    /// The work was counted in other units.
    Units {
        /// The unit before.
        before: String,
        /// The unit after.
        after: String,
    },
    /// It was not timed.
    Untimed {
        /// Where.
        side: Side,
        /// The reason, if the profile has one.
        reason: Option<WhyNotTimed>,
    },
    /// The timed runs are good for nothing.
    Quality {
        /// Where.
        side: Side,
        /// What is wrong with them.
        quality: ScalingQuality,
    },
    /// Too few rounds were quiet.
    FewRounds {
        /// Where.
        side: Side,
        /// How many were.
        rounds: usize,
        /// How many have to be.
        enough: usize,
    },
    /// There is no number of cores that both were timed on.
    Cores,
    /// All runs of both took the same time, to the second: the program runs for a set time.
    SetTime,
    /// The recorded run failed.
    Failed {
        /// Where.
        side: Side,
        /// Its exit status.
        status: i32,
    },
    /// A control group limited what it had of the cores.
    Limited {
        /// Where.
        side: Side,
    },
    /// It was steered meanwhile.
    Steered {
        /// Where.
        side: Side,
    },
}

/// All that is to be said against a conclusion.
pub(super) fn doubts(before: &Profile, after: &Profile, paces: &[PaceChange]) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    let [first, second] = [before, after].map(command);
    if first != second {
        let whole = |profile: &Profile| profile.command.join(" ");
        doubts.push(Doubt::Commands { before: whole(before), after: whole(after) });
    }
    doubts.extend(machines(before, after));
    for (side, profile) in [(Side::Before, before), (Side::After, after)] {
        doubts.extend(run(side, profile.runs.first()));
        doubts.extend(timing(side, profile.scaling.as_ref()));
    }
    if let (Some(first), Some(second)) = (&before.scaling, &after.scaling)
        && !first.runs.is_empty()
        && !second.runs.is_empty()
    {
        if first.unit != second.unit {
            let (before, after) = (first.unit.clone(), second.unit.clone());
            doubts.push(Doubt::Units { before, after });
        } else if paces.is_empty() {
            doubts.push(Doubt::Cores);
        } else if first.unit == RUN && take_a_set_time(first, second) {
            doubts.push(Doubt::SetTime);
        }
    }
    doubts
}

/// What was run, without the folder of the program: two builds of a program have two.
fn command(profile: &Profile) -> Vec<&str> {
    let mut words: Vec<&str> = profile.command.iter().map(String::as_str).collect();
    if let Some(program) = words.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default();
    }
    words
}

fn machines(before: &Profile, after: &Profile) -> Option<Doubt> {
    let (one, other) = (&before.host, &after.host);
    let differ = |what, before: &dyn fmt::Display, after: &dyn fmt::Display| {
        Some(Doubt::Machines { what, before: before.to_string(), after: after.to_string() })
    };
    let clocks = one.clock_ghz / other.clock_ghz;
    if one.processor != other.processor {
        differ("processors", &one.processor, &other.processor)
    } else if one.cores != other.cores {
        differ("numbers of cores", &one.cores, &other.cores)
    } else if (clocks - 1.0).abs() > SAME_CLOCK {
        differ("clocks (GHz)", &one.clock_ghz, &other.clock_ghz)
    } else {
        None
    }
}

fn run(side: Side, run: Option<&Run>) -> Vec<Doubt> {
    let Some(run) = run else { return Vec::new() };
    let failed = (run.exit_status != 0).then_some(Doubt::Failed { side, status: run.exit_status });
    let limited = run.limit.as_ref().is_some_and(|limit| limit.binds(run.cores));
    let limited = limited.then_some(Doubt::Limited { side });
    let steered = run.steered_by.map(|_| Doubt::Steered { side });
    [failed, limited, steered].into_iter().flatten().collect()
}

fn timing(side: Side, scaling: Option<&Scaling>) -> Option<Doubt> {
    let Some(scaling) = scaling.filter(|scaling| !scaling.runs.is_empty()) else {
        return Some(Doubt::Untimed { side, reason: scaling.and_then(|scaling| scaling.why_not) });
    };
    match scaling.quality() {
        ScalingQuality::Good | ScalingQuality::FewRounds => {
            let rounds = scaling.paces().values().map(|pace| pace.rounds).min().unwrap_or(0);
            (rounds < ENOUGH).then_some(Doubt::FewRounds { side, rounds, enough: ENOUGH })
        }
        quality => Some(Doubt::Quality { side, quality }),
    }
}

/// Whether all runs took a whole number of seconds, the same one, and hardly more.
fn take_a_set_time(before: &Scaling, after: &Scaling) -> bool {
    let seconds = || before.runs.iter().chain(&after.runs).map(|run| run.wall_time.seconds());
    let least = seconds().fold(f64::INFINITY, f64::min);
    let most = seconds().fold(0.0, f64::max);
    least >= 1.0 && most - least < SET_TIMES_DIFFER && most - least.floor() < BEYOND_SECONDS
}

#[cfg(test)]
mod tests {
    use kilocore_figures::Nanoseconds;

    use super::*;
    use crate::comparison::{ChangeVerdict, ProfileComparison};
    use crate::{CpuLimit, Interference, TimedRun};

    /// A profile with so many rounds on one and on two cores, which take these seconds.
    fn profile(rounds: u32, one: f64, two: f64) -> Profile {
        let run = |round: u32, cores: u32, seconds: f64| {
            let wall_time = Nanoseconds(seconds * (1.0 + 0.002 * f64::from(round)) * 1e9);
            TimedRun {
                round,
                cores,
                wall_time,
                cpu_time: wall_time,
                work: 1.0,
                interference: Some(Interference::default()),
                limit: None,
                cores_lost: 0,
                waiting: None,
            }
        };
        let runs = (0..rounds).flat_map(|round| [run(round, 1, one), run(round, 2, two)]);
        let scaling = Scaling { unit: RUN.to_owned(), runs: runs.collect(), ..Scaling::default() };
        let text = format!(
            r#"{{"format": "kilocore-profile", "version": 1, "command": ["./old/service", "-t", "2"],
            "host": {{"processor": "some", "cores": 2, "clock_ghz": 2.0, "kernel": "6.1"}},
            "runs": [{{"cores": 2, "wall_ns": {}, "exit_status": 0, "processes": []}}],
            "scaling": {}}}"#,
            two * 1e9,
            serde_json::to_string(&scaling).expect("figures")
        );
        serde_json::from_str(&text).expect("a profile")
    }

    /// What is doubted of a slowdown after a change to the second profile.
    fn doubted(change: impl FnOnce(&mut Profile)) -> Vec<Doubt> {
        let before = profile(3, 2.3, 1.27);
        let mut after = profile(3, 2.3, 1.57);
        assert_eq!(ProfileComparison::of(&before, &after).verdict(0.05), ChangeVerdict::Slower);
        change(&mut after);
        let there = ProfileComparison::of(&before, &after);
        let back = ProfileComparison::of(&after, &before);
        assert_eq!(there.doubts.len(), back.doubts.len(), "before and after are treated alike");
        if !there.doubts.is_empty() {
            assert_eq!(
                (there.verdict(0.05), back.verdict(1e9)),
                (ChangeVerdict::Unknown, ChangeVerdict::Unknown)
            );
        }
        there.doubts
    }

    #[test]
    fn what_cannot_be_compared_is_not() {
        let is = |doubts: &[Doubt], kind: fn(&Doubt) -> bool| matches!(doubts, [one] if kind(one));
        assert_eq!(doubted(|after| after.command[0] = "/new/service".to_owned()), []);
        assert_eq!(doubted(|after| after.host.kernel = "6.2".to_owned()), []);
        assert_eq!(doubted(|after| after.host.clock_ghz = 2.001), []);
        let commands = doubted(|after| after.command[2] = "4".to_owned());
        assert!(is(&commands, |doubt| matches!(doubt, Doubt::Commands { .. })));
        for machine in [
            doubted(|after| after.host.processor = "other".to_owned()),
            doubted(|after| after.host.cores = 4),
            doubted(|after| after.host.clock_ghz = 3.0),
        ] {
            assert!(is(&machine, |doubt| matches!(doubt, Doubt::Machines { .. })), "{machine:?}");
        }
        let untimed = doubted(|after| after.scaling = None);
        assert!(is(&untimed, |doubt| matches!(doubt, Doubt::Untimed { reason: None, .. })));
        let long = doubted(|after| after.scaling = Some(Scaling::untimed(WhyNotTimed::TooLong)));
        assert!(is(&long, |doubt| matches!(doubt, Doubt::Untimed { reason: Some(_), .. })));
        let units = doubted(|after| after.scaling.as_mut().unwrap().unit = "events".to_owned());
        assert!(is(&units, |doubt| matches!(doubt, Doubt::Units { .. })));
        let failed = doubted(|after| after.runs[0].exit_status = 1);
        assert!(is(&failed, |doubt| matches!(doubt, Doubt::Failed { status: 1, .. })));
        let limit = CpuLimit { cores: 1.0, periods: 10, throttled: 3, ..CpuLimit::default() };
        let limited = doubted(|after| after.runs[0].limit = Some(limit));
        assert!(is(&limited, |doubt| matches!(doubt, Doubt::Limited { .. })));
        let steered = doubted(|after| after.runs[0].steered_by = Some(7));
        assert!(is(&steered, |doubt| matches!(doubt, Doubt::Steered { .. })));
    }

    #[test]
    fn runs_that_show_too_little_are_doubted() {
        for rounds in [1, 2] {
            let few = doubted(|after| *after = profile(rounds, 2.3, 1.57));
            let expected =
                Doubt::FewRounds { side: Side::After, rounds: rounds as usize, enough: 3 };
            assert_eq!(few, [expected]);
        }
        let short = doubted(|after| *after = profile(3, 0.04, 0.03));
        assert!(matches!(short[..], [Doubt::Quality { quality: ScalingQuality::Short, .. }]));
        let busy = doubted(|after| {
            for run in &mut after.scaling.as_mut().unwrap().runs {
                run.interference =
                    Some(Interference { others: Nanoseconds(2e9), ..Interference::default() });
            }
        });
        assert!(matches!(busy[..], [Doubt::Quality { quality: ScalingQuality::Disturbed, .. }]));
    }

    #[test]
    fn a_program_that_runs_for_whole_seconds_is_not_said_to_be_as_fast_as_before() {
        let set = || {
            let mut profile = profile(3, 5.01, 5.01);
            let runs = &mut profile.scaling.as_mut().unwrap().runs;
            runs.iter_mut().for_each(|run| run.wall_time = Nanoseconds(5.01e9));
            profile
        };
        let comparison = ProfileComparison::of(&set(), &set());
        assert_eq!(comparison.doubts, [Doubt::SetTime]);
        assert_eq!(comparison.verdict(0.05), ChangeVerdict::Unknown);
        let mut counted = [set(), set()];
        for profile in &mut counted {
            profile.scaling.as_mut().unwrap().unit = "events".to_owned();
        }
        let [before, after] = counted;
        assert_eq!(ProfileComparison::of(&before, &after).verdict(0.05), ChangeVerdict::NotSlower);
    }
}
