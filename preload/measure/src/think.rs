//! What a thread does between locks: it computes, or it sleeps.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::away::is_notable;
use crate::clock;
use crate::counters::{Count, add};
use crate::recorder::Recorder;
use crate::thread::NO_THINK;
use kilocore_lock_recording::SHARED_SLOT;

impl Recorder {
    /// Is called before a lock is requested at `now` while the thread holds none. If the last
    /// release is long ago, it excludes the time for which the thread did not run since then, and
    /// returns true.
    #[inline(always)]
    pub(crate) fn look_back(self, now: u64) -> bool {
        let last = self.thread.last_release.get();
        let notable = is_notable(now.saturating_sub(last), self.thread.weight.get());
        let wanted = last != 0 && (notable || self.is_stale(now));
        if wanted {
            self.leave_out_absence(now, last);
        }
        wanted
    }

    #[cold]
    #[inline(never)]
    fn leave_out_absence(self, now: u64, last: u64) {
        let away = self.settle(now);
        let spent = clock::now().cycles.saturating_sub(now);
        self.thread.last_release.set((last + away.cycles).min(now) + spent);
        if away.by_will {
            self.count_sleep(away.cycles, away.cycles.min(now - last));
        }
    }

    /// Counts `cycles` cycles of sleep, of which `between` are known to have been between locks.
    pub(crate) fn count_sleep(self, cycles: u64, between: u64) {
        // SAFETY: the pointer is null or points to a block of the recording, which is never
        // unmapped.
        if let Some(block) = unsafe { self.thread.think.get().as_ref() } {
            let atomic = self.thread.slot.get() as usize == SHARED_SLOT;
            add(&block.asleep, cycles, atomic);
            add(&block.asleep_between, self.weighted(between), atomic);
        }
    }

    /// Multiplies cycles of a timed section by the number of sections that it stands for.
    pub(crate) fn weighted(self, cycles: u64) -> u64 {
        cycles.saturating_mul(u64::from(self.thread.weight.get()))
    }

    /// Is called at an acquisition while the thread holds no lock. Notes the think time that ended
    /// at `cycles`. A thread's first lock has no think time.
    #[inline(always)]
    pub(crate) fn end_think(self, cycles: u64) {
        let last = self.thread.last_release.get();
        if last == 0 && !self.thread.locking.replace(true) {
            self.header().threads_locking.fetch_add(1, Ordering::Relaxed);
        }
        let think = if last == 0 { NO_THINK } else { cycles.saturating_sub(last) };
        self.thread.pending_think.set(think);
    }

    /// Counts the noted think time, at the release, which is at `now`.
    #[inline(always)]
    pub(crate) fn count_think(self, now: u64) {
        let pending = self.thread.pending_think.replace(NO_THINK);
        // SAFETY: the pointer is null or points to a block of the recording, which is never
        // unmapped.
        let block = unsafe { self.thread.think.get().as_ref() };
        if let Some(block) = block
            && pending != NO_THINK
        {
            let atomic = self.thread.slot.get() as usize == SHARED_SLOT;
            let overhead = self.state().think_overhead.load(Ordering::Relaxed);
            let think = pending.saturating_sub(overhead);
            block.think.count(
                think,
                self.weight_of(think, &self.thread.think_debt, ptr::null(), now),
                atomic,
            );
        }
    }
}
