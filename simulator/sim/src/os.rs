//! The operating system: run queues, time slices, sleeping and waking.
//!
//! Each core has a queue of ready tasks and runs them in turn, a time slice each. A woken task
//! goes to the core it ran on last if that is idle, else to the nearest idle core, else into its
//! old core's queue; if it has had much less of that core than the task that runs there, it takes
//! the core at once, as under Linux's completely fair scheduler. That is how threads that sleep now
//! and then push holders of locks off their cores, time slices or not. A core that runs out of tasks takes one from the longest queue. A futex has
//! a hash bucket whose lock is a line of memory like any other, so that many callers queue for it.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::agenda::{Epoch, Event};
use crate::coherence::{Access, LineId};
use crate::costs::NEVER;
use crate::engine::{Core, Engine, State};
use crate::kernel_lock::KernelLock;
use crate::outcome::Activity;

/// The tasks that are ready to run on a core, and its time slice.
#[derive(Debug)]
pub(crate) struct RunQueue {
    ready: VecDeque<u32>,
    slice_start: u64,
    /// Changes whenever the end of the slice that has been scheduled becomes void.
    slice_epoch: Epoch,
    slice_ends: bool,
    /// How long the slice under way may last.
    slice: u64,
    /// What the task that has had least of the core has had, as far as that is known: it only
    /// grows.
    least_run: u64,
}

impl RunQueue {
    pub(crate) fn new() -> Self {
        Self {
            ready: VecDeque::new(),
            slice_start: 0,
            slice_epoch: Epoch::default(),
            slice_ends: false,
            slice: 0,
            least_run: 0,
        }
    }

    /// Adds a task that is ready from the beginning.
    pub(crate) fn push(&mut self, task: u32) {
        self.ready.push_back(task);
    }
}

/// Tasks that sleep on each futex, by address.
#[derive(Debug, Default)]
pub(crate) struct Futexes {
    sleepers: FxHashMap<usize, VecDeque<u32>>,
    /// The locks of their buckets, where callers wait for them as for a ticket lock.
    locks: FxHashMap<LineId, Box<KernelLock>>,
}

/// Addresses from here on are never those of data: hash buckets live there.
const BUCKETS: usize = 1 << 62;
/// The kernel's hash table has 256 buckets per core; colliding addresses are not interesting.
const BUCKET_SHIFT: u32 = 6;
/// How many time slices less a woken task must have had than the one that runs to take its core.
/// Linux before 6.6 has 1 ms for this and 0.75 ms for its least slice, both multiplied alike on
/// larger machines; slices end at a tick, which makes the two about equal.
const WAKE_GRANULARITY: u64 = 1;
/// How many time slices of sleep a task is credited with at the most: half of the scheduler's
/// latency, which is eight least slices, a slice being a little longer than the least.
const SLEEPERS_CREDIT: u64 = 3;
/// The part of a futex call that the bucket's lock is held.
const BUCKET_SHARE: u64 = 4;

impl Engine {
    // ---- futexes --------------------------------------------------------------------------

    /// The line of a futex's hash bucket.
    pub(crate) fn bucket(&mut self, address: usize) -> LineId {
        let node = self.cores[self.current as usize].place.node;
        let key = self.memory.line_at(address, self.costs.line_shift, node).0 as usize;
        self.memory.line_at(BUCKETS + (key << BUCKET_SHIFT), self.costs.line_shift, node)
    }

    /// The lock of a futex's hash bucket, if the kernel's is a ticket lock.
    pub(crate) fn bucket_lock(&mut self, address: usize) -> Option<*const KernelLock> {
        if !self.costs.shared_bucket {
            return None;
        }
        // By the bucket's line and not by the address, which the host's allocator may give out
        // again: whether it does must not matter.
        let bucket = self.bucket(address);
        let make = || Box::new(KernelLock::new());
        Some(&raw const **self.futexes.locks.entry(bucket).or_insert_with(make))
    }

    /// Enters a futex system call: the cost of the call, and the bucket's lock.
    pub(crate) fn enter_futex(&mut self, bucket: LineId) {
        self.access(bucket, Access::Rmw);
        let locked = self.costs.futex_call / BUCKET_SHARE;
        let now = self.now();
        self.memory.occupy(bucket, now + locked);
    }

    /// Makes the running task sleep on a futex; the caller suspends next.
    pub(crate) fn sleep_on(&mut self, address: usize, timeout: Option<u64>) {
        let task = self.running_task();
        self.futexes.sleepers.entry(address).or_default().push_back(task);
        self.sleep(timeout);
    }

    /// Makes the running task sleep, for ever or for a time; the caller suspends next.
    pub(crate) fn sleep(&mut self, timeout: Option<u64>) {
        let task = self.running_task();
        let now = self.now();
        let sleeper = &mut self.tasks[task as usize];
        sleeper.state = State::Asleep;
        sleeper.timed_out = false;
        sleeper.epoch.advance();
        let epoch = sleeper.epoch;
        if let Some(timeout) = timeout {
            self.agenda.plan(now + timeout, Event::TimedOut { task, epoch });
        }
    }

    /// Takes a task off a futex again when its time is up.
    pub(crate) fn leave_futex(&mut self, address: usize, task: u32) {
        if let Some(sleepers) = self.futexes.sleepers.get_mut(&address) {
            sleepers.retain(|&sleeper| sleeper != task);
        }
    }

    /// Wakes tasks that sleep on a futex, oldest first; gives their number.
    pub(crate) fn wake(&mut self, address: usize, count: u32) -> u32 {
        let mut woken = 0;
        while woken < count {
            let sleepers = self.futexes.sleepers.get_mut(&address);
            let Some(task) = sleepers.and_then(VecDeque::pop_front) else { break };
            self.pass(Activity::System, self.costs.wake);
            let now = self.now();
            let sleeper = &mut self.tasks[task as usize];
            sleeper.epoch.advance();
            let epoch = sleeper.epoch;
            self.agenda.plan(now, Event::Woken { task, epoch });
            woken += 1;
        }
        woken
    }

    // ---- scheduling -----------------------------------------------------------------------

    /// A task that slept wants a core.
    pub(crate) fn make_ready(&mut self, task: u32, time: u64, timed_out: bool) {
        let sleeper = &mut self.tasks[task as usize];
        sleeper.timed_out = timed_out;
        sleeper.remaining = 0;
        let home = sleeper.core;
        self.account_run(home, time);
        let limit = self.costs.time_slice * SLEEPERS_CREDIT;
        let least = self.cores[home as usize].queue.least_run.saturating_sub(limit);
        let sleeper = &mut self.tasks[task as usize];
        sleeper.run = sleeper.run.max(least);
        if let Some(core) = self.idle_core_near(home) {
            let slot = &mut self.cores[core as usize];
            let deep = time.saturating_sub(slot.time) > self.costs.deep_idle_after;
            slot.time = slot.time.max(time);
            let exit = if deep { self.costs.deep_idle_exit } else { 0 };
            self.start(core, task, self.costs.wake_latency + exit);
        } else if self.takes_core(home, task) {
            self.enqueue(home, task, time);
            let ready = &mut self.cores[home as usize].queue.ready;
            ready.rotate_right(1);
            self.preempt(home, time);
        } else {
            self.enqueue(home, task, time);
        }
    }

    /// Whether a task that slept has had so much less of a core than the one that runs there that
    /// it takes the core.
    fn takes_core(&self, core: u32, task: u32) -> bool {
        if self.in_kernel(core) {
            return false;
        }
        let granularity = self.costs.time_slice * WAKE_GRANULARITY;
        let running = self.cores[core as usize].task.map(|running| &self.tasks[running as usize]);
        running.is_some_and(|running| {
            !running.in_kernel && running.run > self.tasks[task as usize].run + granularity
        })
    }

    /// Brings what the task on a core has had of it up to date.
    fn account_run(&mut self, core: u32, time: u64) {
        let slot = &mut self.cores[core as usize];
        let Some(task) = slot.task else { return };
        let runner = &mut self.tasks[task as usize];
        runner.run += time.saturating_sub(runner.run_since);
        runner.run_since = runner.run_since.max(time);
        let had = runner.run;
        let ready = slot.queue.ready.iter().map(|&ready| self.tasks[ready as usize].run);
        slot.queue.least_run = slot.queue.least_run.max(ready.fold(had, u64::min));
    }

    fn idle_core_near(&self, home: u32) -> Option<u32> {
        if self.cores[home as usize].task.is_none() {
            return Some(home);
        }
        let near = self.cores[home as usize].place;
        let idle = |(_, core): &(usize, &Core)| core.task.is_none();
        self.cores
            .iter()
            .enumerate()
            .filter(idle)
            .min_by_key(|(index, core)| {
                (core.place.node != near.node, core.place.socket != near.socket, *index)
            })
            .map(|(index, _)| index as u32)
    }

    fn enqueue(&mut self, core: u32, task: u32, time: u64) {
        self.tasks[task as usize].state = State::Queued;
        let queue = &mut self.cores[core as usize].queue;
        queue.ready.push_back(task);
        if !queue.slice_ends {
            queue.slice_ends = true;
            let epoch = queue.slice_epoch;
            let end = time.max(queue.slice_start + queue.slice);
            self.agenda.plan(end, Event::SliceEnd { core, epoch });
        }
        let running = self.cores[core as usize].task.map(|running| &self.tasks[running as usize]);
        if let Some(watch) = running.and_then(|running| running.watch) {
            self.plan_yield(core, time.max(watch.yield_at));
        }
    }

    /// A task that watches a line on a core that others want offers it to them after a while, as
    /// [`Platform::wait_until`](kilocore_platform::Platform::wait_until) says.
    pub(crate) fn plan_yield(&mut self, core: u32, time: u64) {
        let queue = &self.cores[core as usize].queue;
        if !queue.ready.is_empty() && time < NEVER {
            let epoch = queue.slice_epoch;
            self.agenda.plan(time, Event::SliceEnd { core, epoch });
        }
    }

    /// Puts a task on a core that is free, after `delay` of system time.
    fn start(&mut self, core: u32, task: u32, delay: u64) {
        let slot = &mut self.cores[core as usize];
        slot.task = Some(task);
        slot.epoch.advance();
        slot.time += delay;
        self.switches += 1;
        let from = self.tasks[task as usize].core;
        let started = slot.time;
        // What it has had counts relative to the others of its core.
        let (old, new) =
            (self.cores[from as usize].queue.least_run, self.cores[core as usize].queue.least_run);
        let slot = &mut self.cores[core as usize];
        let runner = &mut self.tasks[task as usize];
        runner.run = (runner.run + new).saturating_sub(old);
        runner.run_since = started;
        runner.core = core;
        runner.times.add(Activity::System, delay);
        let queue = &mut slot.queue;
        queue.slice_start = slot.time;
        queue.slice = self.costs.time_slice;
        queue.slice_epoch.advance();
        queue.slice_ends = !queue.ready.is_empty();
        if queue.slice_ends {
            let (end, epoch) = (slot.time + self.costs.time_slice, queue.slice_epoch);
            self.agenda.plan(end, Event::SliceEnd { core, epoch });
        }
        let now = self.cores[core as usize].time;
        let runner = &mut self.tasks[task as usize];
        if let Some(watch) = &mut runner.watch {
            watch.since = now;
            watch.yield_at = now.saturating_add(self.costs.spin_between_yields);
            let (yield_at, deadline) = (watch.yield_at, watch.deadline);
            runner.state = State::Waiting;
            let epoch = runner.epoch;
            self.agenda.plan(now, Event::Recheck { task, epoch });
            self.plan_yield(core, yield_at);
            self.plan_deadline(task, deadline.max(now));
        } else {
            runner.state = State::Running;
            let remaining = std::mem::take(&mut runner.remaining);
            self.cores[core as usize].time += remaining;
            self.continue_at_core_time(core);
        }
    }

    /// Starts the first task of a core at time 0. If it has others, they have taken turns before:
    /// some part of the first one's slice is over.
    pub(crate) fn switch_on(&mut self, core: u32) {
        if let Some(task) = self.cores[core as usize].queue.ready.pop_front() {
            self.start(core, task, 0);
            if !self.cores[core as usize].queue.ready.is_empty() {
                let slice = self.agenda.below(self.costs.time_slice);
                let queue = &mut self.cores[core as usize].queue;
                queue.slice = slice;
                let epoch = queue.slice_epoch;
                self.agenda.plan(slice, Event::SliceEnd { core, epoch });
            }
        }
    }

    /// The task on a core has gone; another takes its place.
    pub(crate) fn leave_core(&mut self, core: u32) {
        self.account_run(core, self.cores[core as usize].time);
        let slot = &mut self.cores[core as usize];
        slot.task = None;
        slot.epoch.advance();
        let next = slot.queue.ready.pop_front().or_else(|| self.steal(core));
        if let Some(task) = next {
            self.start(core, task, self.costs.context_switch);
        }
    }

    /// Takes a task from the longest queue that belongs to a busy core.
    fn steal(&mut self, thief: u32) -> Option<u32> {
        let (victim, core) = self
            .cores
            .iter_mut()
            .enumerate()
            .filter(|(index, core)| *index != thief as usize && !core.queue.ready.is_empty())
            .max_by_key(|(index, core)| (core.queue.ready.len(), std::cmp::Reverse(*index)))?;
        debug_assert_ne!(victim, thief as usize);
        core.queue.ready.pop_back()
    }

    pub(crate) fn end_slice(&mut self, core: u32, epoch: Epoch, time: u64) {
        let queue = &self.cores[core as usize].queue;
        if queue.slice_epoch != epoch || !queue.slice_ends {
            return;
        }
        if queue.ready.is_empty() {
            self.cores[core as usize].queue.slice_ends = false;
        } else if self.in_kernel(core) {
            self.agenda.plan(time + self.costs.futex_call.max(1), Event::SliceEnd { core, epoch });
        } else if time >= queue.slice_start + queue.slice || self.has_waited(core, time) {
            self.preempt(core, time);
        }
    }

    fn in_kernel(&self, core: u32) -> bool {
        let task = self.cores[core as usize].task;
        task.is_some_and(|task| self.tasks[task as usize].in_kernel)
    }

    /// Whether the task on a core has watched a line for so long that it offers the core to others.
    fn has_waited(&self, core: u32, time: u64) -> bool {
        let task = self.cores[core as usize].task.map(|task| &self.tasks[task as usize]);
        task.and_then(|task| task.watch).is_some_and(|watch| time >= watch.yield_at)
    }

    /// Takes the core away from its task, which goes to the end of the queue.
    pub(crate) fn preempt(&mut self, core: u32, time: u64) {
        let slot = &mut self.cores[core as usize];
        let Some(task) = slot.task else { return };
        if slot.queue.ready.is_empty() {
            self.continue_at_core_time(core);
            return;
        }
        let runner = &mut self.tasks[task as usize];
        runner.epoch.advance();
        if let Some(watch) = &mut runner.watch {
            let now = slot.time.max(time);
            runner.times.add(watch.activity, now.saturating_sub(watch.since));
            watch.since = now;
            slot.time = now;
        } else {
            // It has been charged up to the core's time already but has got only so far.
            runner.remaining = slot.time.saturating_sub(time);
            slot.time -= runner.remaining;
        }
        runner.state = State::Queued;
        slot.queue.ready.push_back(task);
        self.leave_core(core);
    }

    /// Whether another task could use the current core.
    pub(crate) fn others_want_core(&self) -> bool {
        !self.cores[self.current as usize].queue.ready.is_empty()
    }
}
