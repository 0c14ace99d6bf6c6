//! Twins of the shipped algorithms with one deliberate error each, of a kind that no ordering
//! shows: a look that is not repeated, a wake-up that is not sent, a step too early. Each must
//! be caught by the programs that the shipped locks pass, on schedules of shuttle.
//!
//! The orderings are weakened in the shipped source itself, in `weakened.rs`.

mod common;

use std::marker::PhantomData;
use std::ptr;

use common::altered::{Altered, Sound};
use common::{explore, programs, verdict};
use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, AtomicInt, Loom, Ordering, Platform, Shuttle, Wait};

/// What shuttle says when all threads that are left sleep: a wake-up was lost.
const LOST_WAKE_UP: &[&str] = &["deadlock"];
/// What is said when two are inside: by the cell, if their accesses overlap, or by the count at
/// the end, if each looks before either adds.
const RACE: &[&str] = &["race", "an increment was lost"];

fn assert_caught<L: RawLock<Shuttle>>(how: &[&str]) {
    assert_caught_in(|| programs::exclusion::<Shuttle, L>(3, 2, programs::all_together), how);
}

fn assert_caught_in(program: impl Fn() + Copy + Send + Sync + 'static, how: &[&str]) {
    let message = verdict(|| {
        explore(program, 5_000, 3);
    })
    .expect_err("shuttle finds nothing wrong with the broken twin");
    assert!(how.iter().any(|how| message.contains(how)), "caught for another reason: {message}");
}

/// Implements what the programs below do not use.
macro_rules! rest_of_the_lock {
    () => {
        fn try_acquire(&self, (): &mut ()) -> bool {
            unreachable!("no program here tries")
        }
        unsafe fn forget_waiters(&self, (): &mut ()) {
            unreachable!("no program here forks")
        }
    };
}

type Word = <Shuttle as Platform>::U32;
type LongWord = <Shuttle as Platform>::U64;
type Pointer<T> = <Shuttle as Platform>::Ptr<T>;

/// Test-and-set that looks and then sets, in two steps.
struct TasInTwoSteps(Word);

impl RawLock<Shuttle> for TasInTwoSteps {
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

impl RawLock<Shuttle> for TicketInTwoSteps {
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

impl<P: Platform> RawLock<P> for TicketReadLate<P> {
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

impl<E: FutexError> RawLock<Shuttle> for BrokenFutex<E> {
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

impl<E: QueueError> RawLock<Shuttle> for BrokenQueue<E> {
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

/// The errors of a requester-based lock.
trait RequesterError: Send + Sync + 'static {
    /// A waiter rests without looking who is served after it has read the slot.
    const RESTS_WITHOUT_A_LOOK: bool = false;
    /// A waiter looks who is served, and then reads the slot.
    const LOOKS_TOO_EARLY: bool = false;
    /// A waiter parks without setting the bit that says so.
    const PARKS_UNMARKED: bool = false;
    /// A release bumps the slot before it serves the next ticket.
    const BUMPS_TOO_EARLY: bool = false;
}

/// A requester-based lock with threshold 0.
struct BrokenRequester<E>(LongWord, PhantomData<E>);

impl<E: RequesterError> BrokenRequester<E> {
    fn near(&self, mine: u32) -> bool {
        mine - self.0.load(Ordering::Acquire) as u32 <= 1
    }

    fn rest(&self, mine: u32) {
        let slot = Shuttle::wait_array().slot(0, mine);
        loop {
            if E::LOOKS_TOO_EARLY && self.near(mine) {
                return;
            }
            let seen = slot.load(Ordering::Acquire);
            if !E::LOOKS_TOO_EARLY && !E::RESTS_WITHOUT_A_LOOK && self.near(mine) {
                return;
            }
            let parked = if E::PARKS_UNMARKED { seen } else { seen | 1 };
            let marked = seen == parked
                || slot
                    .compare_exchange(seen, parked, Ordering::Relaxed, Ordering::Relaxed)
                    .is_ok();
            if marked {
                Shuttle::park(slot, parked, None);
            }
            if E::RESTS_WITHOUT_A_LOOK && self.near(mine) {
                return;
            }
        }
    }

    fn wake(near: u32) {
        let slot = Shuttle::wait_array().slot(0, near);
        loop {
            let seen = slot.load(Ordering::Relaxed);
            let bumped = (seen | 1) + 1;
            let bump = slot.compare_exchange(seen, bumped, Ordering::Release, Ordering::Relaxed);
            if bump.is_ok() {
                if seen & 1 != 0 {
                    Shuttle::unpark(slot, u32::MAX);
                }
                return;
            }
        }
    }
}

impl<E: RequesterError> RawLock<Shuttle> for BrokenRequester<E> {
    type Thread = ();
    fn new() -> Self {
        Self(LongWord::new(0), PhantomData)
    }
    fn acquire(&self, (): &mut ()) {
        let before = self.0.fetch_add(1 << 32, Ordering::Acquire);
        let mine = (before >> 32) as u32;
        if mine - before as u32 > 1 {
            self.rest(mine);
        }
        Shuttle::wait_until(&self.0, Wait::Spin, |tickets| tickets as u32 == mine);
    }
    unsafe fn release(&self, (): &mut ()) {
        let mine = self.0.load(Ordering::Relaxed) as u32;
        if E::BUMPS_TOO_EARLY {
            Self::wake(mine + 2);
            self.0.fetch_add(1, Ordering::Release);
            return;
        }
        let before = self.0.fetch_add(1, Ordering::Release);
        if (before >> 32) as u32 - mine > 2 {
            Self::wake(mine + 2);
        }
    }
    rest_of_the_lock!();
}

macro_rules! requester_error {
    ($test:ident, $error:ident, $flag:ident) => {
        struct $error;
        impl RequesterError for $error {
            const $flag: bool = true;
        }

        #[test]
        fn $test() {
            type Lock = BrokenRequester<$error>;
            // A single round: in a second one, threads that come back would spin for the one
            // that sleeps, which is as wrong, but not a deadlock.
            let program = || programs::exclusion::<Shuttle, Lock>(3, 1, programs::all_together);
            assert_caught_in(program, LOST_WAKE_UP);
        }
    };
}

requester_error!(
    a_requester_that_rests_without_a_look_is_caught,
    RestsWithoutALook,
    RESTS_WITHOUT_A_LOOK
);
requester_error!(a_requester_that_looks_too_early_is_caught, LooksTooEarly, LOOKS_TOO_EARLY);
requester_error!(a_requester_that_parks_unmarked_is_caught, ParksUnmarked, PARKS_UNMARKED);
requester_error!(a_release_that_bumps_too_early_is_caught, BumpsTooEarly, BUMPS_TOO_EARLY);

/// None of the errors: the twins are right but for them.
struct NoError;
impl FutexError for NoError {}
impl QueueError for NoError {}
impl RequesterError for NoError {}

#[test]
fn the_twins_without_their_errors_pass() {
    fn assert_passes<L: RawLock<Shuttle>>() {
        let program = || programs::exclusion::<Shuttle, L>(3, 2, programs::all_together);
        explore(program, 1_000, 3);
    }
    assert_passes::<BrokenFutex<NoError>>();
    assert_passes::<BrokenQueue<NoError>>();
    assert_passes::<BrokenRequester<NoError>>();
}
