//! Errors in queues beside locks of one word, planted in what ships or in a twin: the programs that what
//! ships passes must find each of them.

use crate::common;

use std::marker::PhantomData;

use common::altered::planted::{Error, Source, plant};
use common::altered::{Altered, Sound, Thorough};
use common::side_queues::{
    HELD, Interrupted, Interruptible, KEEP_OUT, Small, Table, Tickets, Whole, interrupted,
    kept_out, nested,
};
use common::twins::{LOST_WAKE_UP, RACE};
use common::{explore, explore_part, model, programs, verdict};
use kilocore_locks::{RawLock, Requester};
use kilocore_platform::{Loom, Ordering, Platform, Shuttle, Wait};

type Explored = Altered<Shuttle, Sound>;
type Checked = Altered<Loom, Thorough>;

/// Schedules for each program, and the preemptions in one.
const SCHEDULES: usize = 1_000;
const DEPTH: usize = 3;

/// What waiting for ever looks like: all sleep, or somebody spins.
const FOR_EVER: &[&str] = &[LOST_WAKE_UP[0], "exceeded max_steps"];

#[track_caller]
fn assert_caught(program: impl Fn() + Copy + Send + Sync + 'static, how: &[&str]) {
    let message = verdict(|| explore(program, 5_000, 3)).expect_err("nothing wrong is found");
    assert!(how.iter().any(|how| message.contains(how)), "caught by: {message}");
}

/// Errors in what ships: a call that changes nothing, or an exchange in two steps.
#[test]
fn planted_errors_are_caught() {
    let source = Source {
        file: "libs/locks/src/side_queues.rs",
        text: include_str!("../src/side_queues.rs"),
    };
    let check = |call, error, program: fn(), how: &[&str]| {
        let found = plant(source, call, error, || verdict(|| explore(program, 5_000, 3)));
        let Err(message) = found else { panic!("nothing wrong is found with {error:?}: {call}") };
        assert!(how.iter().any(|how| message.contains(how)), "{call} is caught by: {message}");
    };
    let exclusion: fn() = || {
        programs::exclusion::<Explored, Whole<Explored, Tickets<Explored>>>(3, 2, |_| ());
    };
    let nested: fn() = || nested::<Explored, Tickets<Explored>>(3, 0);
    let taking = "compare_exchange(free, S::HELD, Ordering::Acquire, Ordering::Relaxed)";
    check(taking, Error::InTwoSteps, exclusion, &[RACE[0], RACE[1], FOR_EVER[0], FOR_EVER[1]]);
    check("fetch_or(S::KEEP_OUT, Ordering::Relaxed)", Error::Lost, exclusion, FOR_EVER);
    let joining = "compare_exchange(claim, joined, Ordering::Acquire, Ordering::Relaxed)";
    let beside = &[FOR_EVER[0], FOR_EVER[1], "the slot is not free", "overflow"];
    check(joining, Error::InTwoSteps, nested, beside);
    check("fetch_sub(1, Ordering::Release)", Error::Lost, nested, &["the slot is not free"]);
}

/// loom finds that taking the lock orders what the last holder did before what the next one does, whether
/// the next one has waited in the queue or not.
#[test]
fn taking_the_lock_depends_on_its_ordering() {
    let source = Source {
        file: "libs/locks/src/side_queues.rs",
        text: include_str!("../src/side_queues.rs"),
    };
    let call = "compare_exchange(free, S::HELD, Ordering::Acquire, Ordering::Relaxed)";
    let found = plant(source, call, Error::Weakened(Ordering::Relaxed), || {
        verdict(|| model(Some(2), || nested::<Checked, Tickets<Checked>>(2, 0)))
    });
    assert!(found.as_ref().is_err_and(|found| found.contains("Causality violation")), "{found:?}");
}

/// Errors that take more than a call.
trait QueueError: Send + Sync + 'static {
    /// A waiter waits until the slot is free or its lock's.
    const WAITS_FOR_THE_SLOT: bool = false;
    /// A waiter leaves the slot before it releases the queue lock.
    const LEAVES_TOO_EARLY: bool = false;
    /// The head stores that it has the lock when it sees the lock free.
    const TAKES_BY_A_STORE: bool = false;
    /// The head lets arrivals in again before it tries to take the lock.
    const LETS_ARRIVALS_IN: bool = false;
}

/// A table with one slot.
struct Broken<E> {
    claim: <Shuttle as Platform>::U64,
    queue: Interrupted<Requester<Shuttle, 0>>,
    error: PhantomData<E>,
}

impl<E: QueueError> Broken<E> {
    fn join(&self, key: u64) -> bool {
        let joined = |claim: u64| {
            (claim as u32 == 0 || claim >> 32 == key)
                .then_some(key << 32 | (claim as u32 + 1) as u64)
        };
        let mut claim = self.claim.load(Ordering::Relaxed);
        while let Some(next) = joined(claim) {
            match self.claim.compare_exchange(claim, next, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => claim = now,
            }
        }
        false
    }
}

impl<E: QueueError> Table<Shuttle> for Broken<E> {
    type Thread = Interruptible<()>;
    fn new() -> Self {
        let claim = <Shuttle as Platform>::U64::new(0);
        Self { claim, queue: <Interrupted<_> as RawLock<Shuttle>>::new(), error: PhantomData }
    }
    fn acquire(&self, lock: &Small<Shuttle>, thread: &mut Interruptible<()>) -> bool {
        while !self.join(lock.key) {
            if E::WAITS_FOR_THE_SLOT {
                Shuttle::yield_now();
            } else if lock.try_acquire() {
                return false;
            } else {
                Shuttle::pause(1);
            }
        }
        RawLock::<Shuttle>::acquire(&self.queue, thread);
        if !E::TAKES_BY_A_STORE {
            lock.word.fetch_or(KEEP_OUT, Ordering::Relaxed);
        }
        loop {
            Shuttle::wait_until(&lock.word, Wait::Spin, |word| word & HELD == 0);
            if E::TAKES_BY_A_STORE {
                lock.word.store(HELD, Ordering::Release);
                break;
            }
            let free = if E::LETS_ARRIVALS_IN { 0 } else { KEEP_OUT };
            if E::LETS_ARRIVALS_IN {
                lock.word.fetch_and(!KEEP_OUT, Ordering::Relaxed);
            }
            let taking =
                lock.word.compare_exchange(free, HELD, Ordering::Acquire, Ordering::Relaxed);
            if taking.is_ok() {
                break;
            }
        }
        if E::LEAVES_TOO_EARLY {
            self.claim.fetch_sub(1, Ordering::Release);
        }
        // SAFETY: acquired above.
        unsafe { RawLock::<Shuttle>::release(&self.queue, thread) };
        if !E::LEAVES_TOO_EARLY {
            self.claim.fetch_sub(1, Ordering::Release);
        }
        true
    }
}

macro_rules! queue_error {
    ($test:ident, $error:ident, $flag:ident, $program:expr, $how:expr) => {
        struct $error;
        impl QueueError for $error {
            const $flag: bool = true;
        }

        #[test]
        fn $test() {
            type Table = Broken<$error>;
            assert_caught($program, $how);
        }
    };
}

queue_error!(
    a_waiter_that_waits_for_the_slot_is_caught,
    WaitsForTheSlot,
    WAITS_FOR_THE_SLOT,
    || nested::<Shuttle, Table>(2, 0),
    FOR_EVER
);
queue_error!(
    a_waiter_that_leaves_too_early_is_caught,
    LeavesTooEarly,
    LEAVES_TOO_EARLY,
    || interrupted::<Shuttle, Table>(2),
    FOR_EVER
);
queue_error!(
    a_head_that_takes_by_a_store_is_caught,
    TakesByAStore,
    TAKES_BY_A_STORE,
    || programs::exclusion::<Shuttle, Whole<Shuttle, Table>>(3, 2, |_| ()),
    &[RACE[0], RACE[1], FOR_EVER[0], FOR_EVER[1]]
);
queue_error!(
    a_head_that_lets_arrivals_in_is_caught,
    LetsArrivalsIn,
    LETS_ARRIVALS_IN,
    kept_out::<Shuttle, Table>,
    &["an arrival has overtaken the head", "race"]
);

/// None of the errors: the twin is right but for them.
struct NoError;
impl QueueError for NoError {}

#[test]
fn the_twin_without_its_errors_passes() {
    type Table = Broken<NoError>;
    let exclusion = || programs::exclusion::<Shuttle, Whole<Shuttle, Table>>(3, 2, |_| ());
    explore_part(exclusion, SCHEDULES, DEPTH);
    explore_part(|| nested::<Shuttle, Table>(2, 0), SCHEDULES, DEPTH);
    explore_part(|| interrupted::<Shuttle, Table>(2), SCHEDULES, DEPTH);
    explore_part(kept_out::<Shuttle, Table>, SCHEDULES, DEPTH);
}
