//! The processor time of a profile, divided as forecasts need it: thinking, holding, and the rest
//! that lies outside both.
//!
//! No time gets lost: the workload computes for all of the processor time, except for what the
//! simulation adds itself.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Histogram, Lock, Process};

use super::conduct::ProcessorTime;
use super::group::Group;
use super::migration::Migration;
use super::observed::Observed;

/// Processor time of acquiring and releasing a free lock, including the recorder's
/// part. A program that does nothing else was measured. It takes 20 ns where threads acquire locks in
/// quick succession and the recorder skips most of them, and 60 to 100 otherwise.
const FREE: Nanoseconds<f64> = Nanoseconds(60.0);
/// The same if a thread slept until it got the lock and another had to wake it. Measured in the
/// same way.
const CONTENDED: Nanoseconds<f64> = Nanoseconds(3_000.0);
/// If a thread left its core during a hold, to sleep or because another thread got the core, it
/// stayed away for longer than this: switching alone takes some microseconds.
const OFF_THE_CORE: Nanoseconds<f64> = Nanoseconds(20_000.0);
/// The least share of a measured hold that is left after the time for moving lines is taken off.
const LEAST_UNDISTURBED: f64 = 0.2;

/// The time for which the threads of a process computed.
pub(super) struct Busy {
    /// Stretches of computing between two sections of a thread.
    think: Observed,
    /// Computing in the exclusive and in the shared holds of each group.
    holds: Vec<[Observed; 2]>,
    pub(super) time: ProcessorTime,
}

impl Busy {
    /// `alone` is how long a thread thinks while no other thread runs, if that differs. `confined`
    /// is what the same program did on one core, if that is known.
    pub(super) fn new(
        process: &Process,
        groups: &[Group<'_>],
        migrations: &[Migration],
        alone: Option<&Histogram>,
        confined: Option<&Process>,
    ) -> Self {
        let holds = groups.iter().map(|g| [Observed::of(&g.hold), Observed::of(&g.read_hold)]);
        let all = process.threads.cpu_time.max(Nanoseconds(0.0));
        let mut busy = Self {
            think: Observed::of(&process.threads.think),
            holds: holds.collect(),
            time: ProcessorTime {
                all,
                operations: operations_time(process).min(all / 2.0),
                ..ProcessorTime::default()
            },
        };
        busy.balance(groups.iter().any(|group| group.hold_asleep > Nanoseconds(0.0)));
        if let Some(alone) = alone {
            let before = busy.think.time();
            let less = (alone.mean() * busy.think.count() / before.max(Nanoseconds(1.0))).min(1.0);
            busy.think = Observed::of(alone).lasting(before * less);
            busy.time.disturbed = before - busy.think.time();
        }
        for (group, migration) in migrations.iter().enumerate() {
            let [hold, _] = &mut busy.holds[group];
            let (before, count) = (hold.time(), hold.count());
            if before > Nanoseconds(0.0) {
                let left = 1.0 - migration.extra_hold * count / before;
                hold.stretch(left.max(LEAST_UNDISTURBED));
                busy.time.lines += before - hold.time();
            }
        }
        if let Some(confined) = confined {
            busy.leave_out_waiting(work_time(confined, process));
        }
        busy
    }

    /// Counts part of the time outside of all intervals as the price of waiting: the part that the
    /// program does not need on one core. `work` is all the work that it does there.
    fn leave_out_waiting(&mut self, work: Nanoseconds<f64>) {
        let most = (work - self.known()).max(Nanoseconds(0.0));
        let waiting = (self.time.outside - most).max(Nanoseconds(0.0));
        self.time.outside -= waiting;
        self.time.operations += waiting;
    }

    /// Makes thinking, holding and the rest add up to the processor time.
    fn balance(&mut self, holds_are_processor_time: bool) {
        let available = self.time.all - self.time.operations;
        let excess = self.known() - available;
        if excess <= Nanoseconds(0.0) {
            self.time.outside = Nanoseconds(-excess.0);
            return;
        }
        if !holds_are_processor_time {
            let before = self.known();
            self.shed_holds(excess);
            self.time.not_running = before - self.known();
        }
        let known = self.known();
        if known > available {
            // The recorder estimates many short times, and the estimates may add up to more.
            let factor = available / known;
            self.think.stretch(factor);
            self.holds.iter_mut().flatten().for_each(|hold| hold.stretch(factor));
        }
    }

    fn known(&self) -> Nanoseconds<f64> {
        let holds = self.holds.iter().flatten().map(Observed::time);
        self.think.time() + holds.sum::<Nanoseconds<f64>>()
    }

    /// Takes time off the longest holds first. Only holds so long that their holders may have left
    /// the core are shortened.
    fn shed_holds(&mut self, mut excess: Nanoseconds<f64>) {
        let mut longest: Vec<(Nanoseconds<f64>, usize, Nanoseconds<f64>)> = Vec::new();
        for (index, hold) in self.holds.iter().flatten().enumerate() {
            let long = hold.longest_first().take_while(|(length, _)| *length > OFF_THE_CORE);
            longest.extend(long.map(|(length, time)| (length, index, time)));
        }
        longest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, index, time) in longest {
            let taken = time.min(excess);
            self.holds[index / 2][index % 2].shed(taken);
            excess -= taken;
        }
    }

    /// Computing in the exclusive or the shared holds of a group.
    pub(super) fn hold(&self, group: usize, shared: bool) -> &Observed {
        &self.holds[group][usize::from(shared)]
    }

    /// Returns thinking, and computing outside of all intervals, after `serial` is taken off. A
    /// serial part lasts long. It is therefore taken from the computing outside of all intervals
    /// between locks and, if there is too little of that, from the longest of those intervals.
    pub(super) fn parallel(&self, serial: Nanoseconds<f64>) -> (Observed, Nanoseconds<f64>) {
        let from_outside = serial.min(self.time.outside);
        let mut think = self.think.clone();
        think.shed(serial - from_outside);
        (think, self.time.outside - from_outside)
    }

    /// Returns `serial`, or all of the computing outside of holds if that is less.
    pub(super) fn serial(&self, serial: Nanoseconds<f64>) -> Nanoseconds<f64> {
        serial.min(self.think.time() + self.time.outside)
    }
}

/// Estimates the program's work on one core, without lock operations, scaled to as many uses of
/// locks as `process` has.
fn work_time(confined: &Process, process: &Process) -> Nanoseconds<f64> {
    let work = confined.threads.cpu_time - operations_time(confined);
    work.max(Nanoseconds(0.0)) * uses(process) / uses(confined).max(1.0)
}

/// Returns how many times the locks of a process were taken.
pub(super) fn uses(process: &Process) -> f64 {
    process.locks.iter().map(Lock::uses).sum::<u64>() as f64
}

/// Estimates the processor time in the operations of all locks.
pub(super) fn operations_time(process: &Process) -> Nanoseconds<f64> {
    let of = |acquisitions: u64, contended: u64| {
        FREE * acquisitions as f64 + CONTENDED * contended as f64
    };
    let locks = process.locks.iter();
    locks
        .map(|lock| {
            let read =
                lock.read.as_ref().map_or(Nanoseconds(0.0), |r| of(r.acquisitions, r.contended));
            of(lock.acquisitions, lock.contended) + read
        })
        .sum()
}
