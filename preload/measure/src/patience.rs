//! Waits for another thread that will soon be done, for a limited time.

use core::hint::spin_loop;

use crate::{clock, confined};

/// The number of turns between two offers of the core to other threads.
const TURNS: u32 = 64;

/// The largest number of turns in a confined process, which cannot read the time. They take about a
/// second.
const TURNS_CONFINED: u32 = 20_000_000;

/// The longest wait, in nanoseconds. The other thread does nothing that takes long, but it may have
/// lost its core, on a busy host for many time slices.
const LONGEST: u64 = 1_000_000_000;

/// The state of a wait. The wait is limited because the other thread may never be done, for example
/// if it was interrupted by a signal whose handler waits here.
pub(crate) struct Patience {
    turns: u32,
    /// When the wait ends. It is set when the core is first offered to other threads.
    end: Option<u64>,
}

impl Patience {
    /// Returns the state at the beginning of a wait.
    pub(crate) fn new() -> Self {
        Self { turns: 0, end: None }
    }

    /// Lets a moment pass. Returns false if the wait has lasted too long.
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
        // SAFETY: the function has no arguments.
        unsafe { libc::sched_yield() };
        let now = clock::system_ns(libc::CLOCK_MONOTONIC);
        now < *self.end.get_or_insert(now + LONGEST)
    }
}
