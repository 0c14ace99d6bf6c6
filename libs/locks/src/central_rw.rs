//! A read-write lock around one counter, in the manner of glibc's `pthread_rwlock_t`.
//!
//! A reader adds one to the word when it enters and subtracts one when it leaves. So even the
//! shortest read costs two read-modify-writes on one cache line: readers share the data but not the
//! line, and reading stops scaling when that line saturates. Readers are preferred, as in glibc's
//! default: they wait for a writer that is inside, but never for one that waits. Waiters park at
//! once.
//!
//! Two things differ from glibc. A reader that registers while a writer is inside is admitted by
//! the one store by which the writer leaves, without a second word for the phase. And all sleepers
//! are woken together.
//!
//! A thread that leaves may touch the lock once more after it has admitted another. So `kilocore run`
//! does not put this lock under programs, which may have freed it by then, but
//! [`ReaderFirst`](crate::ReaderFirst). In forecasts, it stands for glibc's read-write locks.

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::reader_limit::too_many_readers;
use crate::word::enter_unless;
use crate::{LockInfo, RawRwLock, Waiting};

/// The bit that is set while a thread may be parked on the gate.
const PARKED: u32 = 1;
/// What a reader adds. Those that wait until the writer inside leaves have added it as well.
const READER: u32 = 2;
/// A word from here on counts as many readers as there may be, or has a writer. It is the sign, so that a
/// reader that enters needs one test for both.
const CROWDED: u32 = 1 << 31;
/// What a writer adds when it enters. A word from here on has one: the readers that wait for it are too
/// few to matter, as each is a thread.
const WRITER: u32 = CROWDED | CROWDED >> 1;

/// A read-write lock without data.
#[derive(Debug)]
pub struct CentralRw<P: Platform> {
    state: P::U32,
    /// A word that changes whenever sleepers are woken.
    gate: P::U32,
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "central-rw",
    title: "one counter; readers before writers, as in glibc",
    source: "glibc's pthread_rwlock_t",
    best_at: "locks that are hardly ever contended; reads that are long",
    worst_at: "short reads on many cores, each of which writes the counter twice; writers may starve",
    waiting: Waiting::SleepUnordered,
    aliases: &[],
};

impl<P: Platform> CentralRw<P> {
    /// Goes on after the caller has counted itself as a reader, and found a writer or as many readers as
    /// there may be. If some have left meanwhile, it is inside.
    #[cold]
    fn acquire_shared_slowly(&self) {
        self.park_while(|state| {
            if (CROWDED..WRITER).contains(&state) {
                too_many_readers::<P>();
            }
            state >= WRITER
        });
    }

    #[cold]
    fn park_while(&self, mut shut: impl FnMut(u32) -> bool) {
        loop {
            // Argued: acquire orders this load before the announcement below. With a weaker
            // ordering, we could read the value to which the gate is moved because of that
            // announcement, and then park for ever. No check detects this: in loom, a load never
            // returns what is stored later.
            let gate = self.gate.load(Ordering::Acquire);
            // We announce ourselves before the last look. A thread that changes the state after
            // this look sees the announcement and moves the gate, so that parking on the old value
            // fails. Acquire: if no thread is inside any more, we see what those that left have
            // written.
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
        // Argued: release pairs with the first load in `park_while`. A thread that sees the gate
        // moved then announces itself after the mark was cleared.
        self.gate.fetch_add(1, Ordering::Release);
        P::unpark(core::ptr::from_ref(&self.gate), u32::MAX);
    }
}

// SAFETY: a writer enters by a compare-and-swap that finds neither a writer nor readers. A reader
// counts itself and, if a writer is inside, waits until it has left. All threads enter with acquire
// what others have left with release, in one word. The lock names no thread. It is free when all
// its bits are zero.
unsafe impl<P: Platform> RawRwLock<P> for CentralRw<P> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = false;
    const READERS_PASS_WRITERS: bool = true;

    fn new() -> Self {
        Self { state: P::U32::new(0), gate: P::U32::new(0) }
    }

    #[inline]
    fn acquire_shared(&self) {
        let before = self.state.fetch_add(READER, Ordering::Acquire);
        // A test of what the addition leaves, so that the processor needs no more than its flags.
        if before.wrapping_add(READER) >= CROWDED {
            self.acquire_shared_slowly();
        }
    }

    #[inline]
    fn try_acquire_shared(&self) -> Option<()> {
        let shut = |state| state >= CROWDED - READER;
        enter_unless(&self.state, shut, |state| state + READER).then_some(())
    }

    #[inline]
    unsafe fn release_shared(&self, (): ()) {
        let before = self.state.fetch_sub(READER, Ordering::Release);
        // There is no writer beside a reader.
        if before == READER | PARKED {
            self.wake_all();
        }
    }

    #[inline]
    fn acquire(&self) {
        while !self.try_acquire() {
            self.park_while(|state| state >= READER);
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // A thread that only changes the mark of the sleepers is no reason to fail.
        enter_unless(&self.state, |state| state >= READER, |state| state + WRITER)
    }

    #[inline]
    unsafe fn release(&self) {
        let before = self.state.fetch_sub(WRITER, Ordering::Release);
        if before & PARKED != 0 {
            self.wake_all();
        }
    }

    #[inline]
    unsafe fn downgrade(&self) {
        // One step, so that no writer finds the word free in between. Waiting readers have
        // registered already.
        let before = self.state.fetch_sub(WRITER - READER, Ordering::Release);
        if before & PARKED != 0 {
            self.wake_all();
        }
    }

    unsafe fn forget_others(&self) {
        self.state.store(WRITER, Ordering::Relaxed);
    }

    fn has_writer(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= WRITER
    }
}

#[cfg(test)]
limit_tests!(CentralRw, |lock| lock.state.store(CROWDED - READER, Ordering::Relaxed));
