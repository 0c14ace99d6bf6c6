//! Futexes, as the kernel sees them.
//!
//! A futex has a hash bucket whose lock is a line of memory like any other, so that many callers
//! queue for it.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

use kilocore_platform::{Cycles, Padded};

use crate::agenda::Event;
use crate::chain::Waits;
use crate::coherence::{Access, FIRST_ADDRESS};
use crate::engine::Engine;
use crate::ids::{Id, LineId, TaskId};
use crate::outcome::Activity;
use crate::state::{LockWords, TaskState};

/// Addresses from here on are never those of data: hash buckets live there.
const BUCKETS: usize = 3 << 61;
/// The buckets of words in regions begin here. They go by the address, as lines of regions change numbers.
const BUCKETS_OF_REGIONS: usize = 7 << 60;
/// Each line has a bucket to itself. The kernel's hash table has 256 buckets for each core, so that
/// collisions are rare.
const BUCKET_SHIFT: u32 = 6;
/// The part of a futex call that the bucket's lock is held.
const BUCKET_SHARE: u64 = 4;

impl Engine {
    /// The line of a futex's hash bucket.
    pub(crate) fn bucket(&mut self, address: usize) -> LineId {
        let bucket = match address.checked_sub(FIRST_ADDRESS) {
            Some(offset) => BUCKETS_OF_REGIONS + (offset >> BUCKET_SHIFT << BUCKET_SHIFT),
            None => BUCKETS + (self.line_at(address).index() << BUCKET_SHIFT),
        };
        self.line_at(bucket)
    }

    /// The lock of a futex's hash bucket, if the kernel's is a ticket lock. It lies there for as
    /// long as the engine lives.
    pub(crate) fn bucket_lock(&mut self, address: usize) -> Option<NonNull<LockWords>> {
        if !self.costs.shared_bucket {
            return None;
        }
        // The key is the bucket's line. The host's allocator may hand out the same address again,
        // and whether it does must not matter.
        let bucket = self.bucket(address);
        let make = || Box::new(Padded([AtomicU32::new(0), AtomicU32::new(0)]));
        let words: &LockWords = self.futexes.locks.entry(bucket).or_insert_with(make);
        Some(NonNull::from(words))
    }

    /// Has a futex's hash bucket for a moment, in a kernel whose callers queue apart from one
    /// another.
    pub(crate) fn pass_bucket(&mut self, bucket: LineId) {
        self.access(bucket, Access::Rmw);
        let locked = Cycles(self.costs.futex_call.0 / BUCKET_SHARE);
        self.memory.occupy(bucket, self.now() + locked);
    }

    /// Makes the running task sleep on a futex. The caller suspends next.
    pub(crate) fn sleep_on(&mut self, address: usize, timeout: Option<Cycles>) {
        let task = self.running_task();
        self.futexes.sleepers.entry(address).or_default().push_back(task);
        self.sleep(timeout);
    }

    /// Takes a task off a futex again when its time is up.
    pub(crate) fn leave_futex(&mut self, address: usize, task: TaskId) {
        let sleepers = &mut self.futexes.sleepers;
        let known = sleepers.get(&address).is_some_and(|here| here.contains(&task));
        // It may have been moved to another futex meanwhile.
        let here = match known {
            true => sleepers.get_mut(&address),
            false => sleepers.values_mut().find(|here| here.contains(&task)),
        };
        if let Some(here) = here {
            here.retain(|&sleeper| sleeper != task);
        }
    }

    /// Wakes tasks that sleep on a futex, oldest first, and returns how many.
    pub(crate) fn wake(&mut self, address: usize, count: u32) -> u32 {
        let mut woken = 0;
        while woken < count {
            let sleepers = self.futexes.sleepers.get_mut(&address);
            let Some(task) = sleepers.and_then(VecDeque::pop_front) else { break };
            self.end_wait_of(task);
            woken += 1;
        }
        woken
    }

    /// Wakes a task that sleeps for a time. Whether it does.
    pub(crate) fn wake_sleeper(&mut self, task: TaskId) -> bool {
        let sleeps = self.tasks[task].state == TaskState::Asleep;
        if sleeps {
            self.end_wait_of(task);
        }
        sleeps
    }

    /// The running task wakes another one, which takes its time.
    fn end_wait_of(&mut self, task: TaskId) {
        let cost = self.prepare_wake(task);
        self.pass(Activity::System, cost);
        self.wake_task(task);
        self.chain_ends_wait(task, Waits::Woken);
    }

    /// Lets the tasks that sleep on a futex sleep on another one, behind those that do, but no more than `count`.
    /// Returns how many.
    pub(crate) fn requeue(&mut self, from: usize, to: usize, count: u32) -> u32 {
        let Some(sleepers) = self.futexes.sleepers.get_mut(&from) else { return 0 };
        let moved = sleepers.len().min(count as usize);
        let moving: Vec<TaskId> = sleepers.drain(..moved).collect();
        self.futexes.sleepers.entry(to).or_default().extend(moving);
        moved as u32
    }

    /// Lets a task that sleeps go on, at the time of the current core.
    pub(crate) fn wake_task(&mut self, task: TaskId) {
        let now = self.now();
        let sleeper = &mut self.tasks[task];
        if sleeper.state == TaskState::Asleep {
            sleeper.epoch.advance();
            let epoch = sleeper.epoch;
            self.agenda.plan(now, Event::Woken { task, epoch });
        } else {
            // Its time was up, but it has not run since. The wake-up counts, as in Linux.
            sleeper.timed_out = false;
        }
    }
}
