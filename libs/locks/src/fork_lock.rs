//! A small lock that the child of a fork finds free.
//!
//! It is for libraries that live inside somebody else's program, and guards a few tens of
//! instructions there, for example changes to a list of waiters. When a thread forks, another
//! thread may hold such a lock. In the child, nobody would ever release it. The lock therefore
//! stores the number of the process in which it was last acquired. A thread that finds the number
//! of another process acquires the lock even if it is held. It learns at the same time that what
//! the lock guards was left behind by threads that no longer exist.
//!
//! # States
//! The upper bits of the word are the process number. The lower two bits are one of these:
//!
//! | value | meaning |
//! | --- | --- |
//! | `FREE` | The lock is free. |
//! | `HELD` | The lock is held, and no thread sleeps. |
//! | `CONTENDED` | The lock is held, and a thread may sleep. |

use kilocore_platform::{Atomic, Ordering, Platform};

const FREE: u32 = 0;
const HELD: u32 = 1;
const CONTENDED: u32 = 2;
const STATE_BITS: u32 = 32 - PROCESS_BITS;

/// Number of bits of a process number.
pub const PROCESS_BITS: u32 = 30;

/// How often a waiter looks at a held lock before it sleeps.
const LOOKS: u32 = 100;

/// A lock that belongs to one process. It is free when all its bits are zero.
///
/// The caller numbers the processes from 1 to 2^[`PROCESS_BITS`] - 1. The number of a child must
/// differ from those of all its ancestors.
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
    /// Acquires the lock for `process`. Returns true if another process, or none, had it last: the
    /// caller must then reset what the lock guards to its initial state.
    #[must_use]
    pub fn acquire(&self, process: u32) -> bool {
        let free = process << STATE_BITS | FREE;
        let mut taken = process << STATE_BITS | HELD;
        let mut looks = if P::CHECKED { 1 } else { LOOKS };
        loop {
            let now = self.word.load(Ordering::Relaxed);
            let inherited = now >> STATE_BITS != process;
            if inherited || now == free {
                // Acquire makes visible to us what the last holder wrote.
                let took =
                    self.word.compare_exchange(now, taken, Ordering::Acquire, Ordering::Relaxed);
                if took.is_ok() {
                    return inherited;
                }
            } else if looks > 0 {
                looks -= 1;
                P::pause(1);
            } else {
                // We have slept or are about to, so others may sleep too. From now on we acquire
                // the lock as `CONTENDED`, so that our release wakes one of them.
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

    /// Releases the lock. The lock may be freed as soon as another thread has acquired it.
    ///
    /// # Safety
    /// The caller has acquired the lock in `process` and still holds it.
    pub unsafe fn release(&self, process: u32) {
        let word = &raw const self.word;
        // Release makes what we wrote under the lock visible to the next holder.
        let before = self.word.swap(process << STATE_BITS | FREE, Ordering::Release);
        if before == process << STATE_BITS | CONTENDED {
            P::unpark(word, 1);
        }
    }
}
