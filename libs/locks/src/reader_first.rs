//! A read-write lock around one counter that admits readers first.
//!
//! A reader adds one to the word when it enters and subtracts one when it leaves, as in
//! [`CentralRw`](crate::CentralRw). It waits for a writer that is inside, but never for one that waits.
//! So a reader may keep the lock until another reader has come, and a thread that reads may ask to read
//! once more. A stream of readers keeps writers out. This is the policy of glibc's default,
//! `PTHREAD_RWLOCK_PREFER_READER_NP`, on which programs rely without knowing it (the first problem of
//! Courtois, Heymans and Parnas, 'Concurrent control with "readers" and "writers"', CACM 1971).
//!
//! A reader counts itself before it looks. If a writer is inside, the reader stays counted and waits. No
//! other writer enters meanwhile, so the step by which that writer leaves admits all such readers. The
//! word also counts the writers that wait. They wait in the order of arrival behind a
//! [requester-based lock](Requester), and only the first of them watches the word. It leaves that line
//! when it is inside. All waiting takes place at [gates](crate::gate) outside of the lock, so a release
//! does not touch the lock after the step by which it leaves. This is what [`CentralRw`] lacks.
//!
//! [`CentralRw`]: crate::CentralRw
//!
//! # The word
//!
//! | bits | meaning |
//! | --- | --- |
//! | `WRITER` | a writer is inside |
//! | `READERS` | the readers inside, and those that wait until the writer inside leaves |
//! | `WAITING` | how many writers wait |
//! | `PARKED` | a reader may wait at the gate of the readers |
//!
//! The highest bit of the readers' count, which is set while there are too many, is next to `WRITER`. So
//! one comparison tests both.
//!
//! # Why no thread waits for ever
//! The first writer waits until there is no writer and nobody is counted. A thread that removes the last
//! count, or `WRITER` while nobody is counted, sees in the same step that a writer waits, and opens its
//! gate. Readers wait until the writer inside leaves, which opens theirs if one may wait there.

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
/// What a reader adds.
const READER: u64 = 1 << 32;
/// The bits that count readers.
const READERS: u64 = WRITER - READER;
/// The bit that is set while as many readers are counted as there may be. It is the highest of their
/// count.
const CROWDED: u64 = WRITER >> 1;
/// The bit that is set while a reader may wait at its gate.
const PARKED: u64 = 1;
/// What a writer that waits adds.
const WAITING_ONE: u64 = 2;
/// The bits that count the writers that wait.
const WAITING: u64 = READER - WAITING_ONE;

/// A read-write lock without data.
pub struct ReaderFirst<P: Platform> {
    state: P::U64,
    /// The line of the writers that wait.
    line: Requester<P>,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "reader-first",
    title: "one counter; readers before writers, as in glibc's default",
    source: "Courtois, Heymans and Parnas 1971; policy of glibc's pthread_rwlock_t",
    best_at: "programs written for glibc's default, whose readers may wait for each other",
    worst_at: "short reads on many cores, each of which writes the counter twice; writers may starve",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};

const fn shut_to_writers(state: u64) -> bool {
    state & (WRITER | READERS) != 0
}

impl<P: Platform> ReaderFirst<P> {
    /// Goes on after the caller has counted itself as a reader in the word, which was `before`: a writer
    /// was inside, or too many readers.
    #[cold]
    #[inline(never)]
    fn acquire_shared_slowly<R>(&self, before: u64, then: impl FnOnce(()) -> R) -> R {
        if before & CROWDED != 0 {
            too_many_readers::<P>();
        }
        P::patiently(|| {
            Gate::<P>::of(P::address_key(self), READERS_GATE).wait_while(|| {
                // Acquire: once we are inside, we see what the writer wrote.
                self.state.load(Ordering::Acquire) & WRITER != 0
                    && self.state.fetch_or(PARKED, Ordering::Acquire) & WRITER != 0
            });
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

    /// Opens the gates of those that may enter after a thread has left the word, which was `before`. A
    /// writer that has left stands in it still. The lock may be gone.
    #[cold]
    #[inline(never)]
    fn open_gates(key: usize, before: u64) {
        if before & (WRITER | PARKED) == WRITER | PARKED {
            Gate::<P>::open(key, READERS_GATE);
        }
        if before & WAITING != 0 {
            Gate::<P>::open(key, WRITERS_GATE);
        }
    }
}

// SAFETY: a writer enters by a compare-and-swap that finds neither a writer nor a counted reader. A
// reader is inside if it counts itself and finds no writer in the same step, or once the writer that it
// found has left: as it is counted, no other writer enters. All threads enter with acquire what others
// have left with release, in one word. The lock names no thread. It is free when all its bits are zero.
unsafe impl<P: Platform> RawRwLock<P> for ReaderFirst<P> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = true;
    const READERS_PASS_WRITERS: bool = true;

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
        if before >= CROWDED {
            return self.acquire_shared_slowly(before, then);
        }
        then(())
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        enter_unless(&self.state, |state| state >= CROWDED, |state| state + READER).then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
        let key = P::address_key(self);
        let before = self.state.fetch_sub(READER, Ordering::Release);
        if before & READERS == READER && before & WAITING != 0 {
            Self::open_gates(key, before);
        }
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
        let key = P::address_key(self);
        let before = self.state.fetch_and(!(WRITER | PARKED), Ordering::Release);
        if before != WRITER {
            Self::open_gates(key, before);
        }
    }

    #[inline]
    unsafe fn downgrade(&self) {
        // One step, so that no writer finds the word free in between. The mark of the readers stays; the
        // next writer that leaves clears it.
        let before = self.state.fetch_sub(WRITER - READER, Ordering::Release);
        if before & PARKED != 0 {
            Gate::<P>::open(P::address_key(self), READERS_GATE);
        }
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

impl<P: Platform> fmt::Debug for ReaderFirst<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("ReaderFirst")
            .field("writer", &(state & WRITER != 0))
            .field("waiting", &((state & WAITING) / WAITING_ONE))
            .field("readers", &((state & READERS) / READER))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
limit_tests!(ReaderFirst, |lock| lock.state.store(CROWDED, Ordering::Relaxed));
