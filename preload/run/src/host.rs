//! The platform for locks that run inside another program.
//!
//! Everything except waiting is as in [`Native`]. A waiter that watches a word first spins for as
//! long as spinning is likely to pay. Then it offers its core to other threads. Then it sleeps for
//! short times, which grow with the time that it has waited. So the waiters of a lock do not keep
//! cores busy for ever, whatever they wait for. The price is that waiters may notice their turns
//! late, all together by up to an eighth of the time that they have waited.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use kilocore_platform::{
    Atomic, CpuId, Cycles, Nanos, Native, NodeId, Ordering, Padded, Parked, Platform, ReaderSlots,
    WAIT_SLOTS, Wait, WaitArray, announce_wait,
};

use crate::impatience::Impatience;
use crate::slot;

/// The platform of an unmodified program, whose threads have other work to do on the same cores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host;

static WAIT_SLOT_TABLE: [Padded<AtomicU32>; WAIT_SLOTS] =
    [const { Padded(AtomicU32::new(0)) }; WAIT_SLOTS];

// SAFETY: the words and cells are `Native`'s; `wait_until` returns after an acquire load whose
// value `done` accepted, and `unpark` is `Native`'s, which does not follow the address.
unsafe impl Platform for Host {
    type U32 = AtomicU32;
    type U64 = AtomicU64;
    type Usize = AtomicUsize;
    type Ptr<T: 'static> = AtomicPtr<T>;
    type Cell<T: Send + 'static> = <Native as Platform>::Cell<T>;

    #[inline(always)]
    fn cpu() -> CpuId {
        Native::cpu()
    }

    #[inline(always)]
    fn node() -> NodeId {
        Native::node()
    }

    #[inline(always)]
    fn now() -> Cycles {
        Native::now()
    }

    #[inline(always)]
    fn wait_until<A: Atomic>(
        cell: &A,
        _how: Wait,
        mut done: impl FnMut(A::Value) -> bool,
    ) -> A::Value {
        let mut impatience = Impatience::new();
        loop {
            let value = cell.load(Ordering::Acquire);
            if done(value) {
                return value;
            }
            let before = impatience.turns_left();
            let mut left = before;
            announce_wait(cell, &mut left);
            impatience.has_waited(before.saturating_sub(left));
            impatience.wait(1);
        }
    }

    /// A low-power wait keeps the core busy, which other threads may need. Waiters park instead.
    #[inline]
    fn has_low_power_wait() -> bool {
        false
    }

    /// A waiter may call this any number of times. So the time that it has waited is counted in the
    /// thread's slot.
    #[inline]
    fn pause(turns: u32) {
        slot::impatience().pause(turns);
    }

    #[inline]
    fn patiently<R>(wait: impl FnOnce() -> R) -> R {
        if !slot::impatience().begin() {
            return wait();
        }
        let result = wait();
        slot::impatience().end();
        result
    }

    fn yield_now() {
        Native::yield_now();
    }

    fn park(cell: &AtomicU32, expected: u32, timeout: Option<Nanos>) -> Parked {
        Native::park(cell, expected, timeout)
    }

    fn unpark(cell: *const AtomicU32, count: u32) -> u32 {
        Native::unpark(cell, count)
    }

    #[inline(always)]
    fn wait_array() -> WaitArray<Self> {
        WaitArray::new(&WAIT_SLOT_TABLE)
    }

    #[inline(always)]
    fn reader_slots() -> ReaderSlots<Self> {
        // SAFETY: the slots are handed on to the same locks.
        ReaderSlots::new(unsafe { Native::reader_slots().slots() })
    }

    #[inline(always)]
    fn thread_key() -> usize {
        Native::thread_key()
    }

    #[inline(always)]
    fn address_key<T>(object: &T) -> usize {
        Native::address_key(object)
    }
}
