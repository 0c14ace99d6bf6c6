//! Timing a program that runs on meanwhile: it is confined to one core, to two, and so on, in turn, and what it does
//! is counted in a window of each.
//!
//! A change of cores is given some time to show before a window begins. What others took of the cores meanwhile is
//! kept with each window, and the clients of a server are others.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use kilocore_figures::{Nanoseconds, core_counts};
use kilocore_hardware::in_order_of_use;
use kilocore_lock_profile::{Scaling, TimedRun, WhyNotTimed};
use kilocore_process::CpuId;

use crate::interference::{Before, Surroundings};
use crate::limits::{Limits, within_limits_of};
use crate::window_work::WindowWork;

/// As many rounds as show how much rounds differ, and the most.
const ROUNDS: [u32; 2] = [3, 7];
/// How long a number of cores has, if the budget allows: to settle, and the window.
const USUAL: Duration = Duration::from_secs(2);
/// What part of that is for settling, and how much of it at least and at most.
const SETTLING: u32 = 4;
const SETTLING_TIMES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];
/// No window is shorter: the kernel counts what others take in ticks of 10 ms.
const SHORTEST: Duration = Duration::from_millis(400);
/// How long between two looks, unless a look takes more than one part in so many of that. Nothing that a program
/// does repeats itself after a prime number of milliseconds.
const BETWEEN: Duration = Duration::from_millis(97);
const LOOK: u32 = 10;

/// A process that could not be confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotConfined;

/// A process that runs and can be confined, alone or with its descendants.
pub trait Confinable {
    /// The cores that all its threads may use. `None` if they may use different ones, or it has ended.
    fn allowed(&self) -> Option<Vec<CpuId>>;

    /// The processes that are confined, of those that there are.
    fn processes(&self) -> Vec<u32>;

    /// Whether descendants are confined, too.
    fn has_descendants(&self) -> bool;

    /// Confines all threads to these cores; without any, they may run wherever they might before.
    ///
    /// # Errors
    /// If not all of them could be.
    fn confine(&mut self, cores: Option<&[CpuId]>) -> Result<(), NotConfined>;

    /// Sees to threads that have begun since, or that have chosen other cores.
    ///
    /// # Errors
    /// If not all threads are confined as they were to be.
    fn renew(&mut self) -> Result<(), NotConfined>;
}

/// How the time is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    rounds: u32,
    settling: Duration,
    window: Duration,
}

impl Plan {
    /// For windows on so many different numbers of cores. `None` if they would be too short.
    fn of(counts: u32, budget: Duration) -> Option<Self> {
        let [least, most] = ROUNDS;
        let usual = budget.as_secs_f64() / (USUAL * counts).as_secs_f64();
        let rounds = (usual as u32).clamp(least, most);
        let each = (budget / (rounds * counts)).min(2 * USUAL);
        let [shortest, longest] = SETTLING_TIMES;
        let settling = (each / SETTLING).clamp(shortest, longest);
        let window = each.saturating_sub(settling);
        (window >= SHORTEST).then_some(Self { rounds, settling, window })
    }

    fn whole(self, counts: u32) -> Duration {
        (self.settling + self.window) * self.rounds * counts
    }
}

/// Times a process that runs in windows: confined to one core, to powers of two, and to all that it may use, or that
/// control groups allow it the time of, in turn. What counts is what it sends, or the critical sections that its
/// processes record in the folder `recordings`, if there is one. All windows together take `budget` at most. `over` says that there
/// are to be no more. `tell` is called with the number of windows and their time, before the first.
///
/// At the end, `subject` may run wherever it might before.
pub fn time_in_windows(
    subject: &mut dyn Confinable,
    pid: u32,
    recordings: Option<&Path>,
    budget: Duration,
    over: &dyn Fn() -> bool,
    tell: &dyn Fn(u32, Duration),
) -> Scaling {
    let Some(allowed) = subject.allowed() else {
        let has_ended = kilocore_linux::has_ended(pid);
        return Scaling::untimed(if has_ended {
            WhyNotTimed::Ended
        } else {
            WhyNotTimed::OwnCores
        });
    };
    let all = in_order_of_use(&allowed);
    let cores = within_limits_of(pid, &all);
    let fewer = (cores.len() < all.len()).then_some(WhyNotTimed::Quota);
    if cores.len() < 2 {
        return Scaling::untimed(fewer.unwrap_or(WhyNotTimed::OneCore));
    }
    let counts = core_counts(cores.len() as u32);
    let number = counts.len() as u32;
    let Some(plan) = Plan::of(number, budget) else {
        return Scaling::untimed(WhyNotTimed::TooLong);
    };
    let processes = subject.processes();
    let begun = WindowWork::begin(&processes, subject.has_descendants(), recordings);
    let Some(mut work) = begun else {
        return Scaling::untimed(WhyNotTimed::Uncounted);
    };
    tell(plan.rounds * number, plan.whole(number));
    let unit = work.unit().to_owned();
    let mut scaling = Scaling { unit, windows: true, why_not: fewer, ..Scaling::default() };
    'rounds: for round in 0..plan.rounds {
        // Every other round goes down, so that what changes slowly falls on all alike.
        let mut order = counts.clone();
        if round % 2 == 1 {
            order.reverse();
        }
        for count in order {
            let cores = &cores[..count as usize];
            let set = (cores.len() < all.len()).then_some(cores);
            let confined = subject.confine(set).map_err(|NotConfined| WhyNotTimed::NotConfined);
            let mut window = Window { subject, pid, work: &mut work, over };
            let seen = confined.and_then(|()| window.seen(round, cores, plan));
            match seen {
                Ok(run) => scaling.runs.push(run),
                Err(why) => {
                    scaling.why_not = Some(why);
                    break 'rounds;
                }
            }
        }
    }
    // Whoever may not be confined any more is put back by who has confined it.
    let _ = subject.confine(None);
    let (least, why) = work.least();
    if !scaling.runs.is_empty() && scaling.runs.iter().all(|run| run.work < least) {
        return Scaling::untimed(why);
    }
    if scaling.runs.is_empty() {
        return Scaling::untimed(scaling.why_not.unwrap_or(WhyNotTimed::Ended));
    }
    scaling
}

/// One window.
struct Window<'a> {
    subject: &'a mut dyn Confinable,
    pid: u32,
    work: &'a mut WindowWork,
    over: &'a dyn Fn() -> bool,
}

impl Window<'_> {
    /// What was seen in a window, after the time that it takes to settle.
    fn seen(&mut self, round: u32, cores: &[CpuId], plan: Plan) -> Result<TimedRun, WhyNotTimed> {
        self.wait(plan.settling)?;
        let mut limits = Limits::default();
        limits.look(self.subject.processes().into_iter());
        let before = Before::look(cores);
        let (from, began) = (self.work.done(&self.subject.processes()), Instant::now());
        self.wait(plan.window)?;
        let (to, took) = (self.work.done(&self.subject.processes()), began.elapsed());
        let done = self.work.between(from, to)?;
        let Surroundings { interference, cores_lost } = before.since(done.cpu_time);
        Ok(TimedRun {
            round,
            cores: cores.len() as u32,
            wall_time: Nanoseconds::from(took).calculated(),
            cpu_time: Nanoseconds::from(done.cpu_time).calculated(),
            work: done.work,
            interference,
            limit: limits.limit(),
            cores_lost,
            waiting: done.waiting,
        })
    }

    /// Looks at the process for so long.
    fn wait(&mut self, time: Duration) -> Result<(), WhyNotTimed> {
        let until = Instant::now() + time;
        loop {
            let now = Instant::now();
            if (self.over)() || kilocore_linux::has_ended(self.pid) {
                return Err(WhyNotTimed::Ended);
            }
            if now >= until {
                return Ok(());
            }
            self.subject.renew().map_err(|NotConfined| WhyNotTimed::NotConfined)?;
            self.work.look(&self.subject.processes());
            let pause = BETWEEN.max(now.elapsed() * LOOK);
            thread::sleep(pause.min(until.saturating_duration_since(Instant::now())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_decides_how_many_windows_there_are_and_how_long() {
        let seconds = Duration::from_secs;
        let usual = Plan::of(2, seconds(20)).expect("it suffices");
        assert_eq!(usual.rounds, 5);
        assert_eq!((usual.settling, usual.window), (seconds(1) / 2, seconds(3) / 2));
        for (counts, budget) in [(2, 5), (2, 20), (2, 300), (8, 20), (8, 60)] {
            let plan = Plan::of(counts, seconds(budget)).expect("it suffices");
            assert!(plan.whole(counts) <= seconds(budget), "{plan:?}");
            assert!(plan.window >= SHORTEST && plan.rounds >= ROUNDS[0], "{plan:?}");
        }
        assert_eq!(Plan::of(2, seconds(3)), None);
        assert_eq!(Plan::of(8, seconds(10)), None);
    }
}
