//! Time off the processor: what of a long interval its thread did not run, and why.
//!
//! Holds and think times are time on the processor. Intervals are short most of the time, and then
//! they were spent on it. Only for long ones is it worth a system call to read the thread's
//! processor time. What the thread did not run since the last such reading, less what it is known to
//! have waited for locks, conditions and barriers, it was away in this interval. If it gave up its
//! core by its own will it slept; otherwise it was ready to run and others had its core: that says
//! something of the machine it ran on, and nothing of the program. Who slept and then waited for a
//! core counts as asleep for both: only a file of each thread could tell them apart, and opening one
//! here would be seen by a program that closes what it did not open.
//!
//! # No more than there was
//! A timed section stands for those that were not timed. A long one among many short ones would
//! stand for more time than has passed, and once in a while one is drawn. The thread's processor time
//! bounds what is counted: an interval stands for no more time than the thread ran and has not counted
//! yet, be it as a hold, as thinking or as spinning. Long sections that were not drawn leave such time
//! behind, and those that are drawn take it; what one is denied because it came early, a later one
//! takes. So nothing is lost on average. Short ones are bounded too: to be timed makes a section a
//! little longer, and once in a while costs it the lock's cache line. Of sleep the recording has the
//! sum, and what was seen in timed sections, with their weights, to tell how the sum divides.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::LockBlock;

use crate::debt::Debt;
use crate::recorder::Recorder;
use crate::{clock, confined};

/// Intervals of this many cycles (about 20 µs) or more are looked at closely.
pub(crate) const LONG: u64 = 1 << 16;

/// So are those that stand for this many or more.
const HEAVY: u64 = 4 * LONG;

/// The processor time is read at least once in so many cycles (about a millisecond) of a thread that
/// takes locks, so that what is away from one interval is not blamed on another.
const STALE: u64 = 1 << 21;

/// Less than this many cycles is not told from the grain of the clocks.
const GRAIN: u64 = 1 << 13;

/// Time that a thread did not run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Away {
    /// In cycles.
    pub(crate) cycles: u64,
    /// Whether it gave up its core by its own will.
    pub(crate) by_will: bool,
}

impl Away {
    const NONE: Self = Self { cycles: 0, by_will: false };
}

/// Whether an interval that stands for `weight` like it is to be looked at closely.
#[inline(always)]
pub(crate) fn is_notable(cycles: u64, weight: u32) -> bool {
    cycles >= LONG || (weight > 1 && cycles * u64::from(weight) >= HEAVY)
}

impl Recorder {
    /// Whether the thread's processor time was not read for so long at `now` that it should be.
    #[inline(always)]
    pub(crate) fn is_stale(self, now: u64) -> bool {
        now.saturating_sub(self.thread.mark_cycles.get()) >= STALE
    }

    /// How long the thread has been away since this was last asked, at `now`.
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
        // A wait for a lock or a condition is one, too, as a rule.
        let by_will = switches.saturating_sub(thread.mark_switches.replace(switches))
            > thread.waits.replace(0);
        Away { cycles, by_will }
    }

    /// For how many cycles the thread ran from when it last settled until `now`, when its processor time
    /// was `cpu_ns`, and how long it was away meanwhile, as far as that is not known to have been waiting.
    fn since_settled(self, now: u64, cpu_ns: u64, rate: u64) -> (u64, u64) {
        let thread = self.thread;
        let ran_ns = cpu_ns.saturating_sub(thread.mark_cpu_ns.get());
        let ran = ((u128::from(ran_ns) * u128::from(rate)) >> 20) as u64;
        let passed = now.saturating_sub(thread.mark_cycles.get());
        (ran, passed.saturating_sub(ran).saturating_sub(thread.waited.get()))
    }

    /// Notes that the thread spun for a lock for so many cycles until `now`. That is time on the
    /// processor, unless it lost its core meanwhile, and neither a hold nor a think time.
    pub(crate) fn note_spin(self, cycles: u64, now: u64) {
        let off = if cycles < LONG { 0 } else { self.unsettled(now).min(cycles) };
        self.thread.waited.set(self.thread.waited.get() + off);
        self.thread.counted.set(self.thread.counted.get() + (cycles - off));
    }

    /// How long the thread has been away at `now` since it last settled, without settling.
    #[cold]
    #[inline(never)]
    fn unsettled(self, now: u64) -> u64 {
        let rate = self.state().rate.load(Ordering::Relaxed);
        if rate == 0 || confined::is_confined() {
            return 0;
        }
        self.since_settled(now, clock::system_ns(libc::CLOCK_THREAD_CPUTIME_ID), rate).1
    }

    /// For how many like it an interval of so many cycles on the processor counts, at `now`. `debt`
    /// is what earlier ones of its kind were denied, of the lock `lock`.
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
