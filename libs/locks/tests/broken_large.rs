//! Broken twins of the locks that are larger than their place, and of their parts; see
//! `broken.rs`.

use crate::common;

use std::marker::PhantomData;
use std::ptr;

use common::programs;
use common::twins::{
    LongWord, Pointer, RACE, Word, assert_caught, assert_caught_in, assert_passes, rest_of_the_lock,
};
use kilocore_locks::{Body, Inflatable, LargeLock, LocalLock, RawLock, Ticket};
use kilocore_platform::{CpuId, NodeId, Ordering, Platform, Shuttle, Wait};

/// Two inside, or, if the lock's counts are spoilt before two are inside, threads that spin for
/// ever.
const RACE_OR_ENDLESS: &[&str] = &[RACE[0], RACE[1], "exceeded max_steps"];

/// Anderson's lock with flags instead of numbers and fewer places than waiters: two wait at the
/// same place, and both see the flag.
struct ArrayOfFlags {
    next: Word,
    may_enter: [Word; 2],
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl LargeLock<Shuttle> for ArrayOfFlags {
    type Thread = u32;
    fn new() -> Self {
        Self { next: Word::new(0), may_enter: [Word::new(1), Word::new(0)] }
    }
    fn acquire(&self, mine: &mut u32) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let place = &self.may_enter[number as usize % 2];
        Shuttle::wait_until(place, Wait::Spin, |may_enter| may_enter == 1);
        place.store(0, Ordering::Relaxed);
        *mine = number;
    }
    unsafe fn release(&self, mine: &mut u32) {
        let next = *mine + 1;
        self.may_enter[next as usize % 2].store(1, Ordering::Release);
    }
}

/// A large lock by itself, where its size is no matter.
struct Bare<L>(L);

// SAFETY: it is the lock inside, but for its size, which no program under a checker relies on.
unsafe impl<L: LargeLock<Shuttle>> RawLock<Shuttle> for Bare<L> {
    type Thread = L::Thread;
    fn new() -> Self {
        Self(L::new())
    }
    fn acquire(&self, thread: &mut L::Thread) {
        self.0.acquire(thread);
    }
    unsafe fn release(&self, thread: &mut L::Thread) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.0.release(thread) };
    }
    fn try_acquire(&self, _: &mut L::Thread) -> bool {
        unreachable!("no program here tries")
    }
    unsafe fn forget_waiters(&self, _: &mut L::Thread) {
        unreachable!("no program here forks")
    }
}

#[test]
fn flags_for_more_waiters_than_places_are_caught() {
    let program =
        || programs::exclusion::<Shuttle, Bare<ArrayOfFlags>>(4, 1, programs::all_together);
    assert_caught_in(program, RACE);
}

/// Which error a [`BrokenCohort`] has.
trait CohortError: Send + Sync + 'static {
    /// A release that lets the global lock go does not tell its node.
    const KEEPS_THE_NODE_IN_THE_DARK: bool = false;
    /// A release passes on within the node without letting anybody know that the global lock
    /// comes along, and lets that go as well.
    const LETS_GO_AND_PASSES_ON: bool = false;
}

/// A cohort of ticket locks, the body of an [`Inflatable`].
struct BrokenCohort<E> {
    global: Ticket<Shuttle>,
    local: [Ticket<Shuttle>; 2],
    comes_along: [Word; 2],
    holder: Word,
    departures: LongWord,
    error: PhantomData<E>,
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<E: CohortError> LargeLock<Shuttle> for BrokenCohort<E> {
    type Thread = ();
    fn new() -> Self {
        Self {
            global: RawLock::new(),
            local: [RawLock::new(), RawLock::new()],
            comes_along: [Word::new(0), Word::new(0)],
            holder: Word::new(0),
            departures: LongWord::new(0),
            error: PhantomData,
        }
    }
    fn acquire(&self, (): &mut ()) {
        let node = Shuttle::node().0;
        RawLock::acquire(&self.local[node as usize], &mut ());
        if self.comes_along[node as usize].load(Ordering::Relaxed) == 0 {
            RawLock::acquire(&self.global, &mut ());
        }
        self.holder.store(node, Ordering::Relaxed);
    }
    unsafe fn release(&self, (): &mut ()) {
        let node = self.holder.load(Ordering::Relaxed) as usize;
        let local = &self.local[node];
        let stays = local.has_waiter();
        if stays || !E::KEEPS_THE_NODE_IN_THE_DARK {
            self.comes_along[node].store(u32::from(stays), Ordering::Relaxed);
        }
        // SAFETY: both are held.
        unsafe {
            RawLock::release(local, &mut ());
            if !stays || E::LETS_GO_AND_PASSES_ON {
                RawLock::release(&self.global, &mut ());
            }
        }
    }
}

// SAFETY: it is a word of its own, which nothing above touches.
unsafe impl<E: CohortError> Body<Shuttle> for BrokenCohort<E> {
    fn departures(&self) -> &LongWord {
        &self.departures
    }
}

fn on_two_nodes(index: u32) {
    Shuttle::place(CpuId(index), NodeId(index % 2));
}

macro_rules! cohort_error {
    ($test:ident, $error:ident, $flag:ident) => {
        struct $error;
        impl CohortError for $error {
            const $flag: bool = true;
        }

        #[test]
        fn $test() {
            type Lock = Inflatable<Shuttle, BrokenCohort<$error>>;
            let program = || programs::exclusion::<Shuttle, Lock>(4, 2, on_two_nodes);
            assert_caught_in(program, RACE_OR_ENDLESS);
        }
    };
}

cohort_error!(
    a_cohort_that_keeps_its_node_in_the_dark_is_caught,
    KeepsTheNodeInTheDark,
    KEEPS_THE_NODE_IN_THE_DARK
);
cohort_error!(
    a_cohort_that_lets_go_and_passes_on_is_caught,
    LetsGoAndPassesOn,
    LETS_GO_AND_PASSES_ON
);

/// Which error a [`BrokenInflatable`] has.
trait InflatableError: Send + Sync + 'static {
    /// The body that the first waiter brings is free, although somebody holds the lock.
    const BRINGS_A_FREE_BODY: bool = false;
    /// Whoever finds itself alone frees the lock in a second step.
    const FREES_IN_TWO_STEPS: bool = false;
    /// A release looks only whether there is a body yet, not whether one is to come.
    const FORGETS_WHO_IS_TO_COME: bool = false;
}

/// An inflatable lock with a ticket lock for a body, which it leaks.
struct BrokenInflatable<E> {
    arrivals: LongWord,
    body: Pointer<Inflated>,
    error: PhantomData<E>,
}

struct Inflated {
    ticket: Ticket<Shuttle>,
    departures: LongWord,
}

impl<E: InflatableError> BrokenInflatable<E> {
    /// Frees the lock if nobody has arrived since it was in the state `arrivals`.
    fn set_free(&self, arrivals: u64) -> bool {
        if !E::FREES_IN_TWO_STEPS {
            let freed =
                self.arrivals.compare_exchange(arrivals, 0, Ordering::AcqRel, Ordering::Relaxed);
            return freed.is_ok();
        }
        let alone = self.arrivals.load(Ordering::Acquire) == arrivals;
        if alone {
            self.arrivals.store(0, Ordering::Release);
        }
        alone
    }

    fn inflated(&self) -> &'static Inflated {
        Shuttle::wait_until(&self.arrivals, Wait::Spin, |arrivals| arrivals & 1 != 0);
        // SAFETY: bodies are leaked.
        unsafe { &*self.body.load(Ordering::Acquire) }
    }
}

// SAFETY: a broken twin does not keep what it promises. A checker runs it, which reports that
// instead of letting it happen.
unsafe impl<E: InflatableError> RawLock<Shuttle> for BrokenInflatable<E> {
    type Thread = ();
    fn new() -> Self {
        Self { arrivals: LongWord::new(0), body: Pointer::new(ptr::null_mut()), error: PhantomData }
    }
    fn acquire(&self, (): &mut ()) {
        let before = self.arrivals.fetch_add(2, Ordering::Acquire);
        if before == 0 {
            return;
        }
        if before == 2 {
            let body = Inflated { ticket: RawLock::new(), departures: LongWord::new(0) };
            if !E::BRINGS_A_FREE_BODY {
                RawLock::acquire(&body.ticket, &mut ());
            }
            self.body.store(Box::leak(Box::new(body)), Ordering::Release);
            self.arrivals.fetch_or(1, Ordering::Release);
        }
        RawLock::acquire(&self.inflated().ticket, &mut ());
    }
    unsafe fn release(&self, (): &mut ()) {
        if E::FORGETS_WHO_IS_TO_COME {
            let arrivals = self.arrivals.load(Ordering::Acquire);
            if arrivals & 1 == 0 {
                self.arrivals.fetch_sub(2, Ordering::Release);
                return;
            }
        } else if self.set_free(2) {
            return;
        }
        let body = self.inflated();
        let departures = body.departures.load(Ordering::Relaxed) + 2;
        if self.set_free(departures | 1) {
            return;
        }
        body.departures.store(departures, Ordering::Relaxed);
        // SAFETY: held.
        unsafe { RawLock::release(&body.ticket, &mut ()) };
    }
    rest_of_the_lock!();
}

macro_rules! inflatable_error {
    ($test:ident, $error:ident, $flag:ident, $how:expr) => {
        struct $error;
        impl InflatableError for $error {
            const $flag: bool = true;
        }

        #[test]
        fn $test() {
            assert_caught::<BrokenInflatable<$error>>($how);
        }
    };
}

inflatable_error!(
    a_first_waiter_that_brings_a_free_body_is_caught,
    BringsAFreeBody,
    BRINGS_A_FREE_BODY,
    RACE
);
inflatable_error!(
    a_lock_set_free_in_two_steps_is_caught,
    FreesInTwoSteps,
    FREES_IN_TWO_STEPS,
    RACE_OR_ENDLESS
);
inflatable_error!(
    a_release_that_forgets_who_is_to_come_is_caught,
    ForgetsWhoIsToCome,
    FORGETS_WHO_IS_TO_COME,
    RACE_OR_ENDLESS
);

/// None of the errors: the twins are right but for them.
struct NoError;
impl CohortError for NoError {}
impl InflatableError for NoError {}

#[test]
fn the_twins_without_their_errors_pass() {
    assert_passes::<BrokenInflatable<NoError>>();
    assert_passes::<Inflatable<Shuttle, BrokenCohort<NoError>>>();
}
