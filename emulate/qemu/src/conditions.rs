//! Condition variables of glibc, on machines whose glibc was another one.
//!
//! Since glibc 2.25, a broadcast wakes all waiters, which then contend for the mutex. Before, it woke one and had the kernel
//! let the others wait for the mutex, so that each wakes when the one before it unlocks. With many waiters that
//! decides how long a barrier takes. The program runs on this host's glibc, so the old way is put under it: its broadcast is
//! one call of `futex` that wakes all, which becomes one that [moves](kilocore_sim::Guest::futex_requeue) all but one.
//!
//! # Which mutex it is
//! The kernel is not told. But a thread that begins to wait has just executed three atomic operations: two on the condition
//! variable, at fixed distances from the word on which it then sleeps, and one that unlocks the mutex. At most two others
//! follow: it counts itself once more, and says that it may be cancelled. No other code does that.
//!
//! # Nobody waits for ever
//! The new glibc unlocks a mutex by a call that wakes another waiter if a waiter has taken it, as the old one did, so one
//! moved waiter wakes the next. But it also lets a second broadcast, and who destroys the variable, wait until all
//! waiters of the first have gone on, perhaps with the mutex. Before that, all that were moved are woken. Mutexes that
//! the kernel itself unlocks, and what several processes share, were never waited for in this way.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::Orders;

use crate::memory;

/// Whether the machine's glibc does so.
static IS_OLD: AtomicBool = AtomicBool::new(false);

/// The mutex of each condition variable, both by their addresses.
static MUTEXES: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// Where the parts of a condition variable are (`struct __pthread_cond_s`, glibc 2.25 to 2.41).
mod offset {
    pub(super) const SEQUENCE: u64 = 0;
    pub(super) const REFERENCES: u64 = 16;
    pub(super) const WAITERS: u64 = 36;
    pub(super) const SIGNALS: u64 = 40;
    /// Of the second of two groups of waiters, behind the first.
    pub(super) const SECOND: u64 = 4;
}

/// Where a mutex says of which kind it is (`struct __pthread_mutex_s`).
const KIND: u64 = 16;
/// Its kinds that are unlocked without telling who waits: those of a dead owner, of a lent priority, and of several
/// processes.
const OTHER_KINDS: u32 = 0xf0;

/// What a thread did last by atomic operations: the addresses, the last one first, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Updates([Cell<u64>; UPDATES]);

/// Operations that are remembered.
const UPDATES: usize = 5;

impl Updates {
    /// The thread has executed an atomic operation.
    #[inline]
    pub(crate) fn add(&self, address: u64) {
        // QEMU may tell of its load and of its store.
        if self.0[0].get() != address {
            for (later, earlier) in self.0.iter().zip(&self.0[1..]).rev() {
                earlier.set(later.get());
            }
            self.0[0].set(address);
        }
    }

    fn last(&self) -> [u64; UPDATES] {
        self.0.each_ref().map(Cell::get)
    }
}

/// The program begins.
pub(crate) fn begin(orders: &Orders) {
    let figure = orders.machine.os.requeued_broadcasts.as_ref();
    IS_OLD.store(figure.is_some_and(|figure| figure.value >= 0.5), Ordering::Relaxed);
}

/// Whether it matters what threads do.
#[inline]
pub(crate) fn matter() -> bool {
    IS_OLD.load(Ordering::Relaxed)
}

fn mutexes() -> MutexGuard<'static, BTreeMap<u64, u64>> {
    MUTEXES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The condition variables on whose words for signals somebody may be about to sleep: one for each group of waiters.
fn of_signals(word: u64) -> [u64; 2] {
    let first = word.wrapping_sub(offset::SIGNALS);
    [first, first.wrapping_sub(offset::SECOND)]
}

/// The mutex that a thread has unlocked to wait on a word, with the condition variable, if that is what it does.
fn unlocked(word: u64, updates: &Updates) -> Option<(u64, u64)> {
    let last = updates.last();
    of_signals(word).into_iter().find_map(|condition| {
        let counted = [offset::WAITERS, offset::SEQUENCE].map(|part| condition.wrapping_add(part));
        let at = last.windows(3).position(|three| three[1..] == counted)?;
        Some((condition, last[at]))
    })
}

/// A thread is about to sleep on a word. Returns a mutex, those who sleep on which have to be woken before.
pub(crate) fn waits(word: u64, updates: &Updates) -> Option<u64> {
    if !matter() {
        return None;
    }
    if let Some((condition, mutex)) = unlocked(word, updates) {
        mutexes().insert(condition, mutex);
        return None;
    }
    let references = [offset::REFERENCES, offset::REFERENCES + offset::SECOND, offset::WAITERS];
    let mutexes = mutexes();
    references.iter().find_map(|part| mutexes.get(&word.wrapping_sub(*part)).copied())
}

/// A thread is about to wake all who sleep on a word. Returns the mutex for which all but one are to wait, if the word is
/// that of a condition variable.
pub(crate) fn broadcasts(word: u64) -> Option<u64> {
    if !matter() {
        return None;
    }
    let mutex = {
        let mutexes = mutexes();
        of_signals(word).iter().find_map(|condition| mutexes.get(condition).copied())?
    };
    let kind = memory::load(mutex.wrapping_add(KIND))?;
    (kind & OTHER_KINDS == 0).then_some(mutex)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONDITION: u64 = 0x1000;
    const MUTEX: u64 = 0x1030;
    const CANCELLED: u64 = 0x7000;

    fn after(addresses: &[u64]) -> Updates {
        let updates = Updates::default();
        addresses.iter().for_each(|&address| updates.add(address));
        updates
    }

    #[test]
    fn a_wait_is_known_by_what_came_before() {
        for group in [0, 4] {
            let (word, references) = (CONDITION + 40 + group, CONDITION + 16 + group);
            let [sequence, waiters] = [CONDITION, CONDITION + 36];
            for before in [
                // With glibc 2.36, and where a thread cannot be cancelled.
                &[sequence, waiters, MUTEX, references, CANCELLED][..],
                &[sequence, waiters, MUTEX, references],
                // With glibc 2.41, which does not count references.
                &[0x9000, sequence, waiters, MUTEX, CANCELLED],
                // Operations of which QEMU tells twice.
                &[sequence, sequence, waiters, MUTEX, MUTEX, references, CANCELLED],
            ] {
                let found = unlocked(word, &after(before));
                assert_eq!(found, Some((CONDITION, MUTEX)), "{group} {before:x?}");
            }
        }
    }

    #[test]
    fn nothing_else_is_taken_for_one() {
        let word = CONDITION + 40;
        for other in [
            &[CONDITION, MUTEX, CONDITION + 36, CONDITION + 16][..],
            &[CONDITION + 36, CONDITION, MUTEX, CONDITION + 16],
            &[0x2000, CONDITION + 36, MUTEX, CONDITION + 16],
            // Too long ago.
            &[CONDITION, CONDITION + 36, MUTEX, CONDITION + 16, CANCELLED, 0x9000],
        ] {
            assert_eq!(unlocked(word, &after(other)), None, "{other:x?}");
        }
        assert_eq!(unlocked(word, &Updates::default()), None);
    }
}
