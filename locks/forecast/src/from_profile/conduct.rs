//! How the program ran while it was profiled, as far as that limits what a forecast may claim.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Finding, Process, Profile, Run};

use super::group::Group;
use super::phases::Phases;
use crate::evidence::Evidence;

/// What threads did besides taking locks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Conduct {
    /// Acquisitions of all the locks that the forecast knows.
    pub acquisitions: u64,
    /// The largest number of threads alive at the same time.
    pub peak_threads: u64,
    /// Cores that were allowed.
    pub cores: u32,
    /// How many of them were busy on average.
    pub busy_cores: f64,
    /// Whether other processes of the program kept cores busy as well.
    pub beside_others: bool,
    /// How many cores were not busy, on average, although there were threads for them and these
    /// threads did not wait for locks.
    pub unused_cores: f64,
    /// Share of all the threads' time spent waiting on condition variables. Barriers that are made
    /// of condition variables are left out.
    pub condition_share: f64,
    /// How many threads waited on condition variables, on average.
    pub threads_on_conditions: f64,
    /// Whether the threads waited for one another, or for work, so much that they could not use the
    /// cores that there were.
    pub takes_turns: bool,
    /// Where the condition variable that was waited on longest comes from.
    pub condition_place: Option<String>,
    /// Where the processor time went.
    pub time: ProcessorTime,
    /// Rounds that ended in a barrier, of the C library's or made of a condition variable.
    pub barrier_rounds: f64,
    /// How many threads met at those barriers.
    pub barrier_threads: f64,
}

/// Where the processor time of a process went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ProcessorTime {
    /// All of the processor time.
    pub all: Nanoseconds<f64>,
    /// Taking locks, waiting for them and releasing them, including the recorder's part. This is an
    /// estimate; forecasts simulate these operations instead.
    pub operations: Nanoseconds<f64>,
    /// Fetching data that moves from holder to holder, which forecasts simulate too.
    pub lines: Nanoseconds<f64>,
    /// How much longer threads computed between locks than a single thread does, because they were
    /// in one another's way at something that is not a pthread lock.
    pub disturbed: Nanoseconds<f64>,
    /// Of the rest, the computing of one thread while the other cores had nothing to do, for a
    /// reason that is neither locks nor conditions nor sleep.
    pub serial: Nanoseconds<f64>,
    /// Of the rest, the time before a thread's first lock, after its last, or in threads that take
    /// none.
    pub outside: Nanoseconds<f64>,
    /// Time under locks, beyond all this, in which the holders did not run. It occurs in profiles
    /// that know only how long holds last by the clock.
    pub not_running: Nanoseconds<f64>,
}

impl ProcessorTime {
    /// What the program computes, whatever its locks are. A forecast's workload computes the same.
    #[must_use]
    pub fn work(&self) -> Nanoseconds<f64> {
        self.all - self.operations - self.lines - self.disturbed
    }

    /// The serial part of that.
    #[must_use]
    pub fn serial_share(&self) -> f64 {
        self.serial / self.work().max(Nanoseconds(1.0))
    }
}

/// A program counts as always having something to do if it keeps one core busy for at least this
/// share of the time.
const KEPT_BUSY: f64 = 0.9;
/// The share of a process's time from which other processes of the program count.
const OTHERS: f64 = 0.1;
/// Threads take turns only if at least this share of the cores for which there were threads was
/// unused.
const UNUSED: f64 = 0.3;
/// Threads take turns only if they spent at least this share of their time waiting on conditions.
const ON_CONDITIONS: f64 = 0.25;
/// So many cores are a part of the program's busy ones that is worth a word.
const OF_OTHERS: f64 = 0.1;
/// Standard deviations beyond what looks from outside say of a serial part.
const LIKELY: f64 = 1.0;
const SURELY: f64 = 2.0;
/// The share of those cores that threads may have wanted: where it is more, other programs had
/// them.
const WANTED: f64 = 0.85;

impl Conduct {
    pub(super) fn new(run: &Run, process: &Process, groups: &[Group<'_>]) -> Self {
        let threads = &process.threads;
        let wall = run.wall_time.max(Nanoseconds(1.0));
        let busy_cores = (threads.cpu_time / wall).min(f64::from(run.cores));
        let of_all = Evidence::of(run).busy_cores;
        let waits = waits(groups);
        let (phases, on_conditions) = Phases::of(process);
        let longest = process.conditions.iter().max_by(|a, b| a.wait.sum.total_cmp(&b.wait.sum));
        let all = threads.cpu_time + threads.think_asleep + on_conditions + waits;
        Self {
            acquisitions: groups.iter().map(Group::uses).sum(),
            peak_threads: threads.peak,
            cores: run.cores,
            busy_cores,
            beside_others: of_all - busy_cores > OF_OTHERS,
            unused_cores: (able(run, process) - busy_cores - waits / wall).max(0.0),
            condition_share: on_conditions / all.max(Nanoseconds(1.0)),
            threads_on_conditions: on_conditions / wall,
            takes_turns: take_turns(run, process, waits),
            condition_place: longest
                .filter(|condition| condition.wait.sum > Nanoseconds(0.0))
                .and_then(|condition| condition.site.first())
                .map(ToString::to_string),
            time: ProcessorTime::default(),
            barrier_rounds: phases.map_or(0.0, |phases| phases.rounds),
            barrier_threads: phases.map_or(0.0, |phases| phases.parties),
        }
    }
}

/// Whether threads waited on conditions while there were cores for them.
fn take_turns(run: &Run, process: &Process, waits: Nanoseconds<f64>) -> bool {
    let able = able(run, process);
    let wall = run.wall_time.max(Nanoseconds(1.0));
    let threads = &process.threads;
    let unused = able - (threads.cpu_time + waits) / wall;
    let on_conditions = Phases::of(process).1;
    let all = threads.cpu_time + threads.think_asleep + on_conditions + waits;
    let awake = run.outside.as_ref().filter(|outside| outside.rounds > 0);
    let awake = awake.map(|outside| outside.running as f64 / outside.rounds as f64);
    unused > UNUSED * able
        && !lacks_cores(run)
        && on_conditions > all * ON_CONDITIONS
        // Of time that no account explains nobody knows that it was waiting.
        && on_conditions > wall * (ON_CONDITIONS * unused)
        && awake.is_none_or(|awake| awake < WANTED * able)
}

/// Whether threads were seen that could run and had no core. Who lacks a core leaves none unused.
fn lacks_cores(run: &Run) -> bool {
    let short = |one: &Finding| matches!(one, Finding::NotEnoughCores { .. });
    run.times.as_ref().is_some_and(|times| times.findings.iter().any(short))
}

fn waits(groups: &[Group<'_>]) -> Nanoseconds<f64> {
    groups.iter().map(|group| group.wait.sum).sum()
}

/// Cores that there were threads for.
fn able(run: &Run, process: &Process) -> f64 {
    f64::from(run.cores).min(process.threads.peak as f64)
}

/// Time in which a single thread computed while others could not: the likely
/// value, and the value if waiting on conditions explains nothing.
///
/// While one thread computes alone, all other cores for which there are threads are unused. So the
/// serial time is the unused time divided by the number of these cores. Time that is unused for
/// another reason is subtracted first. Such reasons are threads that wait for locks or on
/// conditions, that wait at barriers because their parts are unequal or because they are waking up
/// there, or that sleep. There is one exception: threads that wait on conditions while most cores
/// are unused are waiting for the one thread that runs. In that case conditions explain nothing.
pub(super) fn serial_time(
    profile: &Profile,
    run: &Run,
    process: &Process,
    groups: &[Group<'_>],
) -> [Nanoseconds<f64>; 2] {
    let able = able(run, process);
    let others: Nanoseconds<f64> = run.processes.iter().map(|other| other.threads.cpu_time).sum();
    let busy = process.threads.cpu_time;
    if able < 2.0 || others - busy > busy * OTHERS || lacks_cores(run) {
        return [Nanoseconds(0.0); 2];
    }
    let Some(idle) = idle(profile, run, process, able) else { return [Nanoseconds(0.0); 2] };
    let (phases, on_conditions) = Phases::of(process);
    let at_barriers = phases.map_or(Nanoseconds(0.0), |p| p.uneven(run.cores) + p.waking());
    let unused = run.wall_time * able - busy - idle - waits(groups) - at_barriers;
    let most = busy.min(run.wall_time);
    let alone = |unused: Nanoseconds<f64>| (unused / (able - 1.0)).max(Nanoseconds(0.0)).min(most);
    let explained =
        if take_turns(run, process, waits(groups)) { Nanoseconds(0.0) } else { on_conditions };
    let seen = |deviations| run.wall_time * alone_at_most(run, deviations);
    [alone(unused - explained).min(seen(LIKELY)), alone(unused).min(seen(SURELY))]
}

/// An upper bound on the share of the time in which no more than one thread wanted a core. It lies
/// this many standard deviations beyond what was seen from outside. A core that another program has
/// looks unused, but a thread that waits for this core does not look idle.
///
/// The upper end of Wilson's interval (Journal of the American Statistical Association 22, 1927).
fn alone_at_most(run: &Run, deviations: f64) -> f64 {
    let Some(awake) = run.outside.as_ref().map(|outside| outside.awake) else { return 1.0 };
    if !awake.is_enough() {
        return 1.0;
    }
    let (looks, squared) = (awake.rounds as f64, deviations * deviations);
    let share = awake.one as f64 / looks;
    let spread = share * (1.0 - share) / looks + squared / (4.0 * looks * looks);
    (share + squared / (2.0 * looks) + deviations * spread.sqrt()) / (1.0 + squared / looks)
}

/// Time in which `able` cores had nothing to do because all threads slept. `None` if that was
/// often: then threads are seldom awake together, and a thread that runs alone does not make others
/// wait.
fn idle(profile: &Profile, run: &Run, process: &Process, able: f64) -> Option<Nanoseconds<f64>> {
    let confined = profile.runs.iter().skip(1).find(|run| run.cores == 1);
    if let Some(confined) = confined.filter(|_| run.cores > 1) {
        // One thread that computes is enough to keep a single core busy. What is left is sleep, or
        // time that other programs took.
        let busy: Nanoseconds<f64> =
            confined.processes.iter().map(|process| process.threads.cpu_time).sum();
        let idle = (1.0 - busy / confined.wall_time.max(Nanoseconds(1.0))).max(0.0);
        return (idle <= 1.0 - KEPT_BUSY).then_some(run.wall_time * (idle * able));
    }
    let busy = process.threads.cpu_time / run.wall_time.max(Nanoseconds(1.0));
    // Some threads sleep all the time. The surplus threads may be such threads.
    let surplus = process.threads.peak as f64 - able;
    let asleep = process.threads.think_asleep - run.wall_time * surplus;
    (busy >= KEPT_BUSY).then_some(asleep.max(Nanoseconds(0.0)))
}
