//! Waits for another thread that will soon be done, for a limited time.

use core::hint::spin_loop;
use core::ptr;

use kilocore_preload_common::errno;

use crate::{clock, confined};

/// The number of turns between two offers of the core to other threads.
const TURNS: u32 = 64;

/// After so many offers the thread sleeps between two turns. An offer is none to threads of a lower real-time priority:
/// if the other thread is one of these, it would not run before this one sleeps.
const OFFERS: u32 = 16;

/// For how long it sleeps at first, and at last, in nanoseconds: many that wait together must not keep the cores busy
/// with waking up.
const NAPS: [i64; 2] = [50_000, 5_000_000];

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
    /// For how long to sleep next, in nanoseconds.
    nap: i64,
}

impl Patience {
    /// Returns the state at the beginning of a wait.
    pub(crate) fn new() -> Self {
        Self { turns: 0, end: None, nap: NAPS[0] }
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
        if self.turns <= OFFERS * TURNS {
            // SAFETY: the function has no arguments.
            unsafe { libc::sched_yield() };
        } else {
            sleep(self.nap);
            self.nap = (self.nap * 2).min(NAPS[1]);
        }
        let now = clock::system_ns(libc::CLOCK_MONOTONIC);
        now < *self.end.get_or_insert(now + LONGEST)
    }
}

/// Sleeps for a moment. It is no cancellation point, as the function of the C library would be.
fn sleep(nap: i64) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: nap };
    // SAFETY: the time is ours, and nobody asks for what is left of it.
    errno::preserved(|| unsafe {
        libc::syscall(libc::SYS_nanosleep, &raw const time, ptr::null_mut::<libc::timespec>())
    });
}
