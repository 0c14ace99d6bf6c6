//! The ticket lock: a thread takes a number and waits until that number is called.
//!
//! The lock is fair, takes eight bytes, and is quick when no thread waits. All waiters watch the
//! same word, which holds the number called. After each release every waiter has to fetch the cache
//! line of that word again, one after the other, and on average half of them get their copy before
//! the next holder gets its own. A handover therefore takes time proportional to the number of
//! waiters. This is the lock whose collapse the literature describes (Boyd-Wickizer and others,
//! 'Non-scalable locks are dangerous', OLS 2012), and it is the baseline here. Except for the width
//! of its counters it is the lock of Linux before 4.2.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::{LockInfo, RawLock, Waiting};

/// A ticket lock. Between two looks at the number called, a waiter pauses for `STEP` turns of a
/// spin loop for each other waiter ahead of it. If `STEP` is 0, it watches the number without
/// pauses.
#[derive(Debug)]
pub struct Ticket<P: Platform, const STEP: u32 = 0> {
    /// The next number to hand out.
    next: P::U32,
    /// The number that may enter.
    serving: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "ticket",
    title: "ticket lock",
    source: "Reed and Kanodia 1979; Linux 2.6.25 to 4.1",
    best_at: "few cores, short sections, when order of arrival matters",
    worst_at: "many waiters (collapses) and more threads than cores (waits for sleeping turns)",
    waiting: Waiting::SpinInTurn,
    aliases: &[],
};

/// After so many turns of pausing, a waiter yields its core once. They take a good part of a
/// millisecond.
const TURNS_BEFORE_YIELD: u32 = 16_384;

impl<P: Platform, const STEP: u32> Ticket<P, STEP> {
    /// Whether a thread has taken a number and waits. The caller holds the lock.
    #[inline]
    pub(crate) fn has_waiter(&self) -> bool {
        let mine = self.serving.load(Ordering::Relaxed);
        self.next.load(Ordering::Relaxed) != mine.wrapping_add(1)
    }

    /// Pauses until no other waiter is ahead of the one with number `mine`.
    #[cold]
    fn step_back(&self, mine: u32) {
        let mut turns = 0;
        loop {
            let ahead = mine.wrapping_sub(self.serving.load(Ordering::Relaxed));
            if ahead <= 1 {
                return; // none but the holder, who may be about to leave
            }
            let step = (ahead - 1).saturating_mul(STEP).min(TURNS_BEFORE_YIELD);
            P::pause(step);
            turns += step;
            if turns >= TURNS_BEFORE_YIELD {
                turns = 0;
                P::yield_now();
            }
        }
    }
}

// SAFETY: each number is handed out once and called once, so there is never more than one holder. A
// release calls the next number by a store with release, which is its last access to the lock. The
// next holder reads that number with acquire and so sees what its predecessor wrote. The lock has
// two words, it is free when all its bits are zero, and the words do not tell which thread is the
// holder.
unsafe impl<P: Platform, const STEP: u32> RawLock<P> for Ticket<P, STEP> {
    type Thread = ();
    const WAITERS_WATCH_IT: bool = true;

    fn new() -> Self {
        Self { next: P::U32::new(0), serving: P::U32::new(0) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        // Relaxed: the load of `serving` with acquire, below, orders the critical sections. Taking
        // a number need not order anything.
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        if STEP > 0 {
            self.step_back(mine);
        }
        P::wait_until(&self.serving, Wait::Spin, |serving| serving == mine);
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        // Acquire pairs with the release by which the last holder called this number. If `next`
        // still equals the number called, no thread has acquired the lock since. As in `acquire`,
        // taking the number need not order anything.
        let serving = self.serving.load(Ordering::Acquire);
        self.next
            .compare_exchange(
                serving,
                serving.wrapping_add(1),
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        // Only the holder writes `serving`, so a plain load and store replace a costly
        // read-modify-write.
        let mine = self.serving.load(Ordering::Relaxed);
        self.serving.store(mine.wrapping_add(1), Ordering::Release);
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        let mine = self.serving.load(Ordering::Relaxed);
        self.next.store(mine.wrapping_add(1), Ordering::Relaxed);
    }
}
