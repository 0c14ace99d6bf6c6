//! Twins of the shipped algorithms with one deliberate error each, of a kind that no ordering
//! shows: a look that is not repeated, a wake-up that is not sent, a step too early. Each must
//! be caught by the programs that the shipped locks pass, on schedules of shuttle.
//!
//! Other families have files of their own. The orderings are weakened in the shipped source
//! itself, in `weakened.rs`.

use crate::common;

use std::marker::PhantomData;
use std::ptr;

use common::altered::{Altered, Sound};
use common::twins::{LOST_WAKE_UP, Pointer, RACE, Word, assert_caught, assert_caught_in};
use common::twins::{assert_passes, rest_of_the_lock};
use common::{programs, verdict};
use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, AtomicInt, Loom, Ordering, Platform, Shuttle, Wait};

/// Test-and-set that looks and then sets, in two steps.
struct TasInTwoSteps(Word);

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl RawLock<Shuttle> for TasInTwoSteps {
    type Thread = ();
    fn new() -> Self {
        Self(Word::new(0))
    }
    fn acquire(&self, (): &mut ()) {
        Shuttle::wait_until(&self.0, Wait::Spin, |held| held == 0);
        self.0.store(1, Ordering::Relaxed);
    }
    unsafe fn release(&self, (): &mut ()) {
        self.0.store(0, Ordering::Release);
    }
    rest_of_the_lock!();
}

#[test]
fn test_and_set_in_two_steps_is_caught() {
    assert_caught::<TasInTwoSteps>(RACE);
}

/// A ticket lock that takes its number in two steps.
struct TicketInTwoSteps {
    next: Word,
    serving: Word,
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl RawLock<Shuttle> for TicketInTwoSteps {
    type Thread = ();
    fn new() -> Self {
        Self { next: Word::new(0), serving: Word::new(0) }
    }
    fn acquire(&self, (): &mut ()) {
        let mine = self.next.load(Ordering::Relaxed);
        self.next.store(mine + 1, Ordering::Relaxed);
        // `>=` so that the error is two in one section and not a number called twice.
        Shuttle::wait_until(&self.serving, Wait::Spin, |serving| serving >= mine);
    }
    unsafe fn release(&self, (): &mut ()) {
        self.serving.fetch_add(1, Ordering::Release);
    }
    rest_of_the_lock!();
}

#[test]
fn a_ticket_taken_in_two_steps_is_caught() {
    assert_caught::<TicketInTwoSteps>(RACE);
}

/// A ticket lock whose release reads the lock when it has let it go.
struct TicketReadLate<P: Platform> {
    next: P::U32,
    serving: P::U32,
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<P: Platform> RawLock<P> for TicketReadLate<P> {
    type Thread = ();
    fn new() -> Self {
        Self { next: P::U32::new(0), serving: P::U32::new(0) }
    }
    fn acquire(&self, (): &mut ()) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        P::wait_until(&self.serving, Wait::Spin, |serving| serving == mine);
    }
    unsafe fn release(&self, (): &mut ()) {
        let served = self.serving.fetch_add(1, Ordering::Release);
        if self.next.load(Ordering::Relaxed) == served {
            P::yield_now();
        }
    }
    rest_of_the_lock!();
}

#[test]
fn a_lock_touched_after_its_release_is_caught() {
    type Checked = Altered<Shuttle, Sound>;
    assert_caught_in(
        programs::destroyed_by_last_holder::<Checked, TicketReadLate<Checked>>,
        &["touched after its last holder destroyed it"],
    );
}

#[test]
fn loom_too_catches_a_lock_touched_after_its_release() {
    type Checked = Altered<Loom, Sound>;
    let message = verdict(|| {
        loom::model(programs::destroyed_by_last_holder::<Checked, TicketReadLate<Checked>>);
    })
    .expect_err("loom finds nothing wrong with the broken twin");
    assert!(message.contains("touched after its last holder destroyed it"), "{message}");
}

/// Which error a [`BrokenFutex`] has.
trait FutexError: Send + Sync + 'static {
    /// A waiter sleeps without having marked the word.
    const SLEEPS_UNMARKED: bool = false;
    /// A release never wakes.
    const NEVER_WAKES: bool = false;
    /// Whoever slept takes the mutex as if nobody else could sleep.
    const FORGETS_OTHERS: bool = false;
}

struct BrokenFutex<E>(Word, PhantomData<E>);

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<E: FutexError> RawLock<Shuttle> for BrokenFutex<E> {
    type Thread = ();
    fn new() -> Self {
        Self(Word::new(0), PhantomData)
    }
    fn acquire(&self, (): &mut ()) {
        let take = || self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if take() {
            return;
        }
        if E::SLEEPS_UNMARKED {
            while !take() {
                Shuttle::park(&self.0, 1, None);
            }
        } else if E::FORGETS_OTHERS {
            while !take() {
                let marked = self.0.compare_exchange(1, 2, Ordering::Relaxed, Ordering::Relaxed);
                if marked != Err(0) {
                    Shuttle::park(&self.0, 2, None);
                }
            }
        } else {
            while self.0.swap(2, Ordering::Acquire) != 0 {
                Shuttle::park(&self.0, 2, None);
            }
        }
    }
    unsafe fn release(&self, (): &mut ()) {
        if self.0.swap(0, Ordering::Release) == 2 && !E::NEVER_WAKES {
            Shuttle::unpark(&self.0, 1);
        }
    }
    rest_of_the_lock!();
}

struct SleepsUnmarked;
impl FutexError for SleepsUnmarked {
    const SLEEPS_UNMARKED: bool = true;
}

struct NeverWakes;
impl FutexError for NeverWakes {
    const NEVER_WAKES: bool = true;
}

struct ForgetsOthers;
impl FutexError for ForgetsOthers {
    const FORGETS_OTHERS: bool = true;
}

#[test]
fn a_futex_waiter_that_does_not_mark_the_word_is_caught() {
    assert_caught::<BrokenFutex<SleepsUnmarked>>(LOST_WAKE_UP);
}

#[test]
fn a_futex_release_that_does_not_wake_is_caught() {
    assert_caught::<BrokenFutex<NeverWakes>>(LOST_WAKE_UP);
}

#[test]
fn a_woken_futex_waiter_that_forgets_the_others_is_caught() {
    assert_caught::<BrokenFutex<ForgetsOthers>>(LOST_WAKE_UP);
}

/// The errors of a queue lock whose waiters park, as in `mcs-park` and `malthusian`.
trait QueueError: Send + Sync + 'static {
    /// A release with no successor linked frees the lock without a look at the tail.
    const FREES_BLINDLY: bool = false;
    /// A release looks for a sleeper and then admits, in two steps.
    const LOOKS_BEFORE_IT_ADMITS: bool = false;
}

/// An MCS lock in the K42 form that leaks its nodes, so that its errors are lost wake-ups and
/// not wild pointers.
struct BrokenQueue<E> {
    tail: Pointer<QueueNode>,
    holder: Pointer<QueueNode>,
    error: PhantomData<E>,
}

struct QueueNode {
    next: Pointer<QueueNode>,
    admitted: Word,
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<E: QueueError> RawLock<Shuttle> for BrokenQueue<E> {
    type Thread = ();
    fn new() -> Self {
        let none = || Pointer::new(ptr::null_mut());
        Self { tail: none(), holder: none(), error: PhantomData }
    }
    fn acquire(&self, (): &mut ()) {
        let node: &'static QueueNode = Box::leak(Box::new(QueueNode {
            next: Pointer::new(ptr::null_mut()),
            admitted: Word::new(0),
        }));
        let me = ptr::from_ref(node).cast_mut();
        let before = self.tail.swap(me, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: nodes are leaked.
            unsafe { &*before }.next.store(me, Ordering::Release);
            let parking =
                node.admitted.compare_exchange(0, 2, Ordering::Relaxed, Ordering::Acquire);
            while parking.is_ok() && node.admitted.load(Ordering::Acquire) != 1 {
                Shuttle::park(&node.admitted, 2, None);
            }
        }
        self.holder.store(me, Ordering::Relaxed);
    }
    unsafe fn release(&self, (): &mut ()) {
        // SAFETY: nodes are leaked.
        let me = unsafe { &*self.holder.load(Ordering::Relaxed) };
        let mut successor = me.next.load(Ordering::Acquire);
        if successor.is_null() {
            if E::FREES_BLINDLY {
                self.tail.store(ptr::null_mut(), Ordering::Release);
                return;
            }
            let me = ptr::from_ref(me).cast_mut();
            let freed = self.tail.compare_exchange(
                me,
                ptr::null_mut(),
                Ordering::Release,
                Ordering::Relaxed,
            );
            if freed.is_ok() {
                return;
            }
            // SAFETY: nodes are leaked.
            let link = unsafe { &(*me).next };
            successor = Shuttle::wait_until(link, Wait::Spin, |next| !next.is_null());
        }
        // SAFETY: nodes are leaked.
        let admitted = unsafe { &(*successor).admitted };
        let slept = if E::LOOKS_BEFORE_IT_ADMITS {
            let slept = admitted.load(Ordering::Acquire);
            admitted.store(1, Ordering::Release);
            slept
        } else {
            admitted.swap(1, Ordering::Release)
        };
        if slept == 2 {
            Shuttle::unpark(admitted, 1);
        }
    }
    rest_of_the_lock!();
}

struct FreesBlindly;
impl QueueError for FreesBlindly {
    const FREES_BLINDLY: bool = true;
}

struct LooksBeforeItAdmits;
impl QueueError for LooksBeforeItAdmits {
    const LOOKS_BEFORE_IT_ADMITS: bool = true;
}

#[test]
fn a_queue_freed_while_a_waiter_links_itself_is_caught() {
    assert_caught::<BrokenQueue<FreesBlindly>>(LOST_WAKE_UP);
}

#[test]
fn a_waiter_admitted_in_two_steps_is_caught() {
    assert_caught::<BrokenQueue<LooksBeforeItAdmits>>(LOST_WAKE_UP);
}

/// None of the errors: the twins are right but for them.
struct NoError;
impl FutexError for NoError {}
impl QueueError for NoError {}

#[test]
fn the_twins_without_their_errors_pass() {
    assert_passes::<BrokenFutex<NoError>>();
    assert_passes::<BrokenQueue<NoError>>();
}
