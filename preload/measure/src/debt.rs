//! Time that no interval has been counted for yet.

use core::cell::Cell;

use kilocore_lock_recording::LockBlock;

/// Time that intervals stood for and were not counted for, because the thread had not run so long.
/// The next one like them makes up for it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Debt {
    /// Whose holds they were; null for time between locks.
    lock: Cell<*const LockBlock>,
    /// How long one was, in cycles.
    each: Cell<u64>,
    /// The time, in cycles.
    cycles: Cell<u64>,
}

/// No interval counts for more than this many, which any histogram has room for.
const MOST_GRANTED: u64 = 1 << 20;

impl Debt {
    /// Makes it none.
    pub(crate) fn forget(&self) {
        self.cycles.set(0);
    }

    /// For how many an interval counts that stands for `weight`, when `left` cycles are left.
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
