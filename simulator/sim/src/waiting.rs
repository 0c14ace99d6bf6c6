//! Waiting for a line to change, on a core.
//!
//! A waiter re-reads its line only when the line has been written; in between it takes no host
//! time. When a line is written, all who watch it ask for it at the same moment and are served in
//! an order that chance decides. The condition is evaluated by the engine, on the fiber's behalf,
//! so that waiting in vain does not switch to the fiber.

use crate::agenda::{Epoch, Event};
use crate::coherence::{Access, LineId};
use crate::engine::{Engine, State};
use crate::outcome::Activity;

/// The condition of a waiter: reads the word and says whether the wait is over.
pub(crate) type Check = *mut dyn FnMut() -> bool;

/// A wait for a line to change.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    pub(crate) line: LineId,
    pub(crate) check: Check,
    pub(crate) activity: Activity,
    /// Since when the time has not been accounted for.
    pub(crate) since: u64,
    /// When it offers its core to others.
    pub(crate) yield_at: u64,
    /// When it gives up.
    pub(crate) deadline: u64,
}

/// Lists of waiters that will look at their line at the same moment, by number.
#[derive(Debug, Default)]
pub(crate) struct AlertedLists {
    lists: Vec<Vec<(u32, Epoch)>>,
    /// Lists that are free, and empty.
    spare: Vec<u32>,
}

impl AlertedLists {
    fn take_spare(&mut self) -> u32 {
        self.spare.pop().unwrap_or_else(|| {
            self.lists.push(Vec::new());
            self.lists.len() as u32 - 1
        })
    }
}

impl Engine {
    /// Makes the running task wait for a line to change until `check` accepts; it has just
    /// refused; or until `patience` is over, if it has an end. The caller suspends next.
    pub(crate) fn watch(
        &mut self,
        line: LineId,
        check: Check,
        activity: Activity,
        patience: Option<u64>,
    ) {
        let since = self.now();
        let task = self.running_task();
        let waiter = &mut self.tasks[task as usize];
        let yield_at = since.saturating_add(self.costs.spin_before_yield);
        let deadline = patience.map_or(u64::MAX, |patience| since + patience);
        waiter.watch = Some(Watch { line, check, activity, since, yield_at, deadline });
        waiter.state = State::Waiting;
        self.plan_deadline(task, deadline);
        self.enlist(task, line);
        self.plan_yield(self.current, yield_at);
    }

    /// Lets a waiter look at its line, and at the time, when its patience ends.
    pub(crate) fn plan_deadline(&mut self, task: u32, deadline: u64) {
        if deadline < u64::MAX {
            let epoch = self.tasks[task as usize].epoch;
            self.agenda.plan(deadline, Event::Recheck { task, epoch });
        }
    }

    fn enlist(&mut self, task: u32, line: LineId) {
        let waiter = &mut self.tasks[task as usize];
        if !waiter.watching {
            waiter.watching = true;
            self.memory.watch(line, task);
        }
    }

    /// A waiter re-reads its line.
    fn recheck(&mut self, task: u32, time: u64) {
        let waiter = &mut self.tasks[task as usize];
        let mut watch = waiter.watch.expect("a waiting task watches a line");
        let index = waiter.core as usize;
        let wake = if watch.activity == Activity::LowPower { self.costs.low_power_exit } else { 0 };
        let core = &mut self.cores[index];
        let asked = core.time.max(time) + wake;
        self.operations += 1;
        let done = if self.memory.hits(watch.line, core.place.cache, Access::Read) {
            asked
        } else {
            self.memory.serve(&self.costs, watch.line, core.place.cache, Access::Read, asked)
        };
        core.time = done + self.costs.hit;
        let waited = core.time.saturating_sub(watch.since);
        watch.since = core.time;
        self.tasks[task as usize].times.add(watch.activity, waited);
        // SAFETY: the condition lies on the stack of the waiter's fiber, which is suspended and
        // keeps it alive until the wait is over. It cannot reach this engine: `CURRENT` is null
        // while no fiber runs, so that its reads, paid for above, are not charged again.
        let over = unsafe { (*watch.check)() } || self.cores[index].time >= watch.deadline;
        let waiter = &mut self.tasks[task as usize];
        if over {
            if std::mem::take(&mut waiter.watching) {
                self.memory.unwatch(watch.line, task);
            }
            let waiter = &mut self.tasks[task as usize];
            waiter.watch = None;
            waiter.state = State::Running;
            self.continue_at_core_time(index as u32);
        } else {
            waiter.watch = Some(watch);
            self.enlist(task, watch.line);
        }
    }

    /// Lets those who watch a line look at it again once it has been written.
    ///
    /// They all ask at the same moment and are served in an order that chance decides.
    pub(crate) fn alert_watchers(&mut self, line: LineId, time: u64) {
        let list = self.alerted.take_spare();
        let alerted = &mut self.alerted.lists[list as usize];
        self.memory.take_watchers(line, alerted);
        alerted.retain_mut(|(task, epoch)| {
            let waiter = &mut self.tasks[*task as usize];
            waiter.watching = false;
            *epoch = waiter.epoch;
            // One that has lost its core will look when it gets one again.
            waiter.state == State::Waiting
        });
        match alerted[..] {
            [] => {}
            [(task, epoch)] => {
                alerted.clear();
                self.agenda.plan(time, Event::Recheck { task, epoch });
            }
            _ => {
                self.agenda.shuffle(alerted);
                self.agenda.plan(time, Event::RecheckAll { list });
                return;
            }
        }
        self.alerted.spare.push(list);
    }

    /// Lets a list of waiters look at their line.
    pub(crate) fn recheck_all(&mut self, list: u32, time: u64) {
        let mut alerted = std::mem::take(&mut self.alerted.lists[list as usize]);
        for (task, epoch) in alerted.drain(..) {
            self.recheck_if_waiting(task, epoch, time);
        }
        self.alerted.lists[list as usize] = alerted;
        self.alerted.spare.push(list);
    }

    pub(crate) fn recheck_if_waiting(&mut self, task: u32, epoch: Epoch, time: u64) {
        let waiter = &self.tasks[task as usize];
        if waiter.epoch == epoch && waiter.state == State::Waiting {
            self.recheck(task, time);
        }
    }
}
