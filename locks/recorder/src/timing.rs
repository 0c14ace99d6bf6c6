//! Timing a program on one core, on two, and so on, without a recorder unless it counts the work.
//!
//! Each run has all its cores for itself as far as this process can see to that, an input that begins
//! anew, and output that goes nowhere. What others took of the cores meanwhile is kept with each run.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use kilocore_figures::{Nanoseconds, core_counts};
use kilocore_hardware::in_order_of_use;
use kilocore_lock_profile::{Run, Scaling, TimedRun, WhyNotTimed};
use kilocore_process::{
    CpuId, EndAfter, Input, Output, Start, allowed_cores, input_is_a_stream, is_sized, sized_for,
};

use crate::interference::{Before, Surroundings};
use crate::limits::{Limits, within_limits};
use crate::timed_work::TimedWork;

/// As many rounds as show how much rounds differ.
const ROUNDS: u32 = 3;
/// The most rounds, if they take no more than a quarter of the time.
const MOST_ROUNDS: u32 = 5;
/// A run that computes less than this share of what the recorded run did has not done the same.
const DID_LESS: f64 = 0.5;

/// How a program is timed.
#[derive(Debug, Clone)]
pub struct Timing {
    /// How long all rounds together may take. The first is made if it can be expected to take no longer.
    pub budget: Duration,
    /// What counts as a unit of work.
    pub work: TimedWork,
}

/// Times a program on one core, on powers of two, and on all cores that are allowed, in turn: on no more of
/// them than control groups allow it the time of. `first` is the recorded run; `confined` the one on one core, if there was one. In the command, `{cores}` and
/// `{threads}` become the number of cores. `tell` is called with the number of runs and the time that they
/// are expected to take, before the first of them.
///
/// A signal that asks this process to end meanwhile ends the run that is going on, and is the reason for
/// which there are no more.
#[must_use]
pub fn time_on_cores(
    command: &[OsString],
    timing: &Timing,
    first: &Run,
    confined: Option<&Run>,
    tell: &dyn Fn(u32, Duration),
) -> Scaling {
    if !timing.work.can_count(command) {
        return Scaling::untimed(WhyNotTimed::FewSections);
    }
    let all = in_order_of_use(&allowed_cores());
    let cores = within_limits(&all);
    let fewer = (cores.len() < all.len()).then_some(WhyNotTimed::Quota);
    if cores.len() < 2 {
        return Scaling::untimed(fewer.unwrap_or(WhyNotTimed::OneCore));
    }
    let counts = core_counts(cores.len() as u32);
    // On fewer cores it takes no longer than on one, where it takes all its processor time.
    let on_all = wall(first);
    let on_one = confined.map_or_else(|| on_all.max(processor_time(first)), wall);
    let round = on_all + on_one * (counts.len() as u32 - 1);
    if round > timing.budget {
        return Scaling::untimed(WhyNotTimed::TooLong);
    }
    let fit = |budget: Duration, most: u32| {
        ((budget.as_secs_f64() / round.as_secs_f64().max(1e-3)) as u32).clamp(1, most)
    };
    let rounds = fit(timing.budget, ROUNDS).max(fit(timing.budget / 4, MOST_ROUNDS));
    tell(rounds * counts.len() as u32, round * rounds);
    let unit = timing.work.unit().to_owned();
    let mut scaling =
        Scaling { unit, sized: is_sized(command), why_not: fewer, ..Scaling::default() };
    let began = Instant::now();
    for number in 0..rounds {
        let round_began = Instant::now();
        // Every other round goes down, so that what changes slowly falls on all alike.
        let mut order = counts.clone();
        if number % 2 == 1 {
            order.reverse();
        }
        for count in order {
            let run = OneRun {
                command,
                environment: &[],
                work: &timing.work,
                round: number,
                cores: &cores[..count as usize],
                limit: None,
            };
            match one_run(&run).map_err(|failure| failure.why) {
                Ok(run) if did_less(&run, first, cores.len()) && !timing.work.is_printed() => {
                    return Scaling::untimed(WhyNotTimed::Input);
                }
                Ok(run) => scaling.runs.push(run),
                Err(why) if scaling.runs.is_empty() => return Scaling::untimed(why),
                Err(why) => return Scaling { why_not: Some(why), ..scaling },
            }
        }
        // A program may be slower without a recorder's second run to go by, or the host may be.
        if began.elapsed() + round_began.elapsed() > timing.budget {
            break;
        }
    }
    scaling
}

fn wall(run: &Run) -> Duration {
    Duration::from_nanos(run.wall_time.0.max(0.0) as u64)
}

fn processor_time(run: &Run) -> Duration {
    Duration::from_nanos(run.cpu_time.map_or(0.0, |time| time.0.max(0.0)) as u64)
}

/// Whether a run on all cores did less than the recorded one, whose standard input it could not have again.
fn did_less(run: &TimedRun, first: &Run, all: usize) -> bool {
    let recorded = first.cpu_time.map_or(0.0, |time| time.0);
    run.cores as usize == all
        && recorded > 0.0
        && run.cpu_time.0 < DID_LESS * recorded
        && input_is_a_stream()
}

/// A run to be timed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OneRun<'a> {
    pub(crate) command: &'a [OsString],
    /// Variables of its environment, beside those of this process's.
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) work: &'a TimedWork,
    pub(crate) round: u32,
    pub(crate) cores: &'a [CpuId],
    /// After how long it is ended, if it is.
    pub(crate) limit: Option<Duration>,
}

/// Why a run shows nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoRun {
    pub(crate) why: WhyNotTimed,
    /// Whether it had reached its limit.
    pub(crate) was_ended: bool,
    /// Whether somebody asked this process to end meanwhile.
    pub(crate) interrupted: bool,
}

/// Makes a run and times it.
pub(crate) fn one_run(wanted: &OneRun<'_>) -> Result<TimedRun, NoRun> {
    let OneRun { work, round, cores, .. } = *wanted;
    let no = |why| NoRun { why, was_ended: false, interrupted: false };
    let command = sized_for(wanted.command, cores.len() as u32);
    let counter = work.begin().map_err(no)?;
    let own = wanted.environment.iter().cloned();
    let end_after = wanted.limit.map(EndAfter::new);
    let mut limits = Limits::before_start();
    let before = Before::look(cores);
    let end = kilocore_process::run(Start {
        command: &command,
        environment: own.chain(counter.environment()).collect(),
        cores: Some(cores),
        input: Input::Repeated,
        output: Output::Discarded,
        observer: counter.observer(),
        on_start: Some(Box::new(|pid| end_after.iter().for_each(|end| end.watch(pid)))),
        adopt_orphans: true,
        ..Start::default()
    })
    .map_err(|_| no(WhyNotTimed::Failed))?;
    let cpu_time = end.user + end.system;
    let Surroundings { interference, cores_lost } = before.since(cpu_time);
    let limit = limits.limit();
    if end_after.is_some_and(|end| end.has_passed()) {
        return Err(NoRun { was_ended: true, ..no(WhyNotTimed::Failed) });
    }
    if end.interrupted || !end.status.success() {
        return Err(NoRun { interrupted: end.interrupted, ..no(WhyNotTimed::Failed) });
    }
    let work = counter.finish(end.status).map_err(no)?;
    Ok(TimedRun {
        round,
        cores: cores.len() as u32,
        wall_time: Nanoseconds::from(end.elapsed).calculated(),
        cpu_time: Nanoseconds::from(cpu_time).calculated(),
        work,
        interference,
        limit,
        cores_lost,
        waiting: None,
    })
}
