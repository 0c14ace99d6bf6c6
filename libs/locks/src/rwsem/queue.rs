//! The queue of the threads that wait for a semaphore, in order of arrival.
//!
//! A waiter is a node on the stack of the thread that waits, linked to the waiter behind it. The
//! holder of the queue's lock owns the links and the two ends of the queue. A waiter stays on its
//! stack until it has been removed from the queue *and* its thread knows it. A writer removes
//! itself. A reader is removed by the thread that admits it, which has the waiter to itself until
//! it sets the reader's word.

use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform, SharedCell};

use crate::raw::free_abandoned;
use crate::{RawLock, Ticket};

/// What a waiter's word says.
const ASLEEP: u32 = 1;
const AWAKE: u32 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    Read,
    Write,
}

/// A thread that waits.
pub(super) struct Waiter<P: Platform> {
    /// The word on which the thread sleeps.
    word: P::U32,
    wish: Wish,
    /// The next waiter in the queue. All accesses are relaxed, because the queue's lock orders
    /// them.
    next: P::Ptr<Waiter<P>>,
}

impl<P: Platform> Waiter<P> {
    /// Returns a waiter that is in no queue.
    pub(super) fn new(wish: Wish) -> Padded<Self> {
        Padded(Self { word: P::U32::new(ASLEEP), wish, next: P::Ptr::new(ptr::null_mut()) })
    }

    pub(super) fn wish(&self) -> Wish {
        self.wish
    }

    /// Spins for some turns and then sleeps until called.
    pub(super) fn sleep<const TURNS: u32>(&self) {
        let turns = if P::CHECKED { TURNS.min(1) } else { TURNS };
        for _ in 0..turns {
            // Acquire: as below.
            if self.word.load(Ordering::Acquire) != ASLEEP {
                return;
            }
            P::pause(1);
        }
        // Acquire: a reader that is called is inside. It sees what the writers wrote that its
        // caller saw leave.
        while self.word.load(Ordering::Acquire) == ASLEEP {
            P::park(&self.word, ASLEEP, None);
        }
    }

    /// Makes the first waiter ready to be called once more. It holds the queue's lock.
    pub(super) fn doze(&self) {
        self.word.store(ASLEEP, Ordering::Relaxed);
    }

    /// Calls the first waiter, a writer, to look for itself. The caller holds the queue's lock,
    /// which the waiter needs before it can leave.
    pub(super) fn call(&self) {
        if self.word.load(Ordering::Relaxed) == AWAKE {
            return; // It is on its way to the queue's lock already.
        }
        // Relaxed: the queue's lock, which it takes next, shows it what went before.
        self.word.store(AWAKE, Ordering::Relaxed);
        P::unpark(&raw const self.word, 1);
    }
}

/// The queue and its lock. On lines apart: those who wait for the lock watch its line all the time.
pub(super) struct Queue<P: Platform> {
    lock: Padded<Ticket<P>>,
    line: Padded<P::Cell<Line<P>>>,
}

impl<P: Platform> Queue<P> {
    pub(super) fn new() -> Self {
        Self { lock: Padded(Ticket::new()), line: Padded(P::Cell::new(Line::empty())) }
    }

    /// Removes all waiters, which do not exist any more, and frees the queue's lock. No other thread
    /// uses the queue during the call.
    pub(super) fn forget(&self) {
        // SAFETY: nobody else is left who could hold the lock or read the line.
        self.line.with_mut(|line| unsafe { line.write(Line::empty()) });
        // SAFETY: as above.
        unsafe { free_abandoned(&*self.lock) };
    }

    /// Acts on the waiters under the queue's lock. `act` must not wait for anything.
    pub(super) fn locked<R>(&self, act: impl FnOnce(&mut Line<P>) -> R) -> R {
        self.lock.acquire(&mut ());
        // A copy that is put back, so that no access to the cell lasts while `act` goes on.
        // SAFETY: whoever holds the lock is alone with the line.
        let mut line = self.line.with(|line| unsafe { line.read() });
        let result = act(&mut line);
        // SAFETY: as above.
        self.line.with_mut(|place| unsafe { place.write(line) });
        // SAFETY: taken above.
        unsafe { self.lock.release(&mut ()) };
        result
    }
}

/// The threads that wait, in the order in which they came.
pub(super) struct Line<P: Platform> {
    first: *mut Waiter<P>,
    /// Meaningful while `first` is not null.
    last: *mut Waiter<P>,
    /// How often the first one was called and could not enter.
    passed_over: u32,
}

// SAFETY: the pointers lead to waiters that any thread may reach under the queue's lock: their
// words and links are atomic, and the wish does not change.
unsafe impl<P: Platform> Send for Line<P> {}

impl<P: Platform> Line<P> {
    /// A line without waiters.
    const fn empty() -> Self {
        Self { first: ptr::null_mut(), last: ptr::null_mut(), passed_over: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    pub(super) fn first(&self) -> Option<&Waiter<P>> {
        // SAFETY: null or a waiter in the queue, which stays on its stack until it is taken out;
        // that happens under the queue's lock, through a `&mut` of this.
        unsafe { self.first.as_ref() }
    }

    /// Whether no other waits than the first one. There is a first one.
    pub(super) fn is_single(&self) -> bool {
        self.first == self.last
    }

    /// Puts a waiter at the end of the queue.
    ///
    /// # Safety
    /// It stays where it is until it has been taken out of the queue and, if it is a reader,
    /// woken.
    pub(super) unsafe fn push(&mut self, waiter: &Waiter<P>) {
        let waiter = ptr::from_ref(waiter).cast_mut();
        if self.first.is_null() {
            self.first = waiter;
        } else {
            // SAFETY: in the queue, hence on its stack, as in `first`.
            unsafe { &*self.last }.next.store(waiter, Ordering::Relaxed);
        }
        self.last = waiter;
    }

    /// Returns the number of readers before the first writer, and whether there is no writer.
    pub(super) fn leading_readers(&self) -> (u32, bool) {
        let mut readers = 0;
        let mut waiter = self.first();
        while let Some(reader) = waiter.filter(|waiter| waiter.wish == Wish::Read) {
            readers += 1;
            // SAFETY: null or the one behind, in the queue; as in `first`.
            waiter = unsafe { reader.next.load(Ordering::Relaxed).as_ref() };
        }
        (readers, waiter.is_none())
    }

    /// Takes the first one out.
    ///
    /// # Safety
    /// There is one.
    unsafe fn take_first(&mut self) -> *mut Waiter<P> {
        let first = self.first;
        // SAFETY: there is one, says the caller; in the queue, as in `first`.
        self.first = unsafe { &*first }.next.load(Ordering::Relaxed);
        self.passed_over = 0;
        first
    }

    /// Takes the first one out, which is the calling thread's own.
    pub(super) fn leave(&mut self, waiter: &Waiter<P>) {
        debug_assert!(ptr::eq(self.first, waiter), "only the first one leaves");
        // SAFETY: the caller's is in the queue, so that there is one.
        unsafe { self.take_first() };
    }

    /// Takes the readers out that are first, and wakes them. They are counted in already.
    pub(super) fn wake_readers(&mut self) {
        while self.first().is_some_and(|waiter| waiter.wish == Wish::Read) {
            // SAFETY: there is one, as was just seen. Out of the queue it stays on its stack until
            // its word is set, which nobody else does.
            let word = unsafe { &raw const (*self.take_first()).word };
            // SAFETY: as above; this is the last access to it. Release shows the reader the
            // writers whose leaving the caller saw when it counted the reader in.
            unsafe { &*word }.store(AWAKE, Ordering::Release);
            P::unpark(word, 1);
        }
    }

    /// Records that the first waiter was called in vain. Returns whether that has happened `bound`
    /// times.
    pub(super) fn passes_over(&mut self, bound: u32) -> bool {
        self.passed_over = self.passed_over.saturating_add(1);
        self.passed_over >= bound
    }
}
