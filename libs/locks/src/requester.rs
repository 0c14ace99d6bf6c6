//! The requester-based lock: a ticket lock whose surplus waiters rest.
//!
//! A ticket lock collapses because every waiter re-reads the word that each release writes. Here
//! a waiter predicts from its ticket how many others are ahead of it. Up to a threshold it spins
//! as in a ticket lock; beyond, it rests at low power on a word of its own until its turn is
//! near, so that a release concerns the holder and at most a few spinners whatever the number
//! of waiters (Cui and others, 'Reducing scalability collapse via requester-based locking on
//! multicore systems', MASCOTS 2012). Threshold 0 was best there, where only the next in line
//! spins. Here the default is 1: user space leaves a low-power wait more slowly than a kernel, and
//! with two spinners the wake-up overlaps with two handovers. On the simulated 48-core Opteron
//! that gives 15 % more throughput than 0, and 2 gives less again.
//!
//! # How it works
//! * **Prediction.** One atomic addition takes the ticket and reads who is being served: the
//!   difference, less the holder, is the number of waiters ahead, with no counter to maintain.
//! * **Resting.** Each waiter has a slot of the machine's [wait array](Platform::wait_array),
//!   picked by lock and ticket. It rests on the slot's cache line where the processor can, else
//!   it spins a while and parks. Waiters of other locks that meet in a slot wake each other for
//!   nothing and rest again.
//! * **Light wake-up.** A release bumps the slot of the waiter that now comes within the
//!   threshold, not of the one that enters: its wake-up overlaps with a critical section, and no
//!   handover waits for it.
//!
//! # Where it departs from the paper
//! The paper is for kernels and rests with `mwait` on per-core queue entries; here a thread may
//! lose its core at any time, so slots go by ticket, and there is a futex behind them. Both
//! counters share a 64-bit word, so that a release learns in its own atomic addition which
//! tickets were out at that moment: whoever is not among them saw the release in its own. That
//! replaces the fence between the store and the look at the waiters, and the release needs not
//! read the lock after it has let it go.
//!
//! # The word
//! Ticket numbers have 31 bits. Handing one out adds to the top of the word, where a carry is
//! lost; serving one adds to the bottom, where a carry goes to a bit of its own that the next
//! holder clears. With that bit set the two numbers do not look equal to the one comparison of
//! the fast path, so that wrapping costs it nothing: no release reads before it adds.
//!
//! # A slot
//! Bit 0 says that somebody is parked on it, the other bits count the bumps. A waiter reads the
//! slot, *then* looks who is served, then waits for the slot to change: a bump that came before
//! the first read shows the release that went before it, and one that came after is a change.
//! (2^31 bumps between two instructions of a waiter would go unnoticed.) A waiter sets bit 0 by
//! compare-and-swap of what it read, so a bump either finds the bit or makes that fail.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::patience::Patience;
use crate::{LockInfo, RawLock, Waiting};

/// A requester-based lock. A waiter with more than `THRESHOLD` other waiters ahead rests.
#[derive(Debug)]
pub struct Requester<P: Platform, const THRESHOLD: u32 = 1> {
    /// Bits 0 to 30: the number being served. Bit 31: [`WRAPPED`]. Bit 32: unused. Bits 33 to
    /// 63: the next number to hand out.
    tickets: P::U64,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "requester",
    title: "requester-based lock: ticket order, surplus waiters at low power",
    source: "Cui, Wang, Chen and Shi, MASCOTS 2012",
    best_at: "many cores contending, with little energy; fair; eight bytes",
    worst_at: "far more threads than cores with short sections: hands over in strict order",
    waiting: Waiting::RestInTurn,
    aliases: &[],
};

/// Bits of a ticket number.
const TICKET_BITS: u32 = 31;
/// The largest ticket number; 0 follows it.
const LAST_TICKET: u32 = (1 << TICKET_BITS) - 1;
/// Set by the release that serves ticket 0 after [`LAST_TICKET`].
const WRAPPED: u64 = 1 << TICKET_BITS;
/// One ticket handed out.
const ONE_TICKET: u64 = 1 << (64 - TICKET_BITS);

/// Set in a slot while somebody is parked on it.
const PARKED: u32 = 1;

/// One bump of a slot.
const ONE_BUMP: u32 = 2;

/// Turns that a waiter spins on its slot before it parks, where it cannot rest.
const TURNS_BEFORE_PARKING: u32 = 1_000;

/// The number being served.
#[inline(always)]
const fn serving(tickets: u64) -> u32 {
    tickets as u32 & LAST_TICKET
}

/// The next number to hand out.
#[inline(always)]
const fn next(tickets: u64) -> u32 {
    (tickets >> (64 - TICKET_BITS)) as u32
}

/// How many tickets `later` comes after `earlier`.
#[inline(always)]
const fn distance(later: u32, earlier: u32) -> u32 {
    later.wrapping_sub(earlier) & LAST_TICKET
}

/// Whether the next number to hand out is being served, and [`WRAPPED`] is clear.
#[inline(always)]
const fn is_plainly_free(tickets: u64) -> bool {
    next(tickets) == tickets as u32
}

impl<P: Platform, const THRESHOLD: u32> Requester<P, THRESHOLD> {
    /// Whether the ticket `mine` has so many waiters ahead of it that it rests.
    #[inline]
    fn rests(mine: u32, tickets: u64) -> bool {
        let ahead = distance(mine, serving(tickets)); // the holder included
        ahead > THRESHOLD + 1
    }

    #[cold]
    fn wait(&self, mine: u32, tickets: u64) {
        if Self::rests(mine, tickets) {
            self.rest(mine);
        }
        let entered = P::wait_until(&self.tickets, Wait::Spin, |tickets| serving(tickets) == mine);
        if entered & WRAPPED != 0 {
            // Only the release of the last ticket sets it again, so nobody else clears it now.
            self.tickets.fetch_and(!WRAPPED, Ordering::Relaxed);
        }
    }

    /// Rests until few enough are ahead.
    fn rest(&self, mine: u32) {
        let slot = P::wait_array().slot(P::address_key(self), mine);
        loop {
            // Acquire: a bump seen here shows the release before it to the next line, or the waiter
            // would rest on the new number with the old ticket in mind, for good.
            let seen = slot.load(Ordering::Acquire);
            if !Self::rests(mine, self.tickets.load(Ordering::Relaxed)) {
                return;
            }
            if P::has_low_power_wait() {
                P::wait_until(slot, Wait::LowPower, |now| now != seen);
            } else {
                Self::spin_then_park(slot, seen);
            }
        }
    }

    /// Waits until `slot` no longer holds `seen`, but for its bit 0; may return early.
    fn spin_then_park(slot: &P::U32, seen: u32) {
        let mut patience = Patience::new::<P>(TURNS_BEFORE_PARKING);
        while patience.pause::<P>() {
            if (slot.load(Ordering::Relaxed) ^ seen) & !PARKED != 0 {
                return;
            }
        }
        let parked = seen | PARKED;
        if seen != parked {
            let marked = slot.compare_exchange(seen, parked, Ordering::Relaxed, Ordering::Relaxed);
            if marked.is_err() {
                return; // bumped, or marked by somebody else: look again
            }
        }
        P::park(slot, parked, None);
    }

    /// Wakes the waiter with ticket `near`, whose turn is near now. Not a method, because the
    /// lock may be gone.
    #[cold]
    fn wake(key: usize, near: u32) {
        let slot = P::wait_array().slot(key, near);
        // One addition, so that the line comes here once. Release publishes the ticket that was
        // served to whoever sees the bump: see `rest`, which it pairs with.
        let before = slot.fetch_add(ONE_BUMP, Ordering::Release);
        if before & PARKED != 0 {
            // Cleared before the wake-up: whoever parks on a value with the bit after this finds
            // it changed, and whoever parked before is woken.
            slot.fetch_and(!PARKED, Ordering::Relaxed);
            P::unpark(slot, u32::MAX);
        }
    }
}

// SAFETY: each number is handed out once and served once, by the addition with release that ends
// the section before and that the next holder reads with acquire; after it only the lock's address
// is used, to find a slot. One word, all zeros is free, and it names no thread.
unsafe impl<P: Platform, const THRESHOLD: u32> RawLock<P> for Requester<P, THRESHOLD> {
    type Thread = ();

    fn new() -> Self {
        Self { tickets: P::U64::new(0) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        // Acquire pairs with the release that served this ticket, if it was served already.
        let before = self.tickets.fetch_add(ONE_TICKET, Ordering::Acquire);
        if !is_plainly_free(before) {
            self.wait(next(before), before);
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        let tickets = self.tickets.load(Ordering::Relaxed);
        next(tickets) == serving(tickets)
            && self
                .tickets
                .compare_exchange(
                    tickets,
                    (tickets & !WRAPPED).wrapping_add(ONE_TICKET),
                    Ordering::Acquire,
                    Ordering::Relaxed,
                )
                .is_ok()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        let key = P::address_key(self);
        // The holder has cleared `WRAPPED`, so that a carry stops there.
        let before = self.tickets.fetch_add(1, Ordering::Release);
        // The ticket that now has no more than the threshold ahead, if it was out already. If
        // not, its waiter will see this release when it takes it, and not rest.
        let near = THRESHOLD + 2;
        if distance(next(before), serving(before)) > near {
            Self::wake(key, serving(before).wrapping_add(near) & LAST_TICKET);
        }
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        let mine = serving(self.tickets.load(Ordering::Relaxed));
        let tickets = u64::from(mine).wrapping_add(ONE_TICKET.wrapping_mul(u64::from(mine) + 1));
        self.tickets.store(tickets, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::{Native, Ordering};

    use super::{LAST_TICKET, ONE_TICKET, Requester, WRAPPED, next, serving};
    use crate::RawLock;

    fn word(next: u32, serving: u32) -> u64 {
        ONE_TICKET * u64::from(next) + u64::from(serving)
    }

    /// A free lock whose next ticket is `ticket`.
    fn free_at(ticket: u32) -> Requester<Native> {
        let lock: Requester<Native> = Requester::new();
        lock.tickets.store(word(ticket, ticket), Ordering::Relaxed);
        lock
    }

    #[test]
    fn tickets_wrap_by_acquiring() {
        let lock = free_at(LAST_TICKET);
        for ticket in [LAST_TICKET, 0, 1] {
            lock.acquire(&mut ());
            let tickets = lock.tickets.load(Ordering::Relaxed);
            assert_eq!(tickets, word((ticket + 1) & LAST_TICKET, ticket));
            assert!(!lock.try_acquire(&mut ()));
            // SAFETY: acquired above.
            unsafe { lock.release(&mut ()) };
        }
        assert_eq!(lock.tickets.load(Ordering::Relaxed), word(2, 2));
    }

    #[test]
    fn tickets_wrap_by_trying() {
        let lock = free_at(LAST_TICKET);
        for ticket in [LAST_TICKET, 0] {
            assert!(lock.try_acquire(&mut ()));
            let tickets = lock.tickets.load(Ordering::Relaxed);
            assert_eq!(tickets, word((ticket + 1) & LAST_TICKET, ticket));
            // SAFETY: acquired above.
            unsafe { lock.release(&mut ()) };
        }
    }

    #[test]
    fn tickets_wrap_with_waiters_out() {
        // The last ticket and 0 and 1 are out, the last one is being served.
        let lock = free_at(0);
        lock.tickets.store(word(2, LAST_TICKET), Ordering::Relaxed);
        // SAFETY: the last ticket stands for an acquisition.
        unsafe { lock.release(&mut ()) };
        let tickets = lock.tickets.load(Ordering::Relaxed);
        assert_eq!((serving(tickets), next(tickets), tickets & WRAPPED), (0, 2, WRAPPED));
    }

    #[test]
    fn waiters_are_forgotten_at_the_wrap_too() {
        let lock = free_at(LAST_TICKET);
        lock.acquire(&mut ());
        lock.tickets.fetch_add(3 * ONE_TICKET, Ordering::Relaxed);
        // SAFETY: acquired above, and nobody else is there.
        unsafe { lock.forget_waiters(&mut ()) };
        assert_eq!(lock.tickets.load(Ordering::Relaxed), word(0, LAST_TICKET));
    }

    #[test]
    fn only_waiters_beyond_the_threshold_rest() {
        fn rests<const THRESHOLD: u32>(mine: u32, serving: u32) -> bool {
            Requester::<Native, THRESHOLD>::rests(mine, u64::from(serving))
        }
        assert!(!rests::<0>(8, 7), "the next in line");
        assert!(rests::<0>(9, 7), "one waiter ahead");
        assert!(!rests::<4>(12, 7), "four waiters ahead");
        assert!(rests::<4>(13, 7), "five waiters ahead");
        assert!(!rests::<0>(0, LAST_TICKET), "the next in line, across the wrap");
        assert!(rests::<0>(1, LAST_TICKET), "one waiter ahead, across the wrap");
    }
}
