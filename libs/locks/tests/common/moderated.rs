//! Moderated locks as locks, so that the programs that every lock passes can be run on them.

#![allow(dead_code, missing_docs, missing_debug_implementations, unreachable_pub)]

use std::marker::PhantomData;

use kilocore_checking::Threads;
use kilocore_locks::{Fences, Moderated, RawLock, Room, Slept};
use kilocore_platform::{Atomic, Ordering, Platform};

/// How the waiters of a [`Behind`] lock wait.
pub trait Waiting: Send + Sync + 'static {
    /// How many may be in the lock's own queue.
    const PLACES: u32;
    /// Whether all others give up each time they have slept, and begin again.
    const GIVES_UP: bool = false;
    /// Whether nobody is left in the count of the queue when the lock is dropped. Tests that write the count say no.
    const ENDS_EMPTY: bool = true;
}

/// All waiters wait in the room, and none in the lock's own queue.
#[derive(Debug)]
pub struct AllInTheRoom;
impl Waiting for AllInTheRoom {
    const PLACES: u32 = 0;
}

/// One thread may queue.
#[derive(Debug)]
pub struct OneInTheQueue;
impl Waiting for OneInTheQueue {
    const PLACES: u32 = 1;
}

/// Two threads may queue.
#[derive(Debug)]
pub struct TwoInTheQueue;
impl Waiting for TwoInTheQueue {
    const PLACES: u32 = 2;
}

/// Three threads may queue.
#[derive(Debug)]
pub struct ThreeInTheQueue;
impl Waiting for ThreeInTheQueue {
    const PLACES: u32 = 3;
}

/// The count is the test's own.
#[derive(Debug)]
pub struct AsWritten;
impl Waiting for AsWritten {
    const PLACES: u32 = 1;
    const ENDS_EMPTY: bool = false;
}

/// Nobody queues, and everybody gives up now and then.
#[derive(Debug)]
pub struct Impatient;
impl Waiting for Impatient {
    const PLACES: u32 = 0;
    const GIVES_UP: bool = true;
}

/// The lock `L`, with its waiters moderated.
pub struct Behind<P: Platform, L, F, W: Waiting> {
    pub lock: L,
    pub stamp: P::U32,
    pub queued: P::U64,
    /// Never freed: a releaser may look into it when the lock is gone.
    room: &'static Room<P>,
    process: u32,
    manner: PhantomData<(F, W)>,
}

impl<P: Platform, L: RawLock<P>, F: Fences<P>, W: Waiting> Behind<P, L, F, W> {
    /// A lock of the process `process`.
    pub fn of_process(process: u32) -> Self {
        Self {
            lock: L::new(),
            stamp: P::U32::new(0),
            queued: P::U64::new(0),
            room: Box::leak(Box::default()),
            process,
            manner: PhantomData,
        }
    }

    pub fn moderated(&self) -> Moderated<'_, P, L, F> {
        Moderated {
            lock: &self.lock,
            stamp: &self.stamp,
            queued: &self.queued,
            room: self.room,
            key: 1,
            process: self.process,
            fences: PhantomData,
        }
    }
}

impl<P: Platform, L, F, W: Waiting> Drop for Behind<P, L, F, W> {
    fn drop(&mut self) {
        if W::ENDS_EMPTY && !std::thread::panicking() {
            let queued = self.queued.load(Ordering::Relaxed) as u32;
            assert_eq!(queued, 0, "nobody waits any more, and so many are counted");
        }
    }
}

fn park<P: Platform>(word: &P::U32, value: u32, certain: bool) -> Slept {
    assert!(certain, "no machine here refuses fences");
    P::park(word, value, None);
    Slept::Enough
}

// SAFETY: a checked lock, never put over foreign memory: it promises what `Moderated` does.
unsafe impl<P, L, F, W> RawLock<P> for Behind<P, L, F, W>
where
    P: Threads,
    L: RawLock<P>,
    F: Fences<P> + Send + Sync + 'static,
    W: Waiting,
{
    type Thread = L::Thread;

    const MAX_SIZE: usize = usize::MAX;

    fn new() -> Self {
        Self::of_process(1)
    }

    fn acquire(&self, thread: &mut Self::Thread) {
        let lock = self.moderated();
        while !lock.try_acquire(thread) {
            if !W::GIVES_UP {
                return lock.acquire(thread, W::PLACES, park::<P>);
            }
            let guest = lock.guest();
            // SAFETY: the guest stays here.
            let taken = unsafe {
                lock.acquire_or_give_up(&guest, thread, |_, _, _| {
                    P::yield_now();
                    Slept::TimeIsUp
                })
            };
            if taken {
                return;
            }
        }
    }

    fn try_acquire(&self, thread: &mut Self::Thread) -> bool {
        self.moderated().try_acquire(thread)
    }

    unsafe fn release(&self, thread: &mut Self::Thread) {
        // SAFETY: the caller's promise.
        unsafe { self.moderated().release(thread) };
    }

    unsafe fn forget_waiters(&self, _thread: &mut Self::Thread) {
        unreachable!("moderated locks do that themselves");
    }
}
