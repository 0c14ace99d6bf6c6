//! A lock that nobody waits for.
//!
//! Every list of the pool is behind one. Who finds a list held takes another one, or goes a tier
//! further down. So a thread that lost its core while it holds a list keeps nobody waiting, a
//! signal handler may allocate, and in the child of a `fork` a list that another thread held at
//! that moment is lost for good but does no harm. Only the buddy system has a lock that is waited
//! for, as in kernels; and who has to see every list empty waits for who holds one.

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

pub(crate) const FREE: u32 = 0;
const HELD: u32 = 1;

pub(crate) struct TryLock<P: Platform>(P::U32);

/// Holds a lock until it is dropped.
pub(crate) struct Held<'a, P: Platform>(pub(crate) &'a P::U32);

impl<P: Platform> TryLock<P> {
    pub(crate) fn new() -> Self {
        Self(P::U32::new(FREE))
    }

    /// Acquires the lock, unless somebody has it.
    #[inline(always)]
    pub(crate) fn attempt(&self) -> Option<Held<'_, P>> {
        exchange(&self.0)
    }

    /// Acquires the lock, and waits for its holder if it has one.
    pub(crate) fn acquire(&self) -> Held<'_, P> {
        loop {
            if let Some(held) = self.attempt() {
                return held;
            }
            P::wait_until(&self.0, Wait::Spin, |word| word == FREE);
        }
    }

    /// Returns whether nobody has the lock now. What the last holder did then happened before.
    pub(crate) fn is_free(&self) -> bool {
        // Acquire pairs with the release in `drop`: the caller looks next at what the last holder left. Argued: in the
        // programs of loom what is to be seen has happened before, so that coherence alone shows it.
        self.0.load(Ordering::Acquire) == FREE
    }
}

/// Acquires the lock that a word is, unless somebody has it.
#[inline(always)]
pub(crate) fn exchange<P: Platform>(word: &P::U32) -> Option<Held<'_, P>> {
    // Acquire: what the last holder did to the list happened before. It pairs with the release in `drop`.
    // Relaxed: who fails does nothing with the list.
    let taken = word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed);
    taken.is_ok().then(|| Held(word))
}

impl<P: Platform> Drop for Held<'_, P> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: what this holder did to the list happens before what the next one does.
        self.0.store(FREE, Ordering::Release);
    }
}
