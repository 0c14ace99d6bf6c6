//! Where waiters rest or park outside of their lock, each on a slot of its own.
//!
//! A gate is a slot of the machine's [wait array](Platform::wait_array), chosen by lock and number.
//! The slots are there for ever, so a thread that has released a lock can still open a gate, although
//! the lock may be freed by then. Waiters of other locks may share the slot; they then wake each other
//! needlessly and wait again.
//!
//! # A slot
//! Bit 0 of a slot says that a waiter is parked on it. The other bits count how often the gate was
//! opened. A waiter reads the slot, *then* looks at its lock, then waits until the slot changes. If the
//! gate was opened before the first read, the look shows what the opener had done to the lock before.
//! If it was opened after the first read, the slot has changed. (A waiter would miss exactly 2^31
//! openings between two of its instructions.) A waiter sets bit 0 by compare-and-swap from the value
//! that it read. So an opener either finds the bit set or makes that compare-and-swap fail.

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::patience::Patience;

/// The bit of a slot that is set while a waiter is parked on it.
const PARKED: u32 = 1;

/// What one opening adds to a slot.
const ONE_OPENING: u32 = 2;

/// Turns for which a waiter spins on its slot before it parks, on processors that cannot rest.
const TURNS_BEFORE_PARKING: u32 = 1_000;

/// The number of the gate at which the next writer of a read-write lock waits.
pub(crate) const WRITERS_GATE: u32 = 0;
/// The number of the gate at which readers of a read-write lock wait.
pub(crate) const READERS_GATE: u32 = 1;

/// A gate of a lock.
pub(crate) struct Gate<P: Platform> {
    slot: &'static P::U32,
}

impl<P: Platform> Gate<P> {
    /// Returns gate `number` of the lock with the given [key](Platform::address_key).
    #[inline]
    pub(crate) fn of(key: usize, number: u32) -> Self {
        Self { slot: P::wait_array().slot(key, number) }
    }

    /// Waits while `shut` returns true. Whoever changes what `shut` looks at must then
    /// [open](Self::open) the gate.
    pub(crate) fn wait_while(&self, mut shut: impl FnMut() -> bool) {
        loop {
            // Acquire: if we see an opening here, `shut` must see what preceded it. Otherwise we
            // would wait on the new value of the slot because of an old look, and for ever.
            let seen = self.slot.load(Ordering::Acquire);
            if !shut() {
                return;
            }
            if P::has_low_power_wait() {
                P::wait_until(self.slot, Wait::LowPower, |now| now != seen);
            } else {
                self.spin_then_park(seen);
            }
        }
    }

    /// Waits until the slot differs from `seen` in a bit other than bit 0. May return early.
    fn spin_then_park(&self, seen: u32) {
        let mut patience = Patience::new::<P>(TURNS_BEFORE_PARKING);
        while patience.pause::<P>() {
            if (self.slot.load(Ordering::Relaxed) ^ seen) & !PARKED != 0 {
                return;
            }
        }
        let parked = seen | PARKED;
        if seen != parked {
            let marked =
                self.slot.compare_exchange(seen, parked, Ordering::Relaxed, Ordering::Relaxed);
            if marked.is_err() {
                return; // opened, or marked by somebody else: look again
            }
        }
        P::park(self.slot, parked, None);
    }

    /// Makes all look again who wait at gate `number` of the lock with the given key.
    #[cold]
    #[inline(never)]
    pub(crate) fn open(key: usize, number: u32) {
        let Self { slot } = Self::of(key, number);
        // One addition, so that the line is fetched only once. Release pairs with the acquire in
        // `wait_while`: a waiter that sees the opening also sees what we did to the lock before.
        let before = slot.fetch_add(ONE_OPENING, Ordering::Release);
        if before & PARKED != 0 {
            // We clear the bit before the wake-up. A waiter that parked earlier is woken. A waiter
            // that is about to park on a value with the bit finds the value changed.
            slot.fetch_and(!PARKED, Ordering::Relaxed);
            P::unpark(slot, u32::MAX);
        }
    }
}

impl<P: Platform> fmt::Debug for Gate<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").field("slot", &self.slot.load(Ordering::Relaxed)).finish()
    }
}
