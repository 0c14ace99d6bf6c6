//! Queues beside locks that are too small to have one.
//!
//! A lock of 32 bits has no room for a queue lock, and its fast paths are compiled into its users. Only
//! what a thread does that has to wait can be replaced. Here, such a thread waits in a queue that lies in a
//! table beside the locks: the waiters of a lock find the same slot by the lock's [key](SmallLock::key), and
//! acquire the queue lock of that slot. The one that has it is the *head*. It alone waits for the small lock,
//! takes it, and then releases the queue lock. So whatever the queue lock is good at holds for the waiters of
//! the small lock.
//!
//! Linux's paravirtual spin locks keep a table beside the locks too, by which a release finds the waiter to
//! wake (`pv_hash`, Long, 'qspinlock: a paravirt-friendly queue spinlock', 2015). What differs is that the
//! table has the queues themselves here, so that any queue lock serves.
//!
//! # Exclusion
//! Every thread takes the small lock by a compare-exchange from a word that says that nobody has it. The
//! queues only decide who tries. An error in them could make waiters wait for ever, but never lets two in.
//!
//! # Who may wait for whom
//! The threads in a queue wait for the holder of the small lock, who may itself wait for another lock. If
//! that one's waiters shared the queue, the holder could wait for its own waiters. So a slot belongs to the
//! waiters of one lock at a time. The word of its *claim* has that lock and the number of waiters. A waiter
//! that finds the slot in use for another lock does not wait for it. It waits for the small lock alone, as
//! for a test-and-set lock, until the slot is free or its own lock's.
//!
//! The same holds for a thread that is interrupted, and whose interrupt handler waits for another lock.
//! The handler finds the slot in use by the thread that it has interrupted, from before that
//! one waits for the queue lock until after it has released it. Therefore a waiter leaves its slot last.
//!
//! # Fairness
//! In the order of the queue lock. The head sets a bit in the word by which the exchange of others fails, so
//! nobody that arrives later gets in before it. Between the release of the queue lock and the moment when
//! the next head has set the bit, an arrival may. While the slot is in use for another lock there is no order.

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

use crate::RawLock;

/// A lock of one word, which is too small to have a queue.
///
/// The word is 0 if the lock is free. A thread that has not waited takes the lock by a compare-exchange
/// from 0 to [`HELD`](Self::HELD) with acquire ordering. A release clears the bits of `HELD`, with release
/// ordering, and changes no others. Nobody but [`SideQueues::acquire`] sets or clears
/// [`KEEP_OUT`](Self::KEEP_OUT). The word never has any other bits. If one of this is broken, waiters may
/// wait for ever, or two threads may have the lock.
pub trait SmallLock<P: Platform> {
    /// The bits that are set while a thread has the lock.
    const HELD: u32;

    /// A bit outside of [`HELD`](Self::HELD). It is set while the head of the queue waits for the lock.
    const KEEP_OUT: u32;

    /// The word.
    fn word(&self) -> &P::U32;

    /// A number below 2^55 that the lock keeps while threads wait for it, and that no other lock has which
    /// uses the same queues meanwhile. Where addresses have 57 bits, that of a word without its two lowest
    /// bits, which are 0, will do. A lock that threads know by two keys, as its memory is mapped twice, has two queues, and
    /// no order between them.
    fn key(&self) -> u64;
}

/// The number of bits of a key.
const KEY_BITS: u32 = 55;

/// An odd number, so that multiplying by it gives different results for different keys (2^55 divided by the
/// golden ratio).
const SPREAD: u64 = 0x4F_1BBC_DCBF_A53F;

/// A queue, and whose it is.
struct Slot<P: Platform, L> {
    /// The upper bits: the rest of the key of the lock whose waiters have the slot. The lower bits: how many
    /// waiters have joined. If there are none, the slot is free, and the rest means nothing.
    claim: P::U64,
    queue: L,
}

/// A table of queues, each a lock `L`. `SLOTS` is a power of two. If it is several times the number of
/// processors, two locks that are waited for at a time rarely have the same slot.
///
/// If the bits of a free `L` are all zero, so are those of a table that nobody uses.
pub struct SideQueues<P: Platform, L: RawLock<P>, const SLOTS: usize> {
    slots: [Padded<Slot<P, L>>; SLOTS],
}

impl<P: Platform, L: RawLock<P>, const SLOTS: usize> SideQueues<P, L, SLOTS> {
    /// The number of bits by which a slot is chosen.
    const SLOT_BITS: u32 = {
        assert!(SLOTS.is_power_of_two(), "the number of slots is a power of two");
        SLOTS.trailing_zeros()
    };
    /// The number of bits of what is left of a key.
    const REST_BITS: u32 = KEY_BITS - Self::SLOT_BITS;
    /// The number of bits of a claim that count waiters.
    const COUNT_BITS: u32 = u64::BITS - Self::REST_BITS;
    /// How many waiters a queue takes: 524,287 with 1,024 slots.
    const MOST: u64 = if P::CHECKED { 2 } else { (1 << Self::COUNT_BITS) - 1 };

    /// Makes queues in which nobody waits.
    #[must_use]
    pub fn new() -> Self {
        let slot = |_| Padded(Slot { claim: P::U64::new(0), queue: L::new() });
        Self { slots: core::array::from_fn(slot) }
    }

    /// Waits until `lock` is free and takes it. Returns whether the caller waited in a queue.
    ///
    /// Taking it is an acquire operation. The caller has failed to take the lock, or expects to. If it is
    /// interrupted by a handler that calls this too, with the same queues, the handler waits for another
    /// lock, and whoever has that one does not wait for the first.
    ///
    /// # Panics
    /// If the key has more than 55 bits, in builds with assertions.
    pub fn acquire<S: SmallLock<P>>(&self, lock: &S, thread: &mut L::Thread) -> bool {
        let (number, rest) = Self::place(lock.key());
        let slot = &*self.slots[number];
        let word = lock.word();
        while !Self::join(slot, rest) {
            let seen = word.load(Ordering::Relaxed);
            if seen != 0 {
                // Any change will do: the lock is free, or its queue has a head by now, which has the slot.
                P::wait_until(word, Wait::Spin, |now| now != seen);
            } else if Self::take::<S>(word, 0) {
                return false;
            }
        }
        slot.queue.acquire(thread);
        loop {
            // Again if the head of another queue has taken the bit away: of a lock that has two keys.
            word.fetch_or(S::KEEP_OUT, Ordering::Relaxed);
            P::wait_until(word, Wait::Spin, |now| now & S::HELD == 0);
            if Self::take::<S>(word, S::KEEP_OUT) {
                break;
            }
        }
        // SAFETY: acquired above.
        unsafe { slot.queue.release(thread) };
        // Last: see 'Who may wait for whom'. Release, so that it stays last. Argued: the handler that relies on it runs on
        // this processor, which loom has none of.
        slot.claim.fetch_sub(1, Ordering::Release);
        true
    }

    /// Takes a lock if its word is `free`. Returns whether it did.
    #[inline]
    fn take<S: SmallLock<P>>(word: &P::U32, free: u32) -> bool {
        // Acquire pairs with the last holder's release.
        word.compare_exchange(free, S::HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Returns the number of a key's slot, and what is left of the key. No two keys have the same of both.
    #[inline]
    fn place(key: u64) -> (usize, u64) {
        debug_assert!(key >> KEY_BITS == 0, "the key {key:#x} has more than {KEY_BITS} bits");
        let spread = key.wrapping_mul(SPREAD) & ((1 << KEY_BITS) - 1);
        ((spread >> Self::REST_BITS) as usize, spread & ((1 << Self::REST_BITS) - 1))
    }

    /// Joins the waiters of a slot. Returns false if those of another lock have it, or if it is full.
    #[inline]
    fn join(slot: &Slot<P, L>, rest: u64) -> bool {
        let mut claim = slot.claim.load(Ordering::Relaxed);
        loop {
            let waiters = claim & ((1 << Self::COUNT_BITS) - 1);
            let of_another = claim >> Self::COUNT_BITS != rest;
            if waiters >= Self::MOST || waiters != 0 && of_another {
                return false;
            }
            let joined = (rest << Self::COUNT_BITS) + waiters + 1;
            // Acquire pairs with the leaving of those before: the queue is as they have left it. Argued: loom sees no harm
            // in less, as the words of its queues are all atomic; those of another one may not be.
            let joining =
                slot.claim.compare_exchange(claim, joined, Ordering::Acquire, Ordering::Relaxed);
            match joining {
                Ok(_) => return true,
                Err(now) => claim = now,
            }
        }
    }
}

impl<P: Platform, L: RawLock<P>, const SLOTS: usize> Default for SideQueues<P, L, SLOTS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform, L: RawLock<P>, const SLOTS: usize> fmt::Debug for SideQueues<P, L, SLOTS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SideQueues").field("slots", &SLOTS).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::{Native, Ordering};

    use super::KEY_BITS;
    use crate::Requester;

    type Queues<const SLOTS: usize> = super::SideQueues<Native, Requester<Native>, SLOTS>;

    #[test]
    fn no_two_keys_share_both_parts() {
        let last = (1 << KEY_BITS) - 1;
        let keys = (0..20_000).chain(last - 20_000..=last).chain((0..KEY_BITS).map(|bit| 1 << bit));
        let keys: std::collections::BTreeSet<u64> = keys.collect();
        let places: std::collections::BTreeSet<_> =
            keys.iter().map(|&key| Queues::<64>::place(key)).collect();
        assert_eq!(places.len(), keys.len());
        assert!(places.iter().all(|&(slot, rest)| slot < 64 && rest >> (KEY_BITS - 6) == 0));
    }

    #[test]
    fn neighbours_are_spread_over_the_slots() {
        let mut waiters = [0; 64];
        for key in 0..640 {
            waiters[Queues::<64>::place(key * 16).0] += 1;
        }
        assert!(waiters.iter().all(|&waiters| waiters <= 20), "{waiters:?}");
    }

    #[test]
    fn a_claim_has_the_key_and_the_count() {
        let queues = Queues::<1024>::new();
        let (number, rest) = Queues::<1024>::place((1 << KEY_BITS) - 1);
        let slot = &*queues.slots[number];
        assert!(Queues::<1024>::join(slot, rest));
        assert!(!Queues::<1024>::join(slot, rest ^ 1), "the slot is another's");
        assert!(Queues::<1024>::join(slot, rest));
        assert_eq!(Queues::<1024>::MOST, 524_287);
        assert_eq!(slot.claim.load(Ordering::Relaxed), rest << 19 | 2);
        slot.claim.fetch_sub(2, Ordering::Relaxed);
        assert!(Queues::<1024>::join(slot, rest ^ 1), "the slot is free");
        slot.claim.fetch_add(524_286, Ordering::Relaxed);
        assert!(!Queues::<1024>::join(slot, rest ^ 1), "the slot is full");
    }
}
