//! Waiting for another thread that is about to be done.

use core::hint::spin_loop;

use crate::{clock, confined};

/// Turns between two offers of the core to others.
const TURNS: u32 = 64;

/// Turns of those who may not ask for the time: about a second of them.
const TURNS_CONFINED: u32 = 20_000_000;

/// How long it lasts, in nanoseconds: whoever is waited for may have lost its core, for many time
/// slices on a busy host, but does nothing that takes long.
const LONGEST: u64 = 1_000_000_000;

/// What is left to wait: it ends where whoever is waited for will never be done, as one that was
/// interrupted by a signal whose handler waits here.
pub(crate) struct Patience {
    turns: u32,
    /// When it ends, once the core was first offered to others.
    end: Option<u64>,
}

impl Patience {
    /// All of it.
    pub(crate) fn new() -> Self {
        Self { turns: 0, end: None }
    }

    /// Lets a moment pass. False at the end.
    pub(crate) fn wait(&mut self) -> bool {
        self.turns += 1;
        if !self.turns.is_multiple_of(TURNS) {
            spin_loop();
            return true;
        }
        if confined::is_confined() {
            spin_loop();
            return self.turns < TURNS_CONFINED;
        }
        // SAFETY: takes no argument.
        unsafe { libc::sched_yield() };
        let now = clock::system_ns(libc::CLOCK_MONOTONIC);
        now < *self.end.get_or_insert(now + LONGEST)
    }
}
