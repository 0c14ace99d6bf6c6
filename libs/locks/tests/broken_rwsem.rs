//! Broken twins of the read-write semaphore; see `broken.rs`.

use crate::common;

use std::collections::VecDeque;
use std::marker::PhantomData;

use common::altered::{Altered, Sound, bury};
use common::read_write::{Deed, Read, Write, WriteAndRead, program};
use common::twins::{LOST_WAKE_UP, assert_caught_in};
use kilocore_locks::{RawLock, RawRwLock, Ticket};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell, Shuttle};

/// The errors of a semaphore with a queue of sleepers.
trait SemaphoreError: Send + Sync + 'static {
    /// A reader that has joined does not look whether those inside have left meanwhile.
    const JOINS_WITHOUT_A_LOOK: bool = false;
    /// A writer that was called in vain says that it sleeps only after others may call it again.
    const DOZES_LATE: bool = false;
    /// Readers are counted in although a writer has passed them.
    const ENTERS_BESIDE_A_WRITER: bool = false;
    /// Whoever wakes a reader looks at it once more.
    const TOUCHES_THE_WOKEN: bool = false;
    /// A writer that becomes a reader does not call the readers that wait.
    const DOWNGRADES_SILENTLY: bool = false;
}

const WRITER: u32 = 1 << 31;
const QUEUED: u32 = 1 << 30;
const READERS: u32 = QUEUED - 1;
const ASLEEP: u32 = 1;

/// The queue's lock, around what it guards. It leaks its waiters.
struct BrokenSemaphore<P: Platform, E> {
    count: P::U32,
    lock: Ticket<P>,
    queue: P::Cell<VecDeque<&'static Waiter<P>>>,
    error: PhantomData<E>,
}

struct Waiter<P: Platform> {
    word: P::U32,
    reads: bool,
}

impl<P: Platform, E: SemaphoreError> BrokenSemaphore<P, E> {
    fn locked<R>(&self, act: impl FnOnce() -> R) -> R {
        self.lock.acquire(&mut ());
        let result = act();
        // SAFETY: taken above.
        unsafe { self.lock.release(&mut ()) };
        result
    }

    fn queue<R>(&self, act: impl FnOnce(&mut VecDeque<&'static Waiter<P>>) -> R) -> R {
        // SAFETY: the caller holds the lock.
        self.queue.with_mut(|queue| act(unsafe { &mut *queue }))
    }

    fn join(&self, reads: bool) -> &'static Waiter<P> {
        let waiter: &'static _ = Box::leak(Box::new(Waiter { word: P::U32::new(ASLEEP), reads }));
        self.queue(|queue| queue.push_back(waiter));
        self.count.fetch_or(QUEUED, Ordering::Relaxed);
        waiter
    }

    fn tell_if_empty(&self) {
        if self.queue(|queue| queue.is_empty()) {
            self.count.fetch_and(!QUEUED, Ordering::Relaxed);
        }
    }

    fn sleep(waiter: &Waiter<P>) {
        while waiter.word.load(Ordering::Acquire) == ASLEEP {
            P::park(&waiter.word, ASLEEP, None);
        }
    }

    fn wake(waiter: &Waiter<P>) {
        waiter.word.store(0, Ordering::Release);
        P::unpark(&raw const waiter.word, 1);
        if E::TOUCHES_THE_WOKEN {
            waiter.word.load(Ordering::Relaxed);
        }
    }

    fn call_first(&self) {
        match self.queue(|queue| queue.front().copied()) {
            None => {}
            Some(writer) if !writer.reads => Self::wake(writer),
            Some(_) => self.let_readers_in(),
        }
    }

    fn let_readers_in(&self) {
        let reads = |waiter: &&&Waiter<P>| waiter.reads;
        let readers = self.queue(|queue| queue.iter().take_while(reads).count());
        let before = self.count.fetch_add(readers as u32, Ordering::Acquire);
        if before & WRITER != 0 && !E::ENTERS_BESIDE_A_WRITER {
            self.count.fetch_sub(readers as u32, Ordering::Relaxed);
            return;
        }
        let entering: Vec<_> = self.queue(|queue| queue.drain(..readers).collect());
        self.tell_if_empty();
        entering.into_iter().for_each(Self::wake);
    }

    fn take_queued(&self, waiter: &'static Waiter<P>) -> bool {
        if !E::DOZES_LATE {
            waiter.word.store(ASLEEP, Ordering::Relaxed);
        }
        let taken = self.try_acquire();
        if taken {
            self.queue(|queue| queue.retain(|&other| !std::ptr::eq(other, waiter)));
            self.tell_if_empty();
        }
        taken
    }
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<P: Platform, E: SemaphoreError> RawRwLock<P> for BrokenSemaphore<P, E> {
    type Reader = ();
    const ALIKE: () = ();
    const HOLDER_MAY_DESTROY: bool = false;

    fn new() -> Self {
        let queue = P::Cell::new(VecDeque::new());
        Self { count: P::U32::new(0), lock: Ticket::new(), queue, error: PhantomData }
    }

    fn acquire_shared(&self) {
        if self.count.fetch_add(1, Ordering::Acquire) & (WRITER | QUEUED) == 0 {
            return;
        }
        let waiter = self.locked(|| {
            let waiter = self.join(true);
            let before = self.count.fetch_sub(1, Ordering::Relaxed);
            let free = before & WRITER == 0 && before & READERS == 1;
            if free && !E::JOINS_WITHOUT_A_LOOK {
                self.call_first();
            }
            waiter
        });
        Self::sleep(waiter);
        bury(waiter, || ());
    }

    fn try_acquire_shared(&self) -> Option<()> {
        let seen = self.count.load(Ordering::Relaxed);
        let entered = seen & (WRITER | QUEUED) == 0
            && self
                .count
                .compare_exchange(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        entered.then_some(())
    }

    unsafe fn release_shared(&self, (): ()) {
        let before = self.count.fetch_sub(1, Ordering::Release);
        if before & QUEUED != 0 && before & READERS == 1 {
            self.locked(|| self.call_first());
        }
    }

    fn acquire(&self) {
        if self.try_acquire() {
            return;
        }
        let mut waiter = None;
        while !self.locked(|| self.take_queued(waiter.get_or_insert_with(|| self.join(false)))) {
            let waiter = waiter.expect("it has joined");
            if E::DOZES_LATE {
                waiter.word.store(ASLEEP, Ordering::Relaxed);
            }
            Self::sleep(waiter);
        }
    }

    fn try_acquire(&self) -> bool {
        let seen = self.count.load(Ordering::Relaxed);
        seen & (WRITER | READERS) == 0
            && self
                .count
                .compare_exchange(seen, seen | WRITER, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    unsafe fn release(&self) {
        if self.count.fetch_and(!WRITER, Ordering::Release) & QUEUED != 0 {
            self.locked(|| self.call_first());
        }
    }

    unsafe fn downgrade(&self) {
        let before = self.count.fetch_sub(WRITER - 1, Ordering::Release);
        if before & QUEUED != 0 && !E::DOWNGRADES_SILENTLY {
            self.locked(|| {
                if self.queue(|queue| queue.front().is_some_and(|first| first.reads)) {
                    self.let_readers_in();
                }
            });
        }
    }

    unsafe fn forget_others(&self) {
        unimplemented!("no test forks with this lock");
    }
}

type Checked = Altered<Shuttle, Sound>;

const ALL_KINDS: &[&[Deed]] = &[&[Write; 2], &[WriteAndRead; 2], &[Read; 2], &[Read; 2]];

fn all_kinds<E: SemaphoreError>() {
    program::<Checked, BrokenSemaphore<Checked, E>>(ALL_KINDS);
}

macro_rules! semaphore_error {
    ($test:ident, $error:ident, $flag:ident, $how:expr) => {
        struct $error;
        impl SemaphoreError for $error {
            const $flag: bool = true;
        }

        #[test]
        fn $test() {
            assert_caught_in(all_kinds::<$error>, $how);
        }
    };
}

semaphore_error!(
    a_reader_that_joins_without_a_look_is_caught,
    JoinsWithoutALook,
    JOINS_WITHOUT_A_LOOK,
    LOST_WAKE_UP
);
semaphore_error!(a_writer_that_dozes_late_is_caught, DozesLate, DOZES_LATE, LOST_WAKE_UP);
semaphore_error!(
    readers_that_enter_beside_a_writer_are_caught,
    EntersBesideAWriter,
    ENTERS_BESIDE_A_WRITER,
    &["race", "a reader saw half of a write", "a writer came in between", "a write was lost"]
);
semaphore_error!(
    a_waker_that_touches_the_woken_is_caught,
    TouchesTheWoken,
    TOUCHES_THE_WOKEN,
    &["touched after its last holder destroyed it"]
);

struct DowngradesSilently;
impl SemaphoreError for DowngradesSilently {
    const DOWNGRADES_SILENTLY: bool = true;
}

#[test]
fn a_downgrade_that_calls_nobody_is_caught() {
    type Twin = BrokenSemaphore<Checked, DowngradesSilently>;
    // The reader sleeps for ever, beside a writer that waits for it and is awake.
    let how = &[LOST_WAKE_UP[0], "exceeded max_steps"];
    assert_caught_in(common::read_write::lets_readers_in::<Checked, Twin>, how);
}

/// None of the errors: the twin is right but for them.
struct NoError;
impl SemaphoreError for NoError {}

#[test]
fn the_twin_without_its_errors_passes() {
    common::explore_part(all_kinds::<NoError>, 2_000, 3);
}
