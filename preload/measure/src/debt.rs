//! Time that has not been counted for any interval yet.

use core::cell::Cell;

use kilocore_lock_recording::LockBlock;

/// Time that intervals stand for, but that was not counted for them because the thread had not run
/// for so long. It is counted for the next similar interval.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Debt {
    /// The lock whose holds the intervals were. It is null for the time between locks.
    lock: Cell<*const LockBlock>,
    /// The length of one interval, in cycles.
    each: Cell<u64>,
    /// The time that was not counted, in cycles.
    cycles: Cell<u64>,
}

/// The largest number of intervals that one interval counts for. Every histogram has room for it.
const MOST_GRANTED: u64 = 1 << 20;

impl Debt {
    /// Sets the time to zero.
    pub(crate) fn forget(&self) {
        self.cycles.set(0);
    }

    /// Returns how many intervals an interval of `cycles` cycles counts for. It stands for `weight`
    /// intervals, and `left` cycles of the thread's time have not been counted yet.
    #[cold]
    #[inline(never)]
    pub(crate) fn grant(&self, cycles: u64, weight: u32, left: u64, lock: *const LockBlock) -> u32 {
        let alike = self.lock.get() == lock && cycles >= self.each.get() / 2;
        let own = cycles.saturating_mul(u64::from(weight));
        let wanted = if alike { own.saturating_add(self.cycles.get()) } else { own };
        let granted = (wanted.min(left) / cycles).clamp(1, MOST_GRANTED);
        let denied = wanted.saturating_sub(granted * cycles);
        if alike || denied > self.cycles.get() {
            self.lock.set(lock);
            self.each.set(cycles);
            self.cycles.set(denied);
        }
        granted as u32
    }
}
