//! Time off the processor: for how long a thread did not run during a long interval, and why.
//!
//! Holds and think times are measured as time on the processor. Most intervals are short, and the
//! thread ran all the time. Only for a long interval is it worth a system call to read the thread's
//! processor time. The thread was *away* for the time that has passed since the last such reading,
//! less the processor time, and less the time that it is known to have waited for locks, conditions
//! and barriers. This time is assigned to the present interval.
//!
//! If the thread gave up its core voluntarily, it slept. Otherwise it was ready to run and others
//! had its core. That depends on the machine and not on the program. If a thread slept and then
//! waited for a core, both count as sleep. Only a file that the kernel keeps for each thread could
//! tell the two apart, and a program that closes files that it did not open would notice if it were
//! opened here.
//!
//! # Never more than there was
//! A timed section stands for the sections that were not timed. So a long section among many short
//! ones stands for more time than has passed, if it happens to be drawn. The thread's processor
//! time limits what is counted: an interval never stands for more time than the thread has run and
//! that has not been counted yet as holding, thinking or spinning. Long sections that were not
//! drawn leave such time over, and those that are drawn use it. If an interval is denied time
//! because it came early, a later one gets it. So nothing is lost on average.
//!
//! Short intervals are limited too, because timing makes a section a little longer and sometimes
//! costs it the lock's cache line. For sleep, the recording contains the total, and the sleep that
//! was seen in timed sections, with their weights. The latter tells how the total is divided.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::LockBlock;

use crate::debt::Debt;
use crate::recorder::Recorder;
use crate::{clock, confined};

/// Intervals of this number of cycles (about 20 µs) or more are examined closely.
pub(crate) const LONG: u64 = 1 << 16;

/// Intervals that stand for this number of cycles or more are examined closely, too.
const HEAVY: u64 = 4 * LONG;

/// If a thread takes locks, its processor time is read at least once in this number of cycles
/// (about a millisecond). So the time away in one interval is not assigned to another.
const STALE: u64 = 1 << 21;

/// Less than this number of cycles cannot be distinguished from the resolution of the clocks.
const GRAIN: u64 = 1 << 13;

/// Time that a thread did not run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Away {
    /// The time in cycles.
    pub(crate) cycles: u64,
    /// Whether the thread gave up its core voluntarily.
    pub(crate) by_will: bool,
}

impl Away {
    const NONE: Self = Self { cycles: 0, by_will: false };
}

/// Returns whether an interval that stands for `weight` intervals is examined closely.
#[inline(always)]
pub(crate) fn is_notable(cycles: u64, weight: u32) -> bool {
    cycles >= LONG || (weight > 1 && cycles * u64::from(weight) >= HEAVY)
}

impl Recorder {
    /// Returns whether the thread's processor time should be read again at `now`, because the last
    /// reading is too long ago.
    #[inline(always)]
    pub(crate) fn is_stale(self, now: u64) -> bool {
        now.saturating_sub(self.thread.mark_cycles.get()) >= STALE
    }

    /// Returns how long the thread was away between the last call of this function and `now`.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(self, now: u64) -> Away {
        if confined::is_confined() {
            return Away::NONE;
        }
        kilocore_preload_common::errno::preserved(|| self.stamp(false));
        let thread = self.thread;
        let rate = self.state().rate.load(Ordering::Relaxed);
        if rate == 0 {
            return Away::NONE;
        }
        let cpu_ns = clock::system_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        let (ran, cycles) = self.since_settled(now, cpu_ns, rate);
        thread.mark_cpu_ns.set(cpu_ns);
        thread.mark_cycles.set(now);
        thread.waited.set(0);
        thread.ran.set(thread.ran.get() + ran);
        if cycles < GRAIN {
            return Away::NONE;
        }
        let switches = clock::voluntary_switches();
        // A wait for a lock or a condition is usually a voluntary switch, too.
        let by_will = switches.saturating_sub(thread.mark_switches.replace(switches))
            > thread.waits.replace(0);
        Away { cycles, by_will }
    }

    /// Returns two numbers for the time from the last call of [`settle`](Self::settle) until `now`,
    /// at which the thread's processor time is `cpu_ns`: for how many cycles the thread ran, and
    /// for how many it was away without being known to wait.
    fn since_settled(self, now: u64, cpu_ns: u64, rate: u64) -> (u64, u64) {
        let thread = self.thread;
        let ran_ns = cpu_ns.saturating_sub(thread.mark_cpu_ns.get());
        let ran = ((u128::from(ran_ns) * u128::from(rate)) >> 20) as u64;
        let passed = now.saturating_sub(thread.mark_cycles.get());
        (ran, passed.saturating_sub(ran).saturating_sub(thread.waited.get()))
    }

    /// Notes that the thread has spun for a lock for `cycles` cycles until `now`. This is time on
    /// the processor, unless the thread lost its core meanwhile. It is neither a hold nor a think
    /// time.
    pub(crate) fn note_spin(self, cycles: u64, now: u64) {
        let off = if cycles < LONG { 0 } else { self.unsettled(now).min(cycles) };
        self.thread.waited.set(self.thread.waited.get() + off);
        self.thread.counted.set(self.thread.counted.get() + (cycles - off));
    }

    /// Returns what [`settle`](Self::settle) would return as the time away at `now`, but changes
    /// nothing.
    #[cold]
    #[inline(never)]
    fn unsettled(self, now: u64) -> u64 {
        let rate = self.state().rate.load(Ordering::Relaxed);
        if rate == 0 || confined::is_confined() {
            return 0;
        }
        self.since_settled(now, clock::system_ns(libc::CLOCK_THREAD_CPUTIME_ID), rate).1
    }

    /// Returns how many intervals an interval counts for, at `now`. The interval had `cycles`
    /// cycles on the processor and belongs to `lock`. `debt` is the time that earlier intervals of
    /// its kind were denied.
    #[inline(always)]
    pub(crate) fn weight_of(
        self,
        cycles: u64,
        debt: &Debt,
        lock: *const LockBlock,
        now: u64,
    ) -> u32 {
        let thread = self.thread;
        let mut weight = thread.weight.get();
        if weight > 1 {
            let since = now.saturating_sub(thread.mark_cycles.get());
            let left = (thread.ran.get() + since).saturating_sub(thread.counted.get());
            if is_notable(cycles, weight) || cycles * u64::from(weight) > left {
                weight = debt.grant(cycles, weight, left, lock);
            }
        }
        thread.counted.set(thread.counted.get() + cycles * u64::from(weight));
        weight
    }
}
