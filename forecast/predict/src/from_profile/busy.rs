//! The processor time of a profile, as what forecasts make of it: thinking, holding, and what lies
//! outside both.
//!
//! Nothing gets lost: what the workload computes is all of the processor time, less what the
//! simulation adds anew.

use kilocore_lock_profile::{Histogram, Lock, Process};

use super::conduct::ProcessorTime;
use super::group::Group;
use super::migration::Migration;
use super::observed::Observed;

/// Processor time of taking and letting go a free lock, in nanoseconds, the recorder's part
/// included: 20 where threads take locks in quick succession and most are passed by, 60 to 100
/// elsewhere, as measured with a program that does nothing else.
const FREE_NS: f64 = 60.0;
/// The same where a thread slept for it and another had to wake it, likewise.
const CONTENDED_NS: f64 = 3_000.0;
/// A thread that was off its core in a hold, asleep or because another had taken it, was so for
/// longer than this, in nanoseconds: switching alone takes some microseconds.
const OFF_THE_CORE_NS: f64 = 20_000.0;
/// The least share of a measured hold that is left when the moving of lines is taken off.
const LEAST_UNDISTURBED: f64 = 0.2;

/// What the threads of a process computed.
pub(super) struct Busy {
    /// Between sections.
    think: Observed,
    /// In exclusive and in shared holds of each group.
    holds: Vec<[Observed; 2]>,
    pub(super) time: ProcessorTime,
}

impl Busy {
    /// `alone` is how threads think with nobody else there, where that differs; `confined` is what
    /// the same program did on one core, if that is known.
    pub(super) fn new(
        process: &Process,
        groups: &[Group<'_>],
        migrations: &[Migration],
        alone: Option<&Histogram>,
        confined: Option<&Process>,
    ) -> Self {
        let holds = groups.iter().map(|g| [Observed::of(&g.hold), Observed::of(&g.read_hold)]);
        let all_ns = process.threads.cpu_ns.max(0.0);
        let mut busy = Self {
            think: Observed::of(&process.threads.think),
            holds: holds.collect(),
            time: ProcessorTime {
                all_ns,
                operations_ns: operations_ns(process).min(all_ns / 2.0),
                ..ProcessorTime::default()
            },
        };
        busy.balance(groups.iter().any(|group| group.hold_asleep_ns > 0.0));
        if let Some(alone) = alone {
            let before = busy.think.time();
            let less = (alone.mean_ns() * busy.think.count() / before.max(1.0)).min(1.0);
            busy.think = Observed::of(alone).lasting(before * less);
            busy.time.disturbed_ns = before - busy.think.time();
        }
        for (group, migration) in migrations.iter().enumerate() {
            let [hold, _] = &mut busy.holds[group];
            let (before, count) = (hold.time(), hold.count());
            if before > 0.0 {
                let left = 1.0 - migration.extra_ns * count / before;
                hold.stretch(left.max(LEAST_UNDISTURBED));
                busy.time.lines_ns += before - hold.time();
            }
        }
        if let Some(confined) = confined {
            busy.leave_out_waiting(work_ns(confined, process));
        }
        busy
    }

    /// Takes what the program has not to do on one core for the price of waiting, as far as it lies
    /// outside all intervals. `work_ns` is all that it does there.
    fn leave_out_waiting(&mut self, work_ns: f64) {
        let most = (work_ns - self.known_ns()).max(0.0);
        let waiting = (self.time.outside_ns - most).max(0.0);
        self.time.outside_ns -= waiting;
        self.time.operations_ns += waiting;
    }

    /// Makes thinking, holding and the rest add up to the processor time.
    fn balance(&mut self, holds_are_processor_time: bool) {
        let available = self.time.all_ns - self.time.operations_ns;
        let excess = self.known_ns() - available;
        if excess <= 0.0 {
            self.time.outside_ns = -excess;
            return;
        }
        if !holds_are_processor_time {
            let before = self.known_ns();
            self.shed_holds(excess);
            self.time.not_running_ns = before - self.known_ns();
        }
        let known = self.known_ns();
        if known > available {
            // Estimates of many short times may add up to more.
            let factor = available / known;
            self.think.stretch(factor);
            self.holds.iter_mut().flatten().for_each(|hold| hold.stretch(factor));
        }
    }

    fn known_ns(&self) -> f64 {
        self.think.time() + self.holds.iter().flatten().map(Observed::time).sum::<f64>()
    }

    /// Takes time off the longest holds of all, as far as their holders may have been off the core.
    fn shed_holds(&mut self, mut excess: f64) {
        let mut longest: Vec<(f64, usize, f64)> = Vec::new();
        for (index, hold) in self.holds.iter().flatten().enumerate() {
            let long = hold.longest_first().take_while(|(length, _)| *length > OFF_THE_CORE_NS);
            longest.extend(long.map(|(length, time)| (length, index, time)));
        }
        longest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, index, time) in longest {
            let taken = time.min(excess);
            self.holds[index / 2][index % 2].shed(taken);
            excess -= taken;
        }
    }

    /// Computing in holds of a group, exclusive or shared.
    pub(super) fn hold(&self, group: usize, shared: bool) -> &Observed {
        &self.holds[group][usize::from(shared)]
    }

    /// Thinking, and computing outside, without `serial_ns` of them. A serial part lasts long: it
    /// is among what lies outside all intervals between locks, and else in the longest of them.
    pub(super) fn parallel(&self, serial_ns: f64) -> (Observed, f64) {
        let from_outside = serial_ns.min(self.time.outside_ns);
        let mut think = self.think.clone();
        think.shed(serial_ns - from_outside);
        (think, self.time.outside_ns - from_outside)
    }

    /// As much of `serial_ns` as there was computing outside of holds.
    pub(super) fn serial(&self, serial_ns: f64) -> f64 {
        serial_ns.min(self.think.time() + self.time.outside_ns)
    }
}

/// What a program does on one core besides taking locks, for as many uses of locks as `process` has.
fn work_ns(confined: &Process, process: &Process) -> f64 {
    let work = confined.threads.cpu_ns - operations_ns(confined);
    work.max(0.0) * uses(process) / uses(confined).max(1.0)
}

/// How many times the locks of a process were taken.
pub(super) fn uses(process: &Process) -> f64 {
    let of = |lock: &Lock| lock.acquisitions + lock.read.as_ref().map_or(0, |r| r.acquisitions);
    process.locks.iter().map(of).sum::<u64>() as f64
}

/// Processor time in the operations of all locks.
pub(super) fn operations_ns(process: &Process) -> f64 {
    let of = |acquisitions: u64, contended: u64| {
        acquisitions as f64 * FREE_NS + contended as f64 * CONTENDED_NS
    };
    let locks = process.locks.iter();
    locks
        .map(|lock| {
            let read = lock.read.as_ref().map_or(0.0, |r| of(r.acquisitions, r.contended));
            of(lock.acquisitions, lock.contended) + read
        })
        .sum()
}
