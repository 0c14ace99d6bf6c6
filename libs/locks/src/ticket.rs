//! The ticket lock: take a number, wait until it is called.
//!
//! Fair, eight bytes, quick when nobody waits. All waiters watch the one word that calls the
//! numbers, so each release sends every one of them to the same cache line, and the next holder
//! gets its copy after half of the others on average: a handover takes time proportional to the
//! number of waiters. This is the lock whose collapse the literature describes (Boyd-Wickizer
//! and others, 'Non-scalable locks are dangerous', OLS 2012) and the baseline here. It follows
//! Linux before 4.2 in all but the width of its counters.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::{LockInfo, RawLock, Waiting};

/// A ticket lock. A waiter steps back for `STEP` turns of a spin loop for each other waiter ahead
/// of it before it looks again; with 0 it watches the word all the time.
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

/// Turns of stepping back between two offers of the core to others: a good part of a millisecond.
const TURNS_BEFORE_YIELD: u32 = 16_384;

impl<P: Platform, const STEP: u32> Ticket<P, STEP> {
    /// Whether somebody waits, or is about to. The caller holds the lock.
    #[inline]
    pub(crate) fn has_waiter(&self) -> bool {
        let mine = self.serving.load(Ordering::Relaxed);
        self.next.load(Ordering::Relaxed) != mine.wrapping_add(1)
    }

    /// Waits until few enough are ahead to watch.
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

// SAFETY: each number is handed out once and called once, by the store with release that ends the
// section before and that the next holder reads with acquire; that store is the last access. Two
// words, all zeros is free, and they name no thread.
unsafe impl<P: Platform, const STEP: u32> RawLock<P> for Ticket<P, STEP> {
    type Thread = ();

    fn new() -> Self {
        Self { next: P::U32::new(0), serving: P::U32::new(0) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        // Relaxed: the number itself orders nothing; the acquire read of `serving` does.
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        if STEP > 0 {
            self.step_back(mine);
        }
        P::wait_until(&self.serving, Wait::Spin, |serving| serving == mine);
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        // Acquire pairs with the release of whoever called this number: if `next` still equals
        // the number called, nobody entered since. Taking the number orders nothing, as above.
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
