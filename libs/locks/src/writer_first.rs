//! A read-write lock around one counter that admits writers first.
//!
//! A reader adds one to the word when it enters and subtracts one when it leaves, as in
//! [`CentralRw`](crate::CentralRw). The word also counts the writers that wait. While there are any,
//! readers that come wait, so that a stream of readers cannot keep a writer out; a stream of writers
//! keeps readers out instead. glibc has the same policy under the name
//! `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`. As there, a thread that reads must not ask to read
//! once more: a writer between the two would wait for the thread, and the thread for the writer
//! (Courtois, Heymans and Parnas, 'Concurrent control with "readers" and "writers"', CACM 1971).
//!
//! A reader counts itself before it looks, because an addition never fails, however many readers come
//! at once. If it has to wait, it subtracts itself again. Writers wait in the order of arrival behind
//! a [requester-based lock](Requester), and only the first of them watches the word. It leaves that
//! line when it is inside. All waiting takes place at [gates](crate::gate) outside of the lock, so a
//! release does not touch the lock after the step by which it leaves.
//!
//! # The word
//!
//! | bits | meaning |
//! | --- | --- |
//! | `WRITER` | a writer is inside |
//! | `WAITING` | how many writers wait |
//! | `READERS` | the readers inside, and those that are about to look or to subtract themselves |
//! | `PARKED` | a reader may wait at the gate of the readers |
//!
//! `PARKED` is below the readers. So the highest bit of their count, which is set while there are too
//! many, is next to the bits that shut the lock to readers, and one comparison tests them all.
//!
//! # Why no thread waits for ever
//! The first writer waits until nobody is counted. A thread that removes the last count, or `WRITER`,
//! sees in the same step that a writer waits, and opens its gate. A count may be that of a reader that
//! subtracts itself again; that reader then does what a reader does that leaves. Readers wait until
//! there is no writer inside and none waits. A writer stops waiting only by entering. So it is enough
//! that a writer that leaves and sees no other one wait opens the gate of the readers.

use core::fmt;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::gate::{Gate, READERS_GATE, WRITERS_GATE};
use crate::raw::free_abandoned;
use crate::reader_limit::too_many_readers;
use crate::word::enter_unless;
use crate::writer_line::enter_in_line;
use crate::{LockInfo, RawLock, RawRwLock, Requester, Waiting};

/// The bit that is set while a writer is inside.
const WRITER: u64 = 1 << 63;
/// What a writer that waits adds.
const WAITING_ONE: u64 = 1 << 32;
/// The bits that count the writers that wait.
const WAITING: u64 = WRITER - WAITING_ONE;
/// The bit that is set while a reader may wait at its gate.
const PARKED: u64 = 1;
/// What a reader adds.
const READER: u64 = 2;
/// The bits that count readers.
const READERS: u64 = WAITING_ONE - READER;
/// The bit that is set while as many readers are counted as there may be. It is the highest of their
/// count.
const CROWDED: u64 = WAITING_ONE >> 1;

/// A read-write lock without data.
pub struct WriterFirst<P: Platform> {
    state: P::U64,
    /// The line of the writers that wait.
    line: Requester<P>,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "writer-first",
    title: "one counter; writers before readers",
    source: "Courtois, Heymans and Parnas 1971",
    best_at: "writers that must not wait for a stream of readers",
    worst_at: "short reads on many cores, each of which writes the counter twice; readers may starve",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};

const fn shut_to_readers(state: u64) -> bool {
    state & (WRITER | WAITING) != 0
}

/// Whether the lock is shut to readers, or has too many.
const fn shut_or_crowded(state: u64) -> bool {
    state >= CROWDED
}

const fn shut_to_writers(state: u64) -> bool {
    state & (WRITER | READERS) != 0
}

impl<P: Platform> WriterFirst<P> {
    /// Goes on after the caller has counted itself as a reader in the word, which was `before`: shut to
    /// readers, or crowded.
    #[cold]
    #[inline(never)]
    fn acquire_shared_slowly<R>(&self, mut before: u64, then: impl FnOnce(()) -> R) -> R {
        let key = P::address_key(self);
        P::patiently(|| {
            while shut_or_crowded(before) {
                if before & CROWDED != 0 {
                    too_many_readers::<P>();
                }
                Self::left(key, self.state.fetch_sub(READER, Ordering::Relaxed));
                Gate::<P>::of(key, READERS_GATE).wait_while(|| {
                    shut_to_readers(self.state.load(Ordering::Relaxed))
                        && shut_to_readers(self.state.fetch_or(PARKED, Ordering::Relaxed))
                });
                // Acquire: we see what the writers wrote that were inside before.
                before = self.state.fetch_add(READER, Ordering::Acquire);
            }
        });
        then(())
    }

    #[cold]
    fn acquire_slowly(&self) {
        self.state.fetch_add(WAITING_ONE, Ordering::Relaxed);
        let shut = || shut_to_writers(self.state.load(Ordering::Relaxed));
        enter_in_line(&self.line, P::address_key(self), || self.take(WAITING_ONE), shut);
    }

    /// Enters as the writer if nobody is inside, and takes `waited` from the word. Returns whether it
    /// did.
    #[inline]
    fn take(&self, waited: u64) -> bool {
        enter_unless(&self.state, shut_to_writers, |state| (state - waited) | WRITER)
    }

    /// Opens the gate of the first writer if it may enter, after a reader has subtracted itself from
    /// the word, which was `before`. The lock may be gone.
    #[inline]
    fn left(key: usize, before: u64) {
        // One comparison for the case that has to be fast.
        if shut_or_crowded(before) {
            Self::left_shut(key, before);
        }
    }

    #[cold]
    #[inline(never)]
    fn left_shut(key: usize, before: u64) {
        if before & READERS == READER && before & WAITING != 0 && before & WRITER == 0 {
            Gate::<P>::open(key, WRITERS_GATE);
        }
    }

    /// Replaces `WRITER` by `readers`, and opens the gate of those that may then enter.
    fn leave(&self, readers: u64) {
        let key = P::address_key(self);
        let mut state = self.state.load(Ordering::Relaxed);
        loop {
            let waits = state & WAITING != 0;
            let gone = if waits { WRITER } else { WRITER | PARKED };
            let left = (state & !gone) + readers;
            match self.state.compare_exchange(state, left, Ordering::Release, Ordering::Relaxed) {
                Err(now) => state = now,
                Ok(_) if waits && left & READERS == 0 => {
                    return Gate::<P>::open(key, WRITERS_GATE);
                }
                Ok(_) if !waits && state & PARKED != 0 => {
                    return Gate::<P>::open(key, READERS_GATE);
                }
                Ok(_) => return,
            }
        }
    }
}

// SAFETY: a writer enters by a compare-and-swap that finds neither a writer nor a counted reader. A
// reader is inside if it counts itself and finds no writer in the same step. All threads enter with
// acquire what others have left with release, in one word. The lock names no thread. It is free when
// all its bits are zero.
unsafe impl<P: Platform> RawRwLock<P> for WriterFirst<P> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = true;

    fn new() -> Self {
        Self { state: P::U64::new(0), line: Requester::new() }
    }

    #[inline]
    fn acquire_shared(&self) {
        self.acquire_shared_then(|()| ());
    }

    #[inline]
    fn acquire_shared_then<R>(&self, then: impl FnOnce(()) -> R) -> R {
        let before = self.state.fetch_add(READER, Ordering::Acquire);
        if shut_or_crowded(before) {
            return self.acquire_shared_slowly(before, then);
        }
        then(())
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        enter_unless(&self.state, shut_or_crowded, |state| state + READER).then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
        let key = P::address_key(self);
        Self::left(key, self.state.fetch_sub(READER, Ordering::Release));
    }

    #[inline]
    fn acquire(&self) {
        if !self.try_acquire() {
            self.acquire_slowly();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.take(0)
    }

    #[inline]
    unsafe fn release(&self) {
        self.leave(0);
    }

    #[inline]
    unsafe fn downgrade(&self) {
        self.leave(READER);
    }

    unsafe fn forget_others(&self) {
        self.state.store(WRITER, Ordering::Relaxed);
        // SAFETY: nobody else is left in the line.
        unsafe { free_abandoned(&self.line) };
    }

    fn has_writer(&self) -> bool {
        self.state.load(Ordering::Relaxed) & WRITER != 0
    }
}

impl<P: Platform> fmt::Debug for WriterFirst<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("WriterFirst")
            .field("writer", &(state & WRITER != 0))
            .field("waiting", &((state & WAITING) / WAITING_ONE))
            .field("readers", &((state & READERS) / READER))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
limit_tests!(WriterFirst, |lock| lock.state.store(CROWDED, Ordering::Relaxed));
