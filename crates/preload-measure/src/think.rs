//! What a thread does between locks: computing, or sleeping.
//!
//! An interval from a release to the next acquisition is short most of the time, and then it was
//! spent on the processor. Only for intervals above [`LONG`] is it worth a system call to read
//! the thread's processor time. What the thread did not run since the last such reading, less
//! what it is known to have waited for locks and conditions, it slept in this interval, provided
//! that it gave up its core by its own will. Otherwise it was ready to run and others had its
//! core: that says something of the machine it ran on, and nothing of the program.

use core::sync::atomic::Ordering;

use crate::clock;
use crate::confinement;
use crate::counters::{Count, add};
use crate::recorder::Recorder;
use crate::thread::NO_THINK;
use kilocore_recording::SHARED_SLOT;

/// Intervals above this many cycles (about 20 µs) are looked at more closely.
const LONG: u64 = 1 << 16;

impl Recorder {
    /// Notes, at an acquisition with no lock held, the think time that ended at `cycles`.
    #[inline(always)]
    pub(crate) fn end_think(self, cycles: u64) {
        let last = self.thread.last_release.get();
        let interval = cycles.saturating_sub(last);
        let think = if interval < LONG { interval } else { self.end_long_think(cycles, last) };
        self.thread.pending_think.set(think);
    }

    /// Counts that think time, at the release.
    #[inline(always)]
    pub(crate) fn count_think(self) {
        let pending = self.thread.pending_think.replace(NO_THINK);
        // SAFETY: null or a block of the recording, which is never unmapped.
        let block = unsafe { self.thread.think.get().as_ref() };
        if let Some(block) = block
            && pending != NO_THINK
        {
            let atomic = self.thread.slot.get() as usize == SHARED_SLOT;
            let overhead = self.state().think_overhead.load(Ordering::Relaxed);
            block.think.count(pending.saturating_sub(overhead), self.thread.weight.get(), atomic);
        }
    }

    /// The part of a long interval that was spent on the processor, or nothing for the first
    /// lock of a thread.
    #[cold]
    #[inline(never)]
    fn end_long_think(self, cycles: u64, last: u64) -> u64 {
        let thread = self.thread;
        if last == 0 {
            if !thread.locking.replace(true) {
                self.header().threads_locking.fetch_add(1, Ordering::Relaxed);
            }
            return NO_THINK;
        }
        let interval = cycles - last;
        if confinement::is_confined() {
            return interval;
        }
        kilocore_interpose::errno::preserved(|| self.stamp(false));
        let cpu_ns = clock::system_ns(libc::CLOCK_THREAD_CPUTIME_ID);
        let rate = self.state().rate.load(Ordering::Relaxed);
        let ran_ns = cpu_ns.saturating_sub(thread.mark_cpu_ns.replace(cpu_ns));
        let ran = ((u128::from(ran_ns) * u128::from(rate)) >> 20) as u64;
        let passed = cycles.saturating_sub(thread.mark_cycles.replace(cycles));
        let waited = thread.waited.replace(0);
        let waits = thread.waits.replace(0);
        let switches = clock::voluntary_switches();
        // A wait for a lock or a condition is one, too, as a rule.
        let slept = switches.saturating_sub(thread.mark_switches.replace(switches)) > waits;
        // May include sleep in sections that were not timed.
        let away = passed.saturating_sub(ran).saturating_sub(waited);
        // SAFETY: null or a block of the recording, which is never unmapped.
        if slept && let Some(block) = unsafe { thread.think.get().as_ref() } {
            add(&block.asleep, away, thread.slot.get() as usize == SHARED_SLOT);
        }
        interval.saturating_sub(away)
    }
}
