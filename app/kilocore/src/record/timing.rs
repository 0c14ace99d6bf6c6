//! Timing a program on the cores that are here: the options for it, and what is said meanwhile.

use std::time::Duration;

use clap::Args;
use kilocore_command_line::{Failure, say};
use kilocore_forecast::{Forecast, with_trial};
use kilocore_lock_profile::{SECTION, Scaling, ScalingQuality, TriedHere, WhyNotTimed};
use kilocore_lock_recorder::{Measured, TimedWork, Timing, time_on_cores, time_with_locks};
use kilocore_locks::RwLockId;
use kilocore_sim::Sim;

use super::subject::Choice;
use crate::run::Replaced;
use crate::work::WorkOption;
use crate::{launch, time};

/// How a program is timed on one core, on two, and so on.
#[derive(Debug, Args)]
pub(crate) struct TimingOptions {
    /// Time the program on 1, 2, 4, … of the cores that are here, in turn and without a recorder, for so
    /// long in all, as in 60 or 5m; 0 for not at all
    #[arg(long, value_name = "TIME", value_parser = time::parse_or_none, default_value = "20s")]
    budget: Duration,
    #[command(flatten)]
    work: WorkOption,
    /// Count how often the program takes a pthread lock as its units of work, in all its processes, by a library under
    /// it: for one that runs for a set time and prints nothing that --work could count
    #[arg(long, conflicts_with_all = ["work", "pid"])]
    sections: bool,
    /// Confine a process that runs on (--pid, or a program that --duration ends) to 1, 2, 4, … of its cores in
    /// turn once it has been recorded, for --budget in all, and count what it sends, or --sections. Takes cores from a
    /// process in service, and gives them back
    #[arg(long, requires = "duration", conflicts_with = "once")]
    confine: bool,
}

/// How a program that runs on is timed in windows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Confining {
    /// How long all windows together may take.
    pub(crate) budget: Duration,
    /// Whether its critical sections count, and not what it sends.
    pub(crate) sections: bool,
}

impl TimingOptions {
    /// How a program that runs on is confined to fewer cores, if it is to be.
    pub(crate) fn confining(&self) -> Result<Option<Confining>, Failure> {
        if self.confine && self.budget.is_zero() {
            return Err(Failure::new(
                "--confine measures for as long as --budget says, which is 0; give it 20s, say",
            ));
        }
        let confining = Confining { budget: self.budget, sections: self.sections };
        Ok(self.confine.then_some(confining))
    }

    /// How to time, or `None` for not at all.
    pub(crate) fn timing(&self) -> Result<Option<Timing>, Failure> {
        let work = match self.sections {
            true => TimedWork::Sections(launch::library("libkilocore_measure.so")?.canonicalize()?),
            false => TimedWork::Rule(self.work.rule(None)?),
        };
        Ok((!self.budget.is_zero()).then_some(Timing { budget: self.budget, work }))
    }
}

/// Times the program that was measured, if that can be done. What was measured is in its profile then.
pub(crate) fn time(measured: &mut Measured, choice: Choice<'_>, timing: &Timing, part: bool) {
    if measured.profile.scaling.is_some() {
        return;
    }
    let scaling = match (choice.command(), &measured.profile.runs[..]) {
        (_, []) => return,
        (None, _) => Scaling::untimed(WhyNotTimed::Attached),
        (_, [first, ..]) if measured.interrupted || first.exit_status != 0 => {
            Scaling::untimed(WhyNotTimed::Failed)
        }
        _ if part => Scaling::untimed(WhyNotTimed::PartOfARun),
        (Some(command), [first, rest @ ..]) => {
            let how = match timing.work {
                TimedWork::Sections(_) => {
                    "with a library under it that counts its critical sections"
                }
                TimedWork::Rule(_) => "without a recorder",
            };
            time_on_cores(command, timing, first, rest.first(), &|runs, time| tell(how, runs, time))
        }
    };
    measured.profile.scaling = Some(scaling);
}

/// Tries the locks that an answer recommends on the cores that are here, if they can be put under the program,
/// it could be timed there, and none of the locks may keep it from ending.
pub(crate) fn try_recommended(
    forecast: Forecast,
    measured: &Measured,
    choice: Choice<'_>,
    timing: &Timing,
) -> Forecast {
    let advice = &forecast.recommendation;
    let passes = |lock: &str| lock.parse().is_ok_and(RwLockId::readers_pass_writers::<Sim>);
    let scaling = measured.profile.scaling.as_ref();
    // Where a library counts sections, other locks cannot be put under the program: two libraries would replace the
    // same functions.
    let timed = scaling
        .filter(|scaling| scaling.quality() == ScalingQuality::Good && scaling.unit != SECTION);
    // Some advice has a command and no lock.
    let lock = advice.command.as_ref().and(advice.shown());
    let (Some(command), Some(usual), Some(_)) =
        (choice.command(), timed.and_then(Scaling::usual_time), lock)
    else {
        return forecast;
    };
    if !advice.rwlock.is_none_or(passes) {
        return forecast;
    }
    let (lock, rwlock) = (advice.lock, advice.rwlock);
    // A library that is not there is no reason to give no answer.
    let Ok(environment) = (Replaced { lock, rwlock }).environment(command) else { return forecast };
    let tried = TriedHere { lock, rwlock, rounds: Vec::new(), failure: None };
    say("trying what is recommended on the cores that are here");
    with_trial(forecast, time_with_locks(command, &environment, timing, usual, tried))
}

fn tell(how: &str, runs: u32, expected: Duration) {
    let seconds = expected.as_secs_f64().max(1.0).round();
    say(&format!("timing it {how}, {runs} more runs on one core and on more, some {seconds} s"));
}
