//! The programs: each is correct under a correct lock and makes one kind of error visible.

use std::mem::MaybeUninit;
use std::sync::Arc;

use kilocore_locks::RawLock;
use kilocore_platform::{CpuId, NodeId, Platform, SharedCell};

use super::Threads;
use super::altered::{bury, exhume_all};

/// A lock and what it protects.
pub struct Guarded<P: Platform, L: RawLock<P>> {
    pub lock: L,
    pub count: P::Cell<u64>,
}

impl<P: Platform, L: RawLock<P>> Guarded<P, L> {
    pub fn new() -> Arc<Self> {
        exhume_all();
        Arc::new(Self { lock: L::new(), count: P::Cell::new(0) })
    }

    /// Adds one, in a read and a write, so that two who do it at once lose one.
    ///
    /// The caller holds the lock.
    pub fn increment(&self) {
        // SAFETY: the caller holds the lock; the checker reports if that is not enough.
        let before = self.count.with(|count| unsafe { *count });
        // SAFETY: as above.
        self.count.with_mut(|count| unsafe { *count = before + 1 });
    }

    pub fn total(&self) -> u64 {
        // SAFETY: the caller has joined all other threads.
        self.count.with(|count| unsafe { *count })
    }

    fn locked_increment(&self, thread: &mut L::Thread) {
        self.lock.acquire(thread);
        self.increment();
        // SAFETY: acquired above.
        unsafe { self.lock.release(thread) };
    }
}

/// `threads` threads increment `rounds` times each; `place` is told which thread starts.
pub fn exclusion<P: Threads, L: RawLock<P>>(threads: u32, rounds: u32, place: fn(u32)) {
    let shared = Guarded::<P, L>::new();
    let handles: Vec<_> = (1..threads)
        .map(|index| {
            let shared = shared.clone();
            P::spawn(move || {
                place(index);
                let mut thread = L::Thread::default();
                for _ in 0..rounds {
                    shared.locked_increment(&mut thread);
                }
            })
        })
        .collect();
    place(0);
    let mut thread = L::Thread::default();
    for _ in 0..rounds {
        shared.locked_increment(&mut thread);
    }
    handles.into_iter().for_each(P::join);
    assert_eq!(shared.total(), u64::from(threads * rounds), "an increment was lost");
}

/// As [`exclusion`] with one round each, but the first thread has the lock before the others start, and
/// lets them come before it releases it.
pub fn queue_up<P: Threads, L: RawLock<P>>(threads: u32) {
    let shared = Guarded::<P, L>::new();
    let mut thread = L::Thread::default();
    shared.lock.acquire(&mut thread);
    let handles: Vec<_> = (1..threads)
        .map(|_| {
            let shared = shared.clone();
            P::spawn(move || shared.locked_increment(&mut L::Thread::default()))
        })
        .collect();
    P::yield_now();
    shared.increment();
    // SAFETY: acquired above.
    unsafe { shared.lock.release(&mut thread) };
    handles.into_iter().for_each(P::join);
    assert_eq!(shared.total(), u64::from(threads), "an increment was lost");
}

/// One thread tries while another acquires; whoever gets the lock increments. Afterwards the
/// lock is free: a try succeeds, and a second one fails.
pub fn trying<P: Threads, L: RawLock<P>>() {
    let shared = Guarded::<P, L>::new();
    let other = {
        let shared = shared.clone();
        P::spawn(move || shared.locked_increment(&mut L::Thread::default()))
    };
    let mut thread = L::Thread::default();
    let mut expected = 1;
    if shared.lock.try_acquire(&mut thread) {
        shared.increment();
        expected += 1;
        // SAFETY: acquired just above.
        unsafe { shared.lock.release(&mut thread) };
    }
    P::join(other);
    assert_eq!(shared.total(), expected, "an increment was lost");
    assert!(shared.lock.try_acquire(&mut thread), "a try failed on a free lock");
    assert!(!shared.lock.try_acquire(&mut thread), "a try succeeded on a held lock");
    // SAFETY: the first try acquired it.
    unsafe { shared.lock.release(&mut thread) };
}

/// A lock acquired by one thread is released by another while a third party waits.
pub fn released_by_another<P: Threads, L: RawLock<P>>() {
    let shared = Guarded::<P, L>::new();
    shared.lock.acquire(&mut L::Thread::default());
    let other = {
        let shared = shared.clone();
        P::spawn(move || {
            shared.increment();
            let mut thread = L::Thread::default();
            // SAFETY: the thread that started this one acquired it and leaves it to this one.
            unsafe { shared.lock.release(&mut thread) };
        })
    };
    shared.locked_increment(&mut L::Thread::default());
    P::join(other);
    assert_eq!(shared.total(), 2, "an increment was lost");
}

/// Two users; the one who finds, under the lock, that it is the last destroys the lock right
/// after releasing it.
pub fn destroyed_by_last_holder<P: Threads, L: RawLock<P>>() {
    exhume_all();
    let shared =
        Arc::new(Mortal::<P, L> { lock: MaybeUninit::new(L::new()), users: P::Cell::new(2) });
    let other = {
        let shared = shared.clone();
        P::spawn(move || shared.leave())
    };
    shared.leave();
    P::join(other);
}

struct Mortal<P: Platform, L: RawLock<P>> {
    lock: MaybeUninit<L>,
    users: P::Cell<u32>,
}

impl<P: Platform, L: RawLock<P>> Mortal<P, L> {
    fn leave(&self) {
        // SAFETY: it was initialized, and the last user is the one to destroy it, below.
        let lock = unsafe { self.lock.assume_init_ref() };
        let mut thread = L::Thread::default();
        lock.acquire(&mut thread);
        let left = self.users.with_mut(|users| {
            // SAFETY: the lock is held.
            unsafe {
                *users -= 1;
                *users
            }
        });
        // SAFETY: acquired above.
        unsafe { lock.release(&mut thread) };
        if left == 0 {
            let lock = self.lock.as_ptr();
            // SAFETY: the other user has left, so nobody will use the lock again. The memory
            // stays until both have dropped their `Arc`.
            bury(lock, || unsafe { lock.cast_mut().drop_in_place() });
        }
    }
}

/// A holder forgets its waiters, after which it can release, and acquire again, although the
/// waiters never go on. Single-threaded: `waiters` enters them as a `fork` would leave them.
pub fn forgotten<P: Platform, L: RawLock<P>>(lock: &L) {
    let mut thread = L::Thread::default();
    // SAFETY: the caller's thread holds the lock and is the only one left that uses it.
    unsafe {
        lock.forget_waiters(&mut thread);
        lock.release(&mut thread);
    }
    for _ in 0..3 {
        lock.acquire(&mut thread);
        assert!(!lock.try_acquire(&mut thread), "a try succeeded on a held lock");
        // SAFETY: acquired just above.
        unsafe { lock.release(&mut thread) };
    }
    assert!(lock.try_acquire(&mut thread), "a try failed on a free lock");
    // SAFETY: the try acquired it.
    unsafe { lock.release(&mut thread) };
}

/// Every thread on core 0 of node 0.
pub fn all_together(_index: u32) {}

/// A place for the thread `index` of a machine with two nodes, in turn.
pub fn alternating(index: u32) -> (CpuId, NodeId) {
    (CpuId(index), NodeId(index % 2))
}
