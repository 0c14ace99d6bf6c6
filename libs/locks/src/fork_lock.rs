//! A small lock that a forked child finds free.
//!
//! It guards some tens of instructions of a library that lives inside somebody else's program: a
//! list of waiters, say. Such a lock may be held by any thread at the moment at which another
//! forks. Nobody would ever release it in the child, so its word carries the number of the
//! process in which it was last taken: whoever finds another number there takes the lock as it is,
//! and learns that what it guards was left behind by threads that do not exist any more.
//!
//! # States
//! The upper bits of the word are the process, the lower two one of these.
//!
//! | value | meaning |
//! | --- | --- |
//! | `FREE` | not held |
//! | `HELD` | held, nobody sleeps |
//! | `CONTENDED` | held, and somebody may sleep |

use kilocore_platform::{Atomic, Ordering, Platform};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;
const STATE_BITS: u32 = 32 - PROCESS_BITS;

/// Bits of a process number.
pub const PROCESS_BITS: u32 = 30;

/// Looks at a held lock before a waiter sleeps.
const LOOKS: u32 = 100;

/// A lock that belongs to one process; all zero is a free one.
///
/// Processes are numbered by the caller, from 1 to 2^[`PROCESS_BITS`] - 1, so that a child's
/// number is none of those that it descends from.
#[derive(Debug)]
pub struct ForkLock<P: Platform> {
    word: P::U32,
}

impl<P: Platform> Default for ForkLock<P> {
    fn default() -> Self {
        Self { word: P::U32::new(FREE) }
    }
}

impl<P: Platform> ForkLock<P> {
    /// Takes the lock in `process`, and is true if this process never had it before: what it
    /// guards is then to be put back to how it began.
    #[must_use]
    pub fn acquire(&self, process: u32) -> bool {
        let free = process << STATE_BITS | FREE;
        let mut taken = process << STATE_BITS | HELD;
        let mut looks = if P::CHECKED { 1 } else { LOOKS };
        loop {
            let now = self.word.load(Ordering::Relaxed);
            let inherited = now >> STATE_BITS != process;
            if inherited || now == free {
                // Acquire shows what the last holder did.
                let took =
                    self.word.compare_exchange(now, taken, Ordering::Acquire, Ordering::Relaxed);
                if took.is_ok() {
                    return inherited;
                }
            } else if looks > 0 {
                looks -= 1;
                P::pause(1);
            } else {
                // Having slept, others may sleep still: say so when taking it.
                taken = process << STATE_BITS | CONTENDED;
                let marked = now == taken
                    || self
                        .word
                        .compare_exchange(now, taken, Ordering::Relaxed, Ordering::Relaxed)
                        .is_ok();
                if marked {
                    P::park(&self.word, taken, None);
                }
            }
        }
    }

    /// Lets the lock go. It may cease to exist as soon as another has taken it.
    ///
    /// # Safety
    /// The caller holds the lock, taken in `process`.
    pub unsafe fn release(&self, process: u32) {
        let word = &raw const self.word;
        // Release: what was done under the lock comes before the next holder.
        let before = self.word.swap(process << STATE_BITS | FREE, Ordering::Release);
        if before == process << STATE_BITS | CONTENDED {
            P::unpark(word, 1);
        }
    }
}
