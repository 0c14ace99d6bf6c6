//! The operating system: run queues, time slices, sleeping and waking.
//!
//! Each core has a queue of ready tasks and runs them in turn, a time slice each. A core that runs
//! out of tasks takes one from the longest queue.
//!
//! A woken task goes to the core it ran on last if that is idle, else to the nearest idle core, else
//! into its old core's queue. If it has had much less of that core than the task that runs there, it
//! takes the core at once, as under Linux's completely fair scheduler. So threads that sleep now and
//! then push holders of locks off their cores, even before a time slice is over.

use std::cmp::Reverse;

use kilocore_platform::Cycles;

use crate::agenda::{Epoch, Event};
use crate::chain::Stop;
use crate::engine::Engine;
use crate::ids::{CoreId, TaskId};
use crate::outcome::Activity;
use crate::state::{Task, TaskState};
use crate::steering::Phase;

/// How many time slices less a woken task must have had than the one that runs to take its core.
/// Linux before 6.6 has 1 ms for this and 0.75 ms for its least slice, both multiplied alike on
/// larger machines. Slices end at a tick, which makes the two about equal.
const WAKE_GRANULARITY: u64 = 1;
/// How many time slices of sleep a task is credited with at the most: half of the scheduler's
/// latency, which is eight least slices, a slice being a little longer than the least.
const SLEEPERS_CREDIT: u64 = 3;

impl Engine {
    // ---- sleeping and waking --------------------------------------------------------------

    /// Makes the running task sleep, for ever or for a time. The caller suspends next.
    pub(crate) fn sleep(&mut self, timeout: Option<Cycles>) {
        let task = self.running_task();
        let now = self.now();
        let sleeper = &mut self.tasks[task];
        sleeper.state = TaskState::Asleep;
        sleeper.timed_out = false;
        sleeper.runs_at = None;
        sleeper.epoch.advance();
        let epoch = sleeper.epoch;
        if let Some(timeout) = timeout {
            self.agenda.plan(now + timeout, Event::TimedOut { task, epoch });
        }
        self.note(task, Phase::Asleep, now);
        self.chain_waits(task, if timeout.is_some() { Stop::Asleep } else { Stop::Outside }, now);
    }

    /// A task that slept wants a core, unless the event that says so is void.
    pub(crate) fn end_sleep(&mut self, task: TaskId, epoch: Epoch, time: Cycles, timed_out: bool) {
        if self.tasks[task].epoch == epoch {
            self.tasks[task].timed_out = timed_out;
            self.make_ready(task, time);
        }
    }

    fn make_ready(&mut self, task: TaskId, time: Cycles) {
        self.call_what_waits(time);
        let sleeper = &mut self.tasks[task];
        sleeper.remaining = Cycles(0);
        let home = self.home_of(task);
        self.account_run(home, time);
        let credit = self.costs.time_slice * SLEEPERS_CREDIT;
        let least = self.cores[home].queue.least_run.since(credit);
        let sleeper = &mut self.tasks[task];
        sleeper.run = sleeper.run.max(least);
        self.note(task, Phase::Ready, time);
        self.chain_wants_core(task, time);
        if let Some(core) = self.idle_core_near(home, task) {
            let delay = self.wake_core(core, time, task);
            self.start(core, task, delay);
        } else if self.takes_core(home, task) {
            self.enqueue(home, task, time);
            // From the end of the queue to its front, as the next to run.
            self.cores[home].queue.ready.rotate_right(1);
            self.preempt(home, time);
        } else {
            self.enqueue(home, task, time);
        }
    }

    /// The core itself if it is idle, else the nearest core that is, among those where the task may
    /// run. It may run on `home`.
    pub(crate) fn idle_core_near(&self, home: CoreId, task: TaskId) -> Option<CoreId> {
        if self.cores[home].task.is_none() {
            return Some(home);
        }
        let near = self.cores[home].place;
        let idle = self.cores.enumerate().filter(|(_, core)| core.task.is_none());
        let idle = idle.filter(|&(id, _)| self.may_run(task, id));
        let nearest = idle.min_by_key(|(id, core)| {
            (core.place.node != near.node, core.place.socket != near.socket, *id)
        });
        nearest.map(|(id, _)| id)
    }

    /// Whether a task that slept has had so much less of a core than the one that runs there that
    /// it takes the core.
    fn takes_core(&self, core: CoreId, task: TaskId) -> bool {
        let granularity = self.costs.time_slice * WAKE_GRANULARITY;
        self.task_on(core).is_some_and(|running| {
            !running.in_kernel() && running.run > self.tasks[task].run + granularity
        })
    }

    pub(crate) fn task_on(&self, core: CoreId) -> Option<&Task> {
        self.cores[core].task.map(|task| &self.tasks[task])
    }

    // ---- run queues -----------------------------------------------------------------------

    /// Brings what the task on a core has had of it up to date.
    pub(crate) fn account_run(&mut self, core: CoreId, time: Cycles) {
        let slot = &mut self.cores[core];
        let Some(task) = slot.task else { return };
        let runner = &mut self.tasks[task];
        runner.run += time.since(runner.run_since);
        runner.run_since = runner.run_since.max(time);
        let had = runner.run;
        let ready = slot.queue.ready.iter().map(|&ready| self.tasks[ready].run);
        slot.queue.least_run = slot.queue.least_run.max(ready.fold(had, Cycles::min));
    }

    pub(crate) fn enqueue(&mut self, core: CoreId, task: TaskId, time: Cycles) {
        self.tasks[task].state = TaskState::Queued;
        let queue = &mut self.cores[core].queue;
        queue.ready.push_back(task);
        if !queue.slice_ends {
            queue.slice_ends = true;
            let epoch = queue.slice_epoch;
            let end = time.max(queue.slice_start + queue.slice);
            self.agenda.plan(end, Event::SliceEnd { core, epoch });
        }
        if let Some(watch) = self.task_on(core).and_then(|running| running.watch) {
            self.plan_yield(core, time.max(watch.yield_at));
        }
    }

    /// Starts the first task of a core at time 0. If the core has others, they have taken turns
    /// before, and some part of the first one's slice is over.
    pub(crate) fn switch_on(&mut self, core: CoreId) {
        let Some(task) = self.cores[core].queue.ready.pop_front() else { return };
        self.start(core, task, Cycles(0));
        if !self.cores[core].queue.ready.is_empty() {
            let slice = self.agenda.below(self.costs.time_slice);
            let queue = &mut self.cores[core].queue;
            queue.slice = slice;
            let epoch = queue.slice_epoch;
            self.agenda.plan(slice, Event::SliceEnd { core, epoch });
        }
    }

    /// Puts a task on a core that is free, after `delay` of system time.
    pub(crate) fn start(&mut self, core: CoreId, task: TaskId, delay: Cycles) {
        // What the task has had counts relative to the others of its core.
        let from = self.tasks[task].core;
        let old = self.cores[from].queue.least_run;
        let slot = &mut self.cores[core];
        slot.task = Some(task);
        slot.epoch.advance();
        let since = slot.time;
        slot.time += delay;
        self.switches += 1;
        let now = slot.time;
        let runner = &mut self.tasks[task];
        runner.run = (runner.run + slot.queue.least_run).since(old);
        runner.run_since = now;
        runner.core = core;
        runner.times.add(Activity::System, delay);
        self.note_start(task, from, core, since);
        self.begin_slice(core, now);
        if self.tasks[task].watch.is_some() {
            self.resume_wait(core, task, now);
        } else {
            let runner = &mut self.tasks[task];
            runner.state = TaskState::Running;
            self.chain_runs(task, now);
            let runner = &mut self.tasks[task];
            self.cores[core].time += std::mem::take(&mut runner.remaining);
            self.continue_at_core_time(core);
        }
    }

    fn begin_slice(&mut self, core: CoreId, now: Cycles) {
        let queue = &mut self.cores[core].queue;
        queue.slice_start = now;
        queue.slice = self.costs.time_slice;
        queue.slice_epoch.advance();
        queue.slice_ends = !queue.ready.is_empty();
        if queue.slice_ends {
            let epoch = queue.slice_epoch;
            self.agenda.plan(now + self.costs.time_slice, Event::SliceEnd { core, epoch });
        }
    }

    /// Lets a task that watched a line when it lost its core look at the line again.
    fn resume_wait(&mut self, core: CoreId, task: TaskId, now: Cycles) {
        let runner = &mut self.tasks[task];
        let Some(watch) = &mut runner.watch else { return };
        watch.since = now;
        watch.yield_at = now.saturating_add(self.costs.spin_between_yields);
        let (yield_at, deadline) = (watch.yield_at, watch.deadline);
        runner.state = TaskState::Waiting;
        let epoch = runner.epoch;
        self.agenda.plan(now, Event::Recheck { task, epoch });
        self.plan_yield(core, yield_at);
        self.plan_deadline(task, deadline.max(now));
    }

    /// The task on a core has gone, and another takes its place if there is one.
    pub(crate) fn leave_core(&mut self, core: CoreId) {
        self.account_run(core, self.cores[core].time);
        let slot = &mut self.cores[core];
        let gone = slot.task.take();
        slot.epoch.advance();
        self.stop_executing(core);
        if self.steering.is_some() {
            return self.decide_next(core, gone);
        }
        let next = self.cores[core].queue.ready.pop_front().or_else(|| self.steal(core));
        if let Some(task) = next {
            self.chain_passes_core(core, gone, task);
            self.start(core, task, self.costs.context_switch);
        }
    }

    /// Takes a task from the longest queue of another core.
    fn steal(&mut self, thief: CoreId) -> Option<TaskId> {
        let others = self.cores.enumerate_mut().filter(|(core, _)| *core != thief);
        let queues = others.map(|(core, slot)| (core, &mut slot.queue.ready));
        let waiting = queues.filter(|(_, ready)| !ready.is_empty());
        let (_, longest) = waiting.max_by_key(|(core, ready)| (ready.len(), Reverse(*core)))?;
        longest.pop_back()
    }

    // ---- time slices ----------------------------------------------------------------------

    /// The planned end of a slice has come, or the moment at which a waiter offers its core.
    pub(crate) fn end_slice(&mut self, core: CoreId, epoch: Epoch, time: Cycles) {
        let queue = &self.cores[core].queue;
        if queue.slice_epoch != epoch || !queue.slice_ends {
            return;
        }
        if queue.ready.is_empty() {
            self.cores[core].queue.slice_ends = false;
        } else if self.task_on(core).is_some_and(Task::in_kernel) {
            if self.steering.is_some() {
                // The task looks at its slice when it leaves the kernel.
                return;
            }
            let soon = time + self.costs.futex_call.max(Cycles(1));
            self.agenda.plan(soon, Event::SliceEnd { core, epoch });
        } else if time >= queue.slice_start + queue.slice || self.has_waited(core, time) {
            self.preempt(core, time);
        }
    }

    /// Whether the task on a core has watched a line for so long that it offers the core to others.
    fn has_waited(&self, core: CoreId, time: Cycles) -> bool {
        let watch = self.task_on(core).and_then(|task| task.watch);
        watch.is_some_and(|watch| time >= watch.yield_at)
    }

    /// The task on a core offers it to others, at the core's time.
    pub(crate) fn give_way(&mut self, core: CoreId) {
        self.preempt(core, self.cores[core].time);
    }

    /// Takes the core away from its task, which goes to the end of the queue.
    fn preempt(&mut self, core: CoreId, time: Cycles) {
        let slot = &mut self.cores[core];
        let Some(task) = slot.task else { return };
        if slot.queue.ready.is_empty() {
            self.continue_at_core_time(core);
            return;
        }
        self.interrupt(core, task, time);
        self.cores[core].queue.ready.push_back(task);
        self.leave_core(core);
    }

    /// Stops the task on a core where it is. The core is still its own.
    pub(crate) fn interrupt(&mut self, core: CoreId, task: TaskId, time: Cycles) {
        let slot = &mut self.cores[core];
        let runner = &mut self.tasks[task];
        runner.epoch.advance();
        let watches = runner.watch.is_some();
        if let Some(watch) = &mut runner.watch {
            let now = slot.time.max(time);
            runner.times.add(watch.activity, now.since(watch.since));
            watch.since = now;
            slot.time = now;
        } else {
            // It has been charged up to the core's time already but has got only so far.
            runner.remaining = slot.time.since(time);
            slot.time = slot.time - runner.remaining;
        }
        runner.state = TaskState::Queued;
        let now = slot.time;
        self.note(task, Phase::Ready, now);
        if watches {
            self.chain_wants_core(task, now);
        } else {
            self.chain_stops(task, Stop::Ready, now);
        }
    }

    /// Whether another task could use the current core.
    pub(crate) fn others_want_core(&self) -> bool {
        !self.current_core().queue.ready.is_empty()
    }
}
