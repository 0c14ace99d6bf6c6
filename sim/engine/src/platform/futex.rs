//! Sleeping on a word until another task wakes the sleeper: the calls of a futex.

use std::ptr::NonNull;

use kilocore_platform::{Atomic, Cycles, Nanos, Ordering, Parked};

use super::charge::give_way_to_earlier;
use super::words::SimU32;
use crate::costs::LONGEST_STEP;
use crate::current::{suspend, with_engine};
use crate::engine::Engine;
use crate::kernel_lock::KernelLock;
use crate::outcome::Activity;
use crate::state::{Intent, LockWords};

pub(super) fn park(cell: &SimU32, expected: u32, timeout: Option<Nanos>) -> Parked {
    let address = std::ptr::from_ref(cell).addr();
    let changed = || cell.load(Ordering::SeqCst) != expected;
    park_if(address, changed, |engine| timeout.map(|timeout| in_cycles(engine, timeout)))
}

/// Sleeps on the word at an address unless it has `changed`.
pub(crate) fn park_if(
    address: usize,
    changed: impl FnOnce() -> bool,
    timeout: impl FnOnce(&Engine) -> Option<Cycles>,
) -> Parked {
    let bucket = Bucket::enter(address);
    let changed = changed();
    // Nobody can come between this and going to sleep: the lock is free from the store on, and no
    // other task runs before this one suspends.
    bucket.leave();
    if changed {
        return Parked::Changed;
    }
    let asleep = with_engine(|engine| {
        let timeout = timeout(engine).map(|timeout| timeout.min(LONGEST_STEP));
        engine.sleep_on(address, timeout);
    });
    if asleep.is_none() {
        return Parked::Woken;
    }
    suspend(Intent::Sleep);
    let timed_out = with_engine(|engine| {
        let task = engine.running_task();
        let timed_out = engine.tasks[task].timed_out;
        if timed_out {
            engine.leave_futex(address, task);
        }
        timed_out
    });
    if timed_out == Some(true) { Parked::TimedOut } else { Parked::Woken }
}

pub(super) fn unpark(cell: *const SimU32, count: u32) -> u32 {
    unpark_at(cell.addr(), count)
}

/// Wakes so many who sleep on the word at an address, and returns how many did.
pub(crate) fn unpark_at(address: usize, count: u32) -> u32 {
    let bucket = Bucket::enter(address);
    let woken = with_engine(|engine| engine.wake(address, count)).unwrap_or(0);
    bucket.leave();
    woken
}

/// Wakes so many who sleep on one word, and lets at most `most` others sleep on another one.
pub(crate) fn requeue(from: usize, wake: u32, to: usize, most: u32) -> Requeued {
    let bucket = Bucket::enter(from);
    let counts = with_engine(|engine| (engine.wake(from, wake), engine.requeue(from, to, most)));
    bucket.leave();
    let (woken, moved) = counts.unwrap_or_default();
    Requeued { woken, moved }
}

fn in_cycles(engine: &Engine, Nanos(ns): Nanos) -> Cycles {
    Cycles((ns as f64 * engine.costs.clock_ghz) as u64)
}

/// What became of those that slept on a futex from which some were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requeued {
    /// How many were woken.
    pub woken: u32,
    /// How many sleep on the other futex now.
    pub moved: u32,
}

/// A futex's hash bucket that the running task has entered. It has the bucket's lock, if that is
/// one to wait for.
struct Bucket {
    lock: Option<NonNull<LockWords>>,
}

impl Bucket {
    /// Enters a futex system call on the word at `address`: takes the cost of the call, and the
    /// lock of the word's hash bucket.
    fn enter(address: usize) -> Self {
        give_way_to_earlier();
        let found = with_engine(|engine| {
            engine.pass(Activity::System, engine.costs.futex_call);
            (engine.bucket(address), engine.bucket_lock(address))
        });
        let Some((line, lock)) = found else { return Self { lock: None } };
        give_way_to_earlier();
        let bucket = Self { lock };
        match bucket.lock() {
            Some(lock) => lock.acquire(),
            None => drop(with_engine(|engine| engine.pass_bucket(line))),
        }
        bucket
    }

    fn leave(self) {
        if let Some(lock) = self.lock() {
            lock.release();
        }
    }

    fn lock(&self) -> Option<KernelLock<'_>> {
        // SAFETY: the engine keeps the words of each lock for as long as it lives, in a box of their
        // own, and never makes a unique reference to them. It lives as long as its fibers, one of
        // which has this bucket on its stack.
        let words = self.lock.map(|words| unsafe { words.as_ref() });
        words.map(KernelLock::new)
    }
}
