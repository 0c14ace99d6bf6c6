//! A barrier: nobody goes on before all have come.
//!
//! The last thread to come begins the next round, for which the others wait. It is the central
//! barrier with a reversed sense, whose sense is the number of the round (Mellor-Crummey and Scott,
//! TOCS 1991). With it a thread need not remember a sense of its own.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, Wait};

/// A barrier for a fixed number of threads.
pub(crate) struct Barrier<P: Platform> {
    /// How many have come in this round.
    came: Padded<P::U32>,
    round: Padded<P::U32>,
    threads: u32,
}

impl<P: Platform> Barrier<P> {
    pub(crate) fn new(threads: usize) -> Self {
        let zero = || Padded(<P::U32 as Atomic>::new(0));
        Self { came: zero(), round: zero(), threads: threads as u32 }
    }

    /// Waits until all have come.
    pub(crate) fn wait(&self) {
        // No round begins before the caller has come, so this is the number of its round.
        let round = self.round.load(Ordering::Relaxed);
        // Acquire and release: the last to come has seen what all others wrote before they came.
        let before = self.came.fetch_add(1, Ordering::AcqRel);
        if before + 1 == self.threads {
            // Nobody comes again before the next round has begun.
            self.came.store(0, Ordering::Relaxed);
            // Release: it passes on to the waiters what all have written.
            self.round.store(round.wrapping_add(1), Ordering::Release);
        } else {
            P::wait_until(&*self.round, Wait::Spin, |now| now != round);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Barrier;
    use kilocore_platform::Native;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn nobody_is_a_round_ahead() {
        const ROUNDS: u32 = 200;
        let (barrier, came) = (Barrier::<Native>::new(3), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for round in 1..=ROUNDS {
                        came.fetch_add(1, Ordering::Relaxed);
                        barrier.wait();
                        assert_eq!(came.load(Ordering::Relaxed), 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
