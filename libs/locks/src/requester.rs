//! The requester-based lock: a ticket lock whose surplus waiters rest.
//!
//! A ticket lock collapses because every waiter re-reads the word that each release writes. Here, a
//! waiter computes from its ticket how many other waiters are ahead of it. If there are at most
//! `THRESHOLD`, it spins as in a ticket lock. If there are more, it rests at low power on a word of
//! its own until its turn is near. A release then concerns the holder and a few spinners at most,
//! however many threads wait (Cui and others, 'Reducing scalability collapse via requester-based
//! locking on multicore systems', MASCOTS 2012).
//!
//! In the paper, threshold 0 was best, with which only the next in line spins. Here it is 1 unless
//! set otherwise. User space leaves a low-power wait more slowly than a kernel does, and with two
//! spinners the wake-up overlaps with two handovers. On the simulated 48-core Opteron, threshold 1
//! reaches 15 % more throughput than 0, and threshold 2 again less than 1.
//!
//! # How it works
//! * **Prediction.** One atomic addition takes a ticket and reads which ticket is being served. The
//!   number of waiters ahead is the difference of the two, less one for the holder. No counter has
//!   to be maintained for it.
//! * **Resting.** Each waiter has a gate of its own, which is a slot of the machine's [wait
//!   array](Platform::wait_array), chosen by lock and ticket. If the processor can rest on a cache
//!   line, the waiter rests on that of its slot. Otherwise it spins for a while and then parks.
//!   Such an array of slots is that of TWA (Dice and Kogan, 'TWA: ticket locks augmented with a
//!   waiting array', Euro-Par 2019).
//! * **Light wake-up.** A release does not wake the waiter that enters. It opens the gate of the
//!   waiter that has now come within the threshold. The wake-up of that waiter overlaps with a
//!   critical section, and no handover waits for it.
//!
//! # Where it departs from the paper
//! The paper is about kernels; its waiters rest with `mwait` on queue entries of their cores. Here,
//! a thread may lose its core at any time. Slots are therefore chosen by ticket and not by core,
//! and a waiter that cannot rest parks on a futex.
//!
//! Both counters share a 64-bit word. The atomic addition of a release therefore also returns which
//! tickets had been taken by then. A thread that takes its ticket later sees that release when it
//! takes it. This replaces the fence between the store and the look at the waiters, and a release
//! need not read the lock after it has released it.
//!
//! # The word
//! Ticket numbers have 31 bits. Taking a ticket adds to the top of the word, where a carry is lost.
//! Serving a ticket adds to the bottom of the word, where a carry sets a bit of its own,
//! [`WRAPPED`]; the next holder clears it. While it is set, the single comparison of the fast path
//! takes the two numbers for different, and the slow path handles it. So a wrap costs the fast path
//! nothing, and a release need not read the word before it adds.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, Wait};

use crate::gate::Gate;
use crate::{LockInfo, RawLock, Waiting};

/// A requester-based lock. A waiter rests while more than `THRESHOLD` other waiters are ahead of
/// it.
#[derive(Debug)]
pub struct Requester<P: Platform, const THRESHOLD: u32 = 1> {
    /// Bits 0 to 30: the ticket being served. Bit 31: [`WRAPPED`]. Bit 32: unused. Bits 33 to 63:
    /// the next ticket to be taken.
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

/// Number of bits of a ticket number.
const TICKET_BITS: u32 = 31;
/// The largest ticket number. The ticket after it is 0.
const LAST_TICKET: u32 = (1 << TICKET_BITS) - 1;
/// This bit is set by the release that ends the service of [`LAST_TICKET`] and begins that of
/// ticket 0.
const WRAPPED: u64 = 1 << TICKET_BITS;
/// What taking one ticket adds to the word.
const ONE_TICKET: u64 = 1 << (64 - TICKET_BITS);

/// Returns the ticket that is being served.
#[inline(always)]
const fn serving(tickets: u64) -> u32 {
    tickets as u32 & LAST_TICKET
}

/// Returns the next ticket to be taken.
#[inline(always)]
const fn next(tickets: u64) -> u32 {
    (tickets >> (64 - TICKET_BITS)) as u32
}

/// Returns how many tickets `later` comes after `earlier`.
#[inline(always)]
const fn distance(later: u32, earlier: u32) -> u32 {
    later.wrapping_sub(earlier) & LAST_TICKET
}

/// Whether the lock is free and [`WRAPPED`] is clear: the next ticket to be taken is being served.
#[inline(always)]
const fn is_plainly_free(tickets: u64) -> bool {
    next(tickets) == tickets as u32
}

impl<P: Platform, const THRESHOLD: u32> Requester<P, THRESHOLD> {
    /// Whether the holder of ticket `mine` has so many waiters ahead of it that it rests.
    #[inline]
    fn rests(mine: u32, tickets: u64) -> bool {
        let ahead = distance(mine, serving(tickets)); // the holder included
        ahead > THRESHOLD + 1
    }

    /// Whether nobody holds the lock.
    #[inline]
    pub(crate) fn is_free(&self) -> bool {
        let tickets = self.tickets.load(Ordering::Relaxed);
        next(tickets) == serving(tickets)
    }

    #[cold]
    fn wait(&self, mine: u32, tickets: u64) {
        if Self::rests(mine, tickets) {
            self.rest(mine);
        }
        let entered = P::wait_until(&self.tickets, Wait::Spin, |tickets| serving(tickets) == mine);
        if entered & WRAPPED != 0 {
            // Only the release of the last ticket sets the bit again, so nobody else writes it now.
            self.tickets.fetch_and(!WRAPPED, Ordering::Relaxed);
        }
    }

    /// Rests until at most `THRESHOLD` other waiters are ahead.
    fn rest(&self, mine: u32) {
        let rests = || Self::rests(mine, self.tickets.load(Ordering::Relaxed));
        Gate::<P>::of(P::address_key(self), mine).wait_while(rests);
    }
}

// SAFETY: each ticket is taken once and served once. It is served by the addition with release that
// ends the critical section before it; the next holder reads that addition with acquire. After the
// addition, a release uses only the address of the lock, to find a slot. The lock is one word, it
// is free when all its bits are zero, and it names no thread.
unsafe impl<P: Platform, const THRESHOLD: u32> RawLock<P> for Requester<P, THRESHOLD> {
    type Thread = ();

    fn new() -> Self {
        Self { tickets: P::U64::new(0) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        // Acquire pairs with the release that began to serve this ticket, if it is being served
        // already.
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
        // The holder has cleared `WRAPPED`, so a carry goes no further than that bit.
        let before = self.tickets.fetch_add(1, Ordering::Release);
        // The waiter that now has exactly `THRESHOLD` waiters ahead is woken if it has taken its
        // ticket already. If it takes it later, it sees this release when it does, and does not
        // rest.
        let near = THRESHOLD + 2;
        if distance(next(before), serving(before)) > near {
            Gate::<P>::open(key, serving(before).wrapping_add(near) & LAST_TICKET);
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

    /// Returns a free lock whose next ticket is `ticket`.
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
        // The last ticket, 0 and 1 have been taken. The last ticket is being served.
        let lock = free_at(0);
        lock.tickets.store(word(2, LAST_TICKET), Ordering::Relaxed);
        // SAFETY: the word says that the lock is held by the last ticket.
        unsafe { lock.release(&mut ()) };
        let tickets = lock.tickets.load(Ordering::Relaxed);
        assert_eq!((serving(tickets), next(tickets), tickets & WRAPPED), (0, 2, WRAPPED));
    }

    #[test]
    fn waiters_are_forgotten_at_the_wrap_too() {
        let lock = free_at(LAST_TICKET);
        lock.acquire(&mut ());
        lock.tickets.fetch_add(3 * ONE_TICKET, Ordering::Relaxed);
        // SAFETY: acquired above, and no other thread uses the lock.
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
