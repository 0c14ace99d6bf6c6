//! MUTEXEE: a mutex that sleeps late and wakes reluctantly.
//!
//! Putting a thread to sleep and waking it costs more energy and time than most waits take. A
//! waiter therefore spins much longer than a waiter in glibc before it sleeps. A release that finds
//! sleepers first watches for a moment whether a thread that is awake takes the lock. If one does,
//! no wake-up is needed (Falsafi, Guerraoui, Picorel and Trigonakis, 'Unlocking energy', USENIX ATC
//! 2016). If most acquisitions have to sleep nonetheless, both spins are in vain, and the lock uses
//! short ones for a while.
//!
//! # The word
//!
//! | bit | meaning |
//! | --- | --- |
//! | `HELD` | a thread holds the lock |
//! | `SLEEPERS` | a thread may sleep: a release must see to it that one wakes, or leave that to the next holder |
//! | `WATCHED` | the last holder still watches whether a thread takes the lock |
//!
//! A thread that takes the lock while it is watched also takes over the duty to wake the sleepers.
//! It may not release the lock before the watcher has seen this and cleared its bit, because until
//! then the watcher touches the word. A watcher that sees no thread take the lock clears the word
//! and wakes one sleeper. That sleeper takes the lock with `SLEEPERS` set, since it cannot know
//! whether it was the only one.
//!
//! # Where it departs from the paper
//! In the paper, the releasing thread may look at a lock that its next holder has already
//! destroyed. The bit `WATCHED` prevents this. The turns between two looks are spin-loop hints and
//! not memory fences. The share of acquisitions that slept is computed over [`WINDOW`] of them, and
//! the long spins are tried again after [`SHORT_WINDOWS`]. Sleepers have no time limit.

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Platform, Wait};

use crate::{LockInfo, RawLock, Waiting};

/// A MUTEXEE lock: waiters spin, and sleep in the kernel where that pays.
#[derive(Debug)]
pub struct Mutexee<P: Platform> {
    state: P::U32,
    /// What waiters did lately, as a [`History`]. Only holders write it.
    history: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "mutexee",
    title: "mutex that spins long before it sleeps and before it wakes a sleeper",
    source: "Falsafi, Guerraoui, Picorel and Trigonakis, USENIX ATC 2016",
    best_at: "contended mutexes of moderate length, throughput for energy",
    worst_at: "fairness: who sleeps may sleep for long; many spinners on one word",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};

const FREE: u32 = 0;
const HELD: u32 = 1;
const SLEEPERS: u32 = 2;
const WATCHED: u32 = 4;

/// Turns of a spin loop between two looks.
const TURNS_BETWEEN_LOOKS: u32 = 2;

/// How long waiters and watchers spin. The paper has two modes; the numbers are the paper's.
struct Spins {
    /// How long a waiter spins before it sleeps.
    acquiring: Cycles,
    /// How long a release watches before it wakes a sleeper.
    releasing: Cycles,
}

const LONG: Spins = Spins { acquiring: Cycles(8_000), releasing: Cycles(384) };
const SHORT: Spins = Spins { acquiring: Cycles(256), releasing: Cycles(128) };

/// Number of acquisitions with a wait over which the share of those that slept is computed.
const WINDOW: u32 = 256;
/// If more than this share of acquisitions slept, in percent, long spins do not pay. The number is
/// the paper's.
const MOST_SLEPT_PERCENT: u32 = 30;
/// Number of windows with short spins before long ones are tried again.
const SHORT_WINDOWS: u32 = 8;

/// What waiters did lately, packed into one word. Bits 0 to 15: acquisitions in this window. Bits
/// 16 to 27: those of them that slept. Bits 28 to 31: the number of windows with short spins that
/// are left.
#[derive(Clone, Copy)]
struct History(u32);

impl History {
    fn spins(self) -> &'static Spins {
        if self.0 >> 28 == 0 { &LONG } else { &SHORT }
    }

    /// Returns the history after one more acquisition.
    fn with(self, slept: bool) -> Self {
        let waited = (self.0 & 0xFFFF) + 1;
        let slept = (self.0 >> 16 & 0xFFF) + u32::from(slept);
        let short = self.0 >> 28;
        if waited < WINDOW {
            return Self(short << 28 | slept << 16 | waited);
        }
        let short = match short {
            0 if slept * 100 > waited * MOST_SLEPT_PERCENT => SHORT_WINDOWS,
            0 => 0,
            left => left - 1,
        };
        Self(short << 28)
    }
}

/// Looks repeatedly, for `time`, whether `done` returns true, and returns whether it did. Under a
/// checker, it looks once.
#[inline]
fn spin<P: Platform>(time: Cycles, mut done: impl FnMut() -> bool) -> bool {
    let start = P::now().0;
    loop {
        P::pause(TURNS_BETWEEN_LOOKS);
        if done() {
            return true;
        }
        if P::CHECKED || P::now().0.wrapping_sub(start) >= time.0 {
            return false;
        }
    }
}

impl<P: Platform> Mutexee<P> {
    #[inline]
    fn take_if_free(&self) -> bool {
        let state = self.state.load(Ordering::Relaxed);
        state & HELD == 0 && self.take(state, HELD)
    }

    /// Takes the lock, which was free in `state`, and sets `bits`. Returns false if the word has
    /// changed.
    #[inline]
    fn take(&self, state: u32, bits: u32) -> bool {
        self.state
            .compare_exchange(state, state | bits, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[cold]
    fn wait(&self) {
        // Relaxed: this is a hint, and any value is correct.
        let spins = History(self.history.load(Ordering::Relaxed)).spins();
        let slept = !spin::<P>(spins.acquiring, || self.take_if_free());
        if slept {
            self.sleep();
        }
        // We hold the lock, so no other thread writes the history.
        let history = History(self.history.load(Ordering::Relaxed)).with(slept);
        self.history.store(history.0, Ordering::Relaxed);
    }

    fn sleep(&self) {
        loop {
            let state = self.state.load(Ordering::Relaxed);
            if state & HELD == 0 {
                if self.take(state, HELD | SLEEPERS) {
                    return;
                }
                continue;
            }
            let marked = state | SLEEPERS;
            let sleeps = state == marked
                || self
                    .state
                    .compare_exchange(state, marked, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if sleeps {
                P::park(&self.state, marked, None);
            }
        }
    }

    /// Releases the lock when a thread may sleep or the last holder may still watch.
    #[cold]
    fn release_watching(&self) {
        let state = P::wait_until(&self.state, Wait::Spin, |state| state & WATCHED == 0);
        if state & SLEEPERS == 0 && self.set_free() {
            return;
        }
        let spins = History(self.history.load(Ordering::Relaxed)).spins();
        // While both `HELD` and `SLEEPERS` are set, only the holder changes the word.
        self.state.store(SLEEPERS | WATCHED, Ordering::Release);
        let taken = spin::<P>(spins.releasing, || self.state.load(Ordering::Relaxed) & HELD != 0);
        let address = &raw const self.state;
        // Argued: release, here and below. A thread that finds the bit clear may destroy the lock,
        // and all our looks at the word must come before that.
        let nobody = !taken
            && self
                .state
                .compare_exchange(SLEEPERS | WATCHED, FREE, Ordering::Release, Ordering::Relaxed)
                .is_ok();
        if nobody {
            // The memory of the word may be freed, so we use only its address.
            P::unpark(address, 1);
        } else {
            // Argued: as above.
            self.state.fetch_and(!WATCHED, Ordering::Release);
        }
    }

    #[inline]
    fn set_free(&self) -> bool {
        self.state.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: a thread sets `HELD` by a compare-and-swap with acquire from a state without it, and a
// release clears it with release. A holder releases only while `WATCHED` is clear, and clearing it
// is the last access of the holder before. So the thread that releases last is the last to touch
// the word. The lock has two words of 32 bits, it is free when all its bits are zero (`FREE`), and
// it names no thread.
unsafe impl<P: Platform> RawLock<P> for Mutexee<P> {
    type Thread = ();

    fn new() -> Self {
        Self { state: P::U32::new(FREE), history: P::U32::new(0) }
    }

    #[inline]
    fn acquire(&self, (): &mut ()) {
        if !self.take(FREE, HELD) {
            self.wait();
        }
    }

    #[inline]
    fn try_acquire(&self, (): &mut ()) -> bool {
        self.take_if_free()
    }

    #[inline]
    unsafe fn release(&self, (): &mut ()) {
        if !self.set_free() {
            self.release_watching();
        }
    }

    unsafe fn forget_waiters(&self, (): &mut ()) {
        self.state.store(HELD, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{History, LONG, MOST_SLEPT_PERCENT, SHORT, SHORT_WINDOWS, WINDOW};

    /// Returns the history after a window in which `slept` acquisitions slept.
    fn after_window(mut history: History, slept: u32) -> History {
        for turn in 0..WINDOW {
            history = history.with(turn < slept);
        }
        history
    }

    #[test]
    fn spins_shorten_where_most_sleep_and_lengthen_again() {
        let most = WINDOW * MOST_SLEPT_PERCENT / 100;
        let fresh = History(0);
        assert_eq!(fresh.spins().acquiring, LONG.acquiring);
        assert_eq!(after_window(fresh, most).spins().acquiring, LONG.acquiring);
        let mut history = after_window(fresh, most + 1);
        for _ in 0..SHORT_WINDOWS {
            assert_eq!(history.spins().acquiring, SHORT.acquiring);
            history = after_window(history, WINDOW);
        }
        assert_eq!(history.spins().acquiring, LONG.acquiring);
        assert_eq!(history.0, 0);
    }
}
