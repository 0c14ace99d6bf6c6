//! The programs for read-write locks, as `programs.rs` has them for the others.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::sync::Arc;

use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell, Wait};

use super::Threads;
use super::altered::{bury, exhume_all};

/// A lock and two numbers that are equal whenever nobody writes.
pub struct Pair<P: Platform, L> {
    lock: L,
    numbers: [P::Cell<u32>; 2],
    platform: PhantomData<P>,
}

impl<P: Platform, L: RawRwLock<P>> Pair<P, L> {
    pub fn new() -> Arc<Self> {
        let numbers = [P::Cell::new(0), P::Cell::new(0)];
        Arc::new(Self { lock: L::new(), numbers, platform: PhantomData })
    }

    /// Adds one to both. The caller is inside as the writer.
    fn add(&self) {
        for number in &self.numbers {
            // SAFETY: the writer is alone.
            number.with_mut(|number| unsafe { *number += 1 });
        }
    }

    /// The numbers. The caller is inside.
    fn look(&self) -> u32 {
        // SAFETY: readers share the numbers with readers only.
        let seen = [0, 1].map(|i| self.numbers[i].with(|number| unsafe { *number }));
        assert_eq!(seen[0], seen[1], "a reader saw half of a write");
        seen[0]
    }

    pub fn write(&self) {
        self.lock.acquire();
        self.add();
        // SAFETY: acquired above.
        unsafe { self.lock.release() };
    }

    pub fn read(&self) -> u32 {
        let reader = self.lock.acquire_shared();
        let seen = self.look();
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared(reader) };
        seen
    }

    /// Reads without keeping what it gets as it enters.
    pub fn read_alike(&self) -> u32 {
        if !self.lock.try_acquire_shared_alike() {
            self.lock.acquire_shared_alike();
        }
        let seen = self.look();
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared(L::ALIKE) };
        seen
    }

    pub fn write_and_read(&self) {
        self.lock.acquire();
        self.add();
        let written = self.look();
        // SAFETY: acquired above.
        let reader = unsafe { self.lock.downgrade() };
        assert_eq!(self.look(), written, "a writer came in between");
        // SAFETY: acquired above, and turned into this reader.
        unsafe { self.lock.release_shared(reader) };
    }

    /// Writes if that is possible without waiting, and says whether it was.
    pub fn try_write(&self) -> bool {
        let taken = self.lock.try_acquire();
        if taken {
            self.add();
            // SAFETY: acquired above.
            unsafe { self.lock.release() };
        }
        taken
    }

    /// Reads if that is possible without waiting. Returns what it read.
    pub fn try_read(&self) -> Option<u32> {
        self.lock.try_acquire_shared().map(|reader| {
            let seen = self.look();
            // SAFETY: acquired above.
            unsafe { self.lock.release_shared(reader) };
            seen
        })
    }
}

/// What a thread does with the lock.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Deed {
    Read,
    Write,
    WriteAndRead,
}
pub use Deed::{Read, Write, WriteAndRead};

/// A thread for each list of deeds, the first of them the calling one.
pub fn program<P: Threads, L: RawRwLock<P>>(threads: &[&'static [Deed]]) {
    exhume_all();
    let pair = Pair::<P, L>::new();
    let run = |pair: &Pair<P, L>, deeds: &[Deed]| {
        for deed in deeds {
            match deed {
                Read => _ = pair.read(),
                Write => pair.write(),
                WriteAndRead => pair.write_and_read(),
            }
        }
    };
    let others = threads[1..].iter().map(|&deeds| {
        let pair = Arc::clone(&pair);
        P::spawn(move || run(&pair, deeds))
    });
    let others: Vec<P::Handle> = others.collect();
    run(&pair, threads[0]);
    others.into_iter().for_each(P::join);
    let writes = threads.iter().flat_map(|&deeds| deeds).filter(|&&deed| deed != Read).count();
    assert_eq!(pair.read(), writes as u32, "a write was lost");
}

/// A writer that became a reader stays until another reader has come.
pub fn lets_readers_in<P: Threads, L: RawRwLock<P>>() {
    let shared = Arc::new((L::new(), P::U32::new(0)));
    let another = {
        let shared = Arc::clone(&shared);
        P::spawn(move || {
            let (lock, came) = &*shared;
            let reader = lock.acquire_shared();
            came.store(1, Ordering::Release);
            // SAFETY: acquired above.
            unsafe { lock.release_shared(reader) };
        })
    };
    let (lock, came) = &*shared;
    lock.acquire();
    // SAFETY: acquired above.
    let reader = unsafe { lock.downgrade() };
    P::wait_until(came, Wait::Spin, |came| came == 1);
    assert!(!lock.try_acquire(), "a try succeeded beside a reader");
    // SAFETY: acquired above, and turned into this reader.
    unsafe { lock.release_shared(reader) };
    P::join(another);
}

/// A reader stays until another one has come, while a writer waits or comes.
pub fn awaits_a_reader<P: Threads, L: RawRwLock<P>>() {
    exhume_all();
    let shared = Arc::new((Pair::<P, L>::new(), P::U32::new(0)));
    let (pair, came) = &*shared;
    pair.read(); // gives a lock a bias to readers if it has any
    let reader = pair.lock.acquire_shared();
    let writer = {
        let pair = Arc::clone(pair);
        P::spawn(move || pair.write())
    };
    let another = {
        let shared = Arc::clone(&shared);
        P::spawn(move || {
            let (pair, came) = &*shared;
            let reader = pair.lock.acquire_shared();
            pair.look();
            came.store(1, Ordering::Release);
            // SAFETY: acquired above.
            unsafe { pair.lock.release_shared(reader) };
        })
    };
    P::wait_until(came, Wait::Spin, |came| came == 1);
    pair.look();
    // SAFETY: acquired above.
    unsafe { pair.lock.release_shared(reader) };
    [writer, another].into_iter().for_each(P::join);
    assert_eq!(pair.read(), 1, "a write was lost");
}

/// One thread tries to write while another is at work; afterwards the lock is free.
pub fn trying<P: Threads, L: RawRwLock<P>>(other: Deed) {
    let pair = Pair::<P, L>::new();
    let other = {
        let pair = Arc::clone(&pair);
        P::spawn(move || {
            if other == Write {
                pair.write();
            } else {
                pair.read();
            }
        })
    };
    let tried = u32::from(pair.try_write());
    P::join(other);
    let written = pair.read() - tried;
    assert!(written <= 1, "a write was lost");
    assert!(pair.lock.try_acquire(), "a try failed on a free lock");
    assert!(pair.lock.has_writer());
    assert!(!pair.lock.try_acquire(), "a try succeeded beside a writer");
    assert!(pair.lock.try_acquire_shared().is_none(), "a reader's try succeeded beside a writer");
    // SAFETY: the first try acquired it.
    unsafe { pair.lock.release() };
    let reader = pair.lock.try_acquire_shared().expect("a reader's try failed on a free lock");
    assert!(!pair.lock.try_acquire(), "a try succeeded beside a reader");
    let another = pair.lock.try_acquire_shared().expect("a reader's try failed beside a reader");
    // SAFETY: acquired above, here and below.
    unsafe { pair.lock.release_shared(reader) };
    // Where readers differ, the one that is left entered in another way. Twice, because a try that
    // fails must leave the lock as it was.
    for _ in 0..2 {
        assert!(!pair.lock.try_acquire(), "a try succeeded beside another reader");
    }
    // SAFETY: as above.
    unsafe { pair.lock.release_shared(another) };
    assert!(pair.try_write(), "a try failed on a lock that all readers have left");
}

/// One thread tries to read while another writes, and then tries again.
pub fn trying_to_read<P: Threads, L: RawRwLock<P>>() {
    let pair = Pair::<P, L>::new();
    let writer = {
        let pair = Arc::clone(&pair);
        P::spawn(move || pair.write())
    };
    let seen = pair.try_read();
    P::join(writer);
    assert!(seen <= Some(1), "a write was seen twice");
    assert_eq!(pair.try_read(), Some(1), "a reader's try failed on a free lock");
}

/// Two users of whom one writes, so that at most one is inside at a time or the writer has left. The
/// one who finds inside that it is the last destroys the lock right after leaving it.
pub fn destroyed_by_last<P: Threads, L: RawRwLock<P>>(other: Deed) {
    exhume_all();
    let lock = MaybeUninit::new(L::new());
    let mortal = Arc::new(Mortal::<P, L> { lock, users: P::U32::new(2) });
    let another = {
        let mortal = Arc::clone(&mortal);
        P::spawn(move || mortal.leave(other))
    };
    mortal.leave(Write);
    P::join(another);
}

struct Mortal<P: Platform, L> {
    lock: MaybeUninit<L>,
    users: P::U32,
}

impl<P: Platform, L: RawRwLock<P>> Mortal<P, L> {
    fn leave(&self, deed: Deed) {
        // SAFETY: it was initialized, and the last user is the one to destroy it, below.
        let lock = unsafe { self.lock.assume_init_ref() };
        let last = || self.users.fetch_sub(1, Ordering::Relaxed) == 1;
        let last = if deed == Read {
            let reader = lock.acquire_shared();
            let last = last();
            // SAFETY: acquired above.
            unsafe { lock.release_shared(reader) };
            last
        } else {
            lock.acquire();
            let last = last();
            // SAFETY: acquired above.
            unsafe { lock.release() };
            last
        };
        if last {
            let lock = self.lock.as_ptr();
            // SAFETY: the other user has left, so nobody will use the lock again. The memory stays
            // until both have dropped their `Arc`.
            bury(lock, || unsafe { lock.cast_mut().drop_in_place() });
        }
    }
}

/// Readers of both kinds, those that keep what they get as they enter and those that do not, beside a
/// writer.
pub fn two_kinds_of_readers<P: Threads, L: RawRwLock<P>>(reads: u32) {
    let pair = Pair::<P, L>::new();
    let readers = [Pair::read, Pair::read_alike].map(|read| {
        let pair = Arc::clone(&pair);
        P::spawn(move || (0..reads).for_each(|_| _ = read(&pair)))
    });
    pair.read();
    pair.write();
    readers.into_iter().for_each(P::join);
    assert!(pair.try_write(), "a reader is left inside");
    assert_eq!(pair.read_alike(), 2, "a write was lost");
}
