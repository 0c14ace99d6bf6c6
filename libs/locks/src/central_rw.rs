//! A read-write lock around one counter, in the manner of glibc's `pthread_rwlock_t`.
//!
//! Readers register by adding one to the word and leave by subtracting one, so that two
//! read-modify-writes on one cache line are the price of the shortest read: readers share the
//! data but not the line, and reading stops scaling where that line saturates. Readers are
//! preferred, as in glibc's default: they wait for a writer that is inside, never for one that
//! waits. Waiters park at once. Unlike glibc's, a reader that registers while a writer is inside
//! is let in by the writer's one store, without a second phase word, and all sleepers are woken
//! together.
//!
//! It stands for the program's own read-write locks in forecasts; `kilocore run` leaves those to
//! glibc.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::RawRwLock;

/// A writer is inside.
const WRITER: u32 = 1 << 31;
/// Somebody may be parked on the gate.
const PARKED: u32 = 1 << 30;
/// Readers inside, or waiting for the writer inside to leave.
const READERS: u32 = PARKED - 1;

/// A read-write lock without data.
#[derive(Debug)]
pub struct CentralRw<P: Platform> {
    state: P::U32,
    /// Changes whenever sleepers are woken.
    gate: P::U32,
}

impl<P: Platform> CentralRw<P> {
    #[cold]
    fn park_while(&self, mut shut: impl FnMut(u32) -> bool) {
        loop {
            // Argued: acquire keeps this look before the announcement below. Else it could see the
            // gate as it is moved for that announcement, and park for good. loom never shows a load
            // what is stored later.
            let gate = self.gate.load(Ordering::Acquire);
            // Announced before the last look: whoever changes the state after this look sees
            // the announcement and moves the gate, so that parking on the old gate fails. Acquire:
            // what those did who left, if nobody is inside any more.
            let state = self.state.fetch_or(PARKED, Ordering::Acquire);
            if !shut(state) {
                return;
            }
            P::park(&self.gate, gate, None);
            if !shut(self.state.load(Ordering::Acquire)) {
                return;
            }
        }
    }

    #[cold]
    fn wake_all(&self) {
        self.state.fetch_and(!PARKED, Ordering::Relaxed);
        // Argued: release pairs with the first look in `park_while`, and is needed for the same: who
        // sees the gate moved announces itself after the mark was cleared.
        self.gate.fetch_add(1, Ordering::Release);
        P::unpark(core::ptr::from_ref(&self.gate), u32::MAX);
    }
}

// SAFETY: a writer enters by a compare-and-swap that finds neither writer nor reader; a reader
// counts itself and, if there was a writer, waits until it has left. All enter with acquire what
// others left with release, in one word. No thread is named.
unsafe impl<P: Platform> RawRwLock<P> for CentralRw<P> {
    fn new() -> Self {
        Self { state: P::U32::new(0), gate: P::U32::new(0) }
    }

    #[inline]
    fn acquire_shared(&self) {
        let before = self.state.fetch_add(1, Ordering::Acquire);
        if before & WRITER != 0 {
            self.park_while(|state| state & WRITER != 0);
        }
    }

    #[inline]
    unsafe fn release_shared(&self) {
        let before = self.state.fetch_sub(1, Ordering::Release);
        if before & READERS == 1 && before & PARKED != 0 {
            self.wake_all();
        }
    }

    #[inline]
    fn acquire(&self) {
        while !self.try_acquire() {
            self.park_while(|state| state & (WRITER | READERS) != 0);
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        // Again if only the mark of the sleepers has come or gone.
        while state & (WRITER | READERS) == 0 {
            let taken = state | WRITER;
            match self.state.compare_exchange(state, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    #[inline]
    unsafe fn release(&self) {
        let before = self.state.fetch_and(!WRITER, Ordering::Release);
        if before & PARKED != 0 {
            self.wake_all();
        }
    }

    #[inline]
    unsafe fn downgrade(&self) {
        // One step, in which no writer finds the word free. Readers have registered already.
        let before = self.state.fetch_sub(WRITER - 1, Ordering::Release);
        if before & PARKED != 0 {
            self.wake_all();
        }
    }
}
