//! Locks with queues beside them, and the programs in which waiters of two locks have to share a slot.

use std::sync::Arc;

use kilocore_locks::{Mcs, RawLock, Requester, SideQueues, SmallLock};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell, Wait};

use super::Threads;

pub const HELD: u32 = 1;
pub const KEEP_OUT: u32 = 1 << 8;

/// The small lock.
pub struct Small<P: Platform> {
    pub word: P::U32,
    pub key: u64,
}

impl<P: Platform> SmallLock<P> for Small<P> {
    const HELD: u32 = HELD;
    const KEEP_OUT: u32 = KEEP_OUT;
    fn word(&self) -> &P::U32 {
        &self.word
    }
    fn key(&self) -> u64 {
        self.key
    }
}

impl<P: Platform> Small<P> {
    pub fn new(key: u64) -> Self {
        Self { word: P::U32::new(0), key }
    }
    pub fn try_acquire(&self) -> bool {
        self.word.compare_exchange(0, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
    pub fn release(&self) {
        self.word.fetch_and(!HELD, Ordering::Release);
    }
}

/// A table with one slot, which all locks share: what ships, or a broken twin.
pub trait Table<P: Platform>: Send + Sync + 'static {
    /// What a thread has for the lock in the slot.
    type Thread: Default;
    fn new() -> Self;
    fn acquire(&self, lock: &Small<P>, thread: &mut Self::Thread) -> bool;
}

impl<P: Platform, L: RawLock<P>> Table<P> for SideQueues<P, L, 1> {
    type Thread = L::Thread;
    fn new() -> Self {
        SideQueues::new()
    }
    fn acquire(&self, lock: &Small<P>, thread: &mut L::Thread) -> bool {
        SideQueues::acquire(self, lock, thread)
    }
}

/// A small lock with its table, as a lock.
pub struct Whole<P: Platform, T> {
    small: Small<P>,
    table: Arc<T>,
}

// SAFETY: the word goes from 0 to held by a compare-exchange with acquire, and back by an operation with
// release, which is the last access of a release. The table outlives an acquisition, which has a share of it.
unsafe impl<P: Platform, T: Table<P>> RawLock<P> for Whole<P, T>
where
    T::Thread: 'static,
{
    type Thread = T::Thread;
    fn new() -> Self {
        Self { small: Small::new(5), table: Arc::new(T::new()) }
    }
    fn acquire(&self, thread: &mut T::Thread) {
        if !self.small.try_acquire() {
            let table = self.table.clone();
            table.acquire(&self.small, thread);
        }
    }
    fn try_acquire(&self, _: &mut T::Thread) -> bool {
        self.small.try_acquire()
    }
    unsafe fn release(&self, _: &mut T::Thread) {
        self.small.release();
    }
    unsafe fn forget_waiters(&self, _: &mut T::Thread) {
        unreachable!("no program here forks")
    }
}

pub type Tickets<P> = SideQueues<P, Requester<P, 0>, 1>;
pub type Nodes<P> = SideQueues<P, Mcs<P>, 1>;

/// Two locks that share a slot, and what each of them protects.
pub struct Pair<P: Platform, T> {
    outer: Small<P>,
    inner: Small<P>,
    counts: [P::Cell<u32>; 2],
    table: T,
}

impl<P: Platform, T: Table<P>> Pair<P, T> {
    fn new() -> Arc<Self> {
        let counts = [P::Cell::new(0), P::Cell::new(0)];
        Arc::new(Self { outer: Small::new(1), inner: Small::new(2), counts, table: T::new() })
    }

    fn add(&self, which: usize) {
        // SAFETY: the caller has the lock of the count; the checker reports if that is not enough.
        self.counts[which].with_mut(|count| unsafe { *count += 1 });
    }

    fn count(&self, which: usize) -> u32 {
        // SAFETY: as above.
        self.counts[which].with(|count| unsafe { *count })
    }

    /// Takes the second lock and adds to its count.
    fn take_inner(&self) {
        self.table.acquire(&self.inner, &mut T::Thread::default());
        self.add(1);
        self.inner.release();
    }

    /// Takes the first lock and, while it has it, the second.
    fn take_both(&self) {
        self.table.acquire(&self.outer, &mut T::Thread::default());
        self.add(0);
        self.take_inner();
        self.outer.release();
    }
}

/// `both` threads take the first lock and then the second, `one` threads take only the second. Afterwards,
/// the slot is free.
pub fn nested<P: Threads, T: Table<P>>(both: usize, one: usize) {
    let pair = Pair::<P, T>::new();
    let handles: Vec<_> = (1..both + one)
        .map(|index| {
            let pair = pair.clone();
            P::spawn(move || if index < both { pair.take_both() } else { pair.take_inner() })
        })
        .collect();
    pair.take_both();
    handles.into_iter().for_each(P::join);
    assert_eq!(pair.count(0) as usize, both, "an increment was lost");
    assert_eq!(pair.count(1) as usize, both + one, "an increment was lost");
    for lock in [&pair.outer, &pair.inner] {
        assert!(pair.table.acquire(lock, &mut T::Thread::default()), "the slot is not free");
        lock.release();
    }
}

/// A queue lock before and after each of whose steps the thread is interrupted. The handler takes the
/// second lock of the pair, and has no interrupts itself.
pub struct Interrupted<L>(L);

/// The thread's state, and the handler.
pub struct Interruptible<H> {
    thread: H,
    handler: Option<Box<dyn FnMut()>>,
}

impl<H: Default> Default for Interruptible<H> {
    fn default() -> Self {
        Self { thread: H::default(), handler: None }
    }
}

impl<H> Interruptible<H> {
    fn interrupt(&mut self) {
        if let Some(handler) = &mut self.handler {
            handler();
        }
    }
}

// SAFETY: as the lock inside; the handler runs to its end between two of its steps.
unsafe impl<P: Platform, L: RawLock<P>> RawLock<P> for Interrupted<L> {
    type Thread = Interruptible<L::Thread>;
    fn new() -> Self {
        Self(L::new())
    }
    fn acquire(&self, thread: &mut Self::Thread) {
        thread.interrupt();
        self.0.acquire(&mut thread.thread);
        thread.interrupt();
    }
    fn try_acquire(&self, thread: &mut Self::Thread) -> bool {
        self.0.try_acquire(&mut thread.thread)
    }
    unsafe fn release(&self, thread: &mut Self::Thread) {
        thread.interrupt();
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.release(&mut thread.thread) };
        thread.interrupt();
    }
    unsafe fn forget_waiters(&self, _: &mut Self::Thread) {
        unreachable!("no program here forks")
    }
}

/// Threads that take the first lock are interrupted while they wait for it, by handlers that take the
/// second one. One more thread takes only that.
pub fn interrupted<P: Threads, T>(waiters: u32)
where
    T: Table<P, Thread = Interruptible<()>>,
{
    let pair = Pair::<P, T>::new();
    let take = |pair: Arc<Pair<P, T>>| {
        let inner = pair.clone();
        let handler = Box::new(move || inner.take_inner());
        let mut thread = Interruptible { thread: (), handler: Some(handler) };
        pair.table.acquire(&pair.outer, &mut thread);
        pair.add(0);
        pair.outer.release();
    };
    let mut handles: Vec<_> = (1..waiters)
        .map(|_| {
            let pair = pair.clone();
            P::spawn(move || take(pair))
        })
        .collect();
    let other = pair.clone();
    handles.push(P::spawn(move || other.take_inner()));
    take(pair.clone());
    handles.into_iter().for_each(P::join);
    assert_eq!(pair.count(0), waiters, "an increment was lost");
}

/// Once the head of the queue has asked others to stay out, no arrival gets the lock before it.
pub fn kept_out<P: Threads, T: Table<P>>() {
    let pair = Pair::<P, T>::new();
    assert!(pair.outer.try_acquire());
    let other = pair.clone();
    let waiter = P::spawn(move || {
        other.table.acquire(&other.outer, &mut T::Thread::default());
        other.add(0);
        other.outer.release();
    });
    P::wait_until(&pair.outer.word, Wait::Spin, |word| word & KEEP_OUT != 0);
    pair.outer.release();
    if pair.outer.try_acquire() {
        assert_eq!(pair.count(0), 1, "an arrival has overtaken the head");
        pair.outer.release();
    }
    P::join(waiter);
}
