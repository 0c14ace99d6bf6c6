//! Threads that try a mutex again and again.
//!
//! Some programs wait in a loop around `pthread_mutex_trylock`. Each try reads the mutex's line, which the holder and those
//! who wait in the lock's queue have to write. If dozens of threads do that, each write waits for all of their reads. So a
//! thread whose tries fail one after the other waits a little before it is told that the mutex is held: longer from try to
//! try, up to some microseconds.
//!
//! No clock is read, which a sandbox may forbid. How long a turn of a spin loop takes is found when the program starts.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_platform::{Cycles, Native, Platform};

/// The longest delay.
const LONGEST: Cycles = Cycles(1 << 13);
/// The same in turns of a spin loop: as few as it can be until it is known, which is on the processors with the longest
/// pause.
static LONGEST_TURNS: AtomicU32 = AtomicU32::new(LEAST_TURNS);
const LEAST_TURNS: u32 = 64;

/// Finds how long a turn takes.
pub(crate) fn prepare() {
    let took = |_| {
        let begin = Native::now();
        Native::pause(LEAST_TURNS);
        Native::now().since(begin)
    };
    // The shortest counts: the others were disturbed.
    let shortest = (0..3).map(took).min().unwrap_or(LONGEST);
    LONGEST_TURNS.store(longest_turns(shortest), Ordering::Relaxed);
}

/// The longest delay in turns, if [`LEAST_TURNS`] take so long. A turn takes a cycle at least.
fn longest_turns(took: Cycles) -> u32 {
    let turns = LONGEST.0 * u64::from(LEAST_TURNS) / took.0.max(u64::from(LEAST_TURNS));
    (turns as u32).max(LEAST_TURNS)
}

/// What a thread keeps of the tries that failed.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Polls {
    mutex: usize,
    /// How long the next one is delayed, in turns of a spin loop.
    turns: u32,
}

const _: () = assert!(size_of::<Polls>() == 16, "enlarge it, here and in wait.c");

impl Polls {
    /// A try of the mutex at this address has failed.
    pub(crate) fn failed(&mut self, mutex: usize) {
        if self.mutex == mutex {
            Native::pause(self.turns);
            self.turns = (self.turns * 2).min(LONGEST_TURNS.load(Ordering::Relaxed));
        } else {
            *self = Self { mutex, turns: 1 };
        }
    }

    /// A try has succeeded.
    #[inline]
    pub(crate) fn succeeded(&mut self) {
        self.mutex = 0;
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Cycles;

    use super::{LEAST_TURNS, LONGEST, Polls, longest_turns};

    #[test]
    fn delays_grow_while_tries_of_one_mutex_fail() {
        let mut polls = Polls { mutex: 0, turns: 0 };
        let mut turns_after = |mutex| {
            polls.failed(mutex);
            polls.turns
        };
        assert_eq!([8, 8, 8, 16].map(&mut turns_after), [1, 2, 4, 1]);
        assert_eq!((0..20).map(|_| turns_after(16)).last(), Some(LEAST_TURNS));
        polls.succeeded();
        polls.failed(16);
        assert_eq!(polls.turns, 1);
    }

    #[test]
    fn the_longest_delay_is_about_as_long_on_all_processors() {
        assert_eq!(longest_turns(Cycles(10 * 64)), 819);
        assert_eq!(longest_turns(Cycles(140 * 64)), LEAST_TURNS);
        assert_eq!(longest_turns(Cycles(0)), LONGEST.0 as u32);
    }
}
