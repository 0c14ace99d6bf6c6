//! Waiting for a line to change, on a core.
//!
//! A waiter re-reads its line only when the line has been written. In between it takes no host
//! time. When a line is written, all who watch it ask for it at the same moment, and chance decides
//! in which order they are served. The engine evaluates the condition on the fiber's behalf, so that
//! waiting in vain does not switch to the fiber.

use kilocore_platform::Cycles;

use crate::agenda::{Epoch, Event};
use crate::chain::{Stop, Waits};
use crate::coherence::Access;
use crate::costs::NEVER;
use crate::engine::Engine;
use crate::ids::{LineId, ListId, TaskId};
use crate::outcome::Activity;
use crate::state::{Check, Core, TaskState, Watch};

impl Engine {
    /// Makes the running task wait for the line at `address` to change until `check` accepts, which
    /// it has just not done, or until `patience` is over. The caller suspends next.
    pub(crate) fn watch(
        &mut self,
        address: usize,
        check: Check,
        activity: Activity,
        patience: Option<Cycles>,
    ) {
        let line = self.line_at(address);
        self.note_watched(line, address);
        let since = self.now();
        let task = self.running_task();
        let yield_at = since.saturating_add(self.costs.spin_before_yield);
        let deadline = patience.map_or(NEVER, |patience| since + patience);
        let waiter = &mut self.tasks[task];
        waiter.watch = Some(Watch { line, check, activity, since, yield_at, deadline });
        waiter.state = TaskState::Waiting;
        self.chain_waits(task, Stop::Watches, since);
        self.plan_deadline(task, deadline);
        self.enlist(task, line);
        self.plan_yield(self.current, yield_at);
    }

    fn enlist(&mut self, task: TaskId, line: LineId) {
        let waiter = &mut self.tasks[task];
        if !waiter.watching {
            waiter.watching = true;
            self.memory.watch(line, task);
        }
    }

    pub(crate) fn recheck_if_waiting(&mut self, task: TaskId, epoch: Epoch, time: Cycles) {
        let waiter = &self.tasks[task];
        if waiter.epoch == epoch && waiter.state == TaskState::Waiting {
            self.recheck(task, time);
        }
    }

    /// Lets a list of waiters look at their line.
    pub(crate) fn recheck_all(&mut self, list: ListId, time: Cycles) {
        let mut alerted = std::mem::take(&mut self.alerted.lists[list]);
        for (task, epoch) in alerted.drain(..) {
            self.recheck_if_waiting(task, epoch, time);
        }
        self.alerted.lists[list] = alerted;
        self.alerted.spare.push(list);
    }

    /// A waiter re-reads its line, and goes on if its wait is over.
    fn recheck(&mut self, task: TaskId, time: Cycles) {
        let mut watch = self.tasks[task].watch.expect("a waiting task watches a line");
        let now = self.reread(task, &watch, time);
        let waited = now.since(watch.since);
        watch.since = now;
        self.tasks[task].times.add(watch.activity, waited);
        // SAFETY: the condition lies on the stack of the waiter's fiber, which is suspended and
        // keeps it alive until the wait is over. The condition cannot reach this engine, as no fiber
        // runs now: its reads, paid for above, are not charged again.
        let over = unsafe { (*watch.check)() } || now >= watch.deadline;
        if over {
            if now >= watch.deadline {
                self.chain_goes_on_by_itself(task);
            }
            self.end_wait(task, watch.line);
        } else {
            self.tasks[task].watch = Some(watch);
            self.enlist(task, watch.line);
        }
    }

    /// Charges a waiter for reading its line from `time` on. Returns when it has read it.
    fn reread(&mut self, task: TaskId, watch: &Watch, time: Cycles) -> Cycles {
        let core = self.tasks[task].core;
        let Core { place, time: own_time, .. } = self.cores[core];
        let mut asked = own_time.max(time);
        if watch.activity == Activity::LowPower {
            asked += self.costs.low_power_exit;
        }
        self.operations += 1;
        let read = match self.refer_again(watch.line, core, asked) {
            Some(referred) => referred,
            None if self.memory.hits(watch.line, place.cache, Access::Read) => {
                asked + self.costs.hit
            }
            None => {
                let line = watch.line;
                self.memory.serve(&self.costs, line, place.cache, Access::Read, asked)
                    + self.costs.hit
            }
        };
        self.cores[core].time = read;
        read
    }

    fn end_wait(&mut self, task: TaskId, line: LineId) {
        let waiter = &mut self.tasks[task];
        if std::mem::take(&mut waiter.watching) {
            self.memory.unwatch(line, task);
        }
        waiter.watch = None;
        waiter.state = TaskState::Running;
        // The end of its patience is still planned. It must not end a later wait.
        waiter.epoch.advance();
        let core = waiter.core;
        self.chain_runs(task, self.cores[core].time);
        self.continue_at_core_time(core);
    }

    /// Lets those who watch a line look at it again once it has been written.
    ///
    /// They all ask at the same moment and are served in an order that chance decides.
    pub(crate) fn alert_watchers(&mut self, line: LineId, time: Cycles) {
        let list = self.alerted.take_spare();
        let alerted = &mut self.alerted.lists[list];
        self.memory.take_watchers(line, alerted);
        alerted.retain_mut(|(task, epoch)| {
            let waiter = &mut self.tasks[*task];
            waiter.watching = false;
            *epoch = waiter.epoch;
            // One that has lost its core will look when it gets one again.
            waiter.state == TaskState::Waiting
        });
        self.end_waits_of(list);
        let alerted = &mut self.alerted.lists[list];
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

    /// The running task has written the line that those on a list watch.
    fn end_waits_of(&mut self, list: ListId) {
        if self.chains.is_none() {
            return;
        }
        for index in 0..self.alerted.lists[list].len() {
            let (task, _) = self.alerted.lists[list][index];
            let activity = self.tasks[task].watch.map(|watch| watch.activity);
            let in_kernel = activity == Some(Activity::System);
            self.chain_ends_wait(task, if in_kernel { Waits::Kernel } else { Waits::Written });
        }
    }
}
