//! The machine as waiters inside somebody else's program should use it.
//!
//! Everything is [`Native`]'s but waiting. A waiter that watches a word, or tries again and again,
//! spins for as long as that is likely to pay, then offers its core to others, and then sleeps for
//! moments that grow with the time it has waited. So no lock holds cores up for long, whatever it
//! is that its waiters wait for; the price is that such a waiter may see its turn an eighth of
//! its wait too late.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

use kilocore_platform::{
    Atomic, CpuId, Cycles, Nanos, Native, NodeId, Ordering, Padded, Parked, Platform, WAIT_SLOTS,
    Wait, WaitArray,
};

use crate::{cores, deadline, thread_state};

/// The machine this program runs on, shared with the program's other work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host;

/// How long a waiter has waited for a lock, in turns of a spin loop or what counts for them.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Impatience(
    /// Zero outside of a wait, in which it is one at first.
    u32,
);

impl Impatience {
    /// Turns before the core is first offered to others: some tens of microseconds.
    const SPINS: u32 = 1_000;
    /// Offers of the core before the first sleep.
    const OFFERS: u32 = 64;
    /// The first sleep and the longest, in nanoseconds.
    const SHORTEST_SLEEP: u64 = 50_000;
    const LONGEST_SLEEP: u64 = 4_000_000;

    /// The beginning of a wait.
    const fn new() -> Self {
        Self(1)
    }

    /// Begins a wait, which [`end`](Self::end) ends. Between waits [`pause`](Self::pause) is no
    /// more than that, since whoever releases a lock must not dawdle.
    pub(crate) fn begin(&mut self) {
        *self = Self::new();
    }

    pub(crate) fn end(&mut self) {
        self.0 = 0;
    }

    /// Passes the time of `turns` turns, or longer if the thread has waited for long.
    #[inline]
    fn pause(&mut self, turns: u32) {
        if self.0 == 0 {
            Native::pause(turns);
        } else {
            self.wait(turns);
        }
    }

    /// Passes the time until the next look at what is waited for.
    #[inline]
    fn wait(&mut self, turns: u32) {
        if self.0 < Self::SPINS && cores::are_many() {
            Native::pause(turns);
            self.0 += turns;
        } else {
            self.give_way();
        }
    }

    /// Offers the core, or sleeps.
    #[cold]
    fn give_way(&mut self) {
        self.0 = self.0.max(Self::SPINS).saturating_add(1);
        let offers = self.0 - Self::SPINS;
        let Some(sleeps) = offers.checked_sub(Self::OFFERS) else {
            return kilocore_preload_common::errno::preserved(Native::yield_now);
        };
        // Each an eighth longer than the last, some 37 until the longest.
        let mut sleep = Self::SHORTEST_SLEEP;
        for _ in 0..sleeps {
            sleep += sleep / 8;
            if sleep >= Self::LONGEST_SLEEP {
                sleep = Self::LONGEST_SLEEP;
                break;
            }
        }
        deadline::sleep(sleep);
    }
}

static WAIT_SLOT_TABLE: [Padded<AtomicU32>; WAIT_SLOTS] =
    [const { Padded(AtomicU32::new(0)) }; WAIT_SLOTS];

// SAFETY: the words and cells are `Native`'s; `wait_until` returns after an acquire load whose value
// `done` accepted, and `unpark` is `Native`'s, which does not follow the address.
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
            impatience.wait(1);
        }
    }

    /// Resting on a line holds the core, which others may need: such waiters park instead.
    #[inline]
    fn has_low_power_wait() -> bool {
        false
    }

    /// The count is the thread's, because a waiter may call this without an end.
    #[inline]
    fn pause(turns: u32) {
        thread_state::impatience().pause(turns);
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
    fn address_key<T>(object: &T) -> usize {
        Native::address_key(object)
    }
}
