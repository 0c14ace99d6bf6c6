//! The checkers' platforms themselves: their futex loses and invents no wake-up, and their
//! cells notice a race.
#![cfg(all(feature = "loom", feature = "shuttle"))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Arc;

use kilocore_platform::{
    Atomic, CpuId, Loom, Nanos, NodeId, Ordering, Parked, Platform, SharedCell, Shuttle, Wait,
};
use shuttle::Runner;
use shuttle::scheduler::RandomScheduler;

/// A checker: how it runs a program and its threads.
trait Checker: Platform {
    fn check(program: impl Fn() + Send + Sync + 'static);
    /// Runs both at the same time and waits for them.
    fn both(first: impl FnOnce(), second: impl FnOnce() + Send + 'static);
    fn place_here(cpu: CpuId, node: NodeId);
    fn sleepers(cell: &Self::U32) -> usize;
}

impl Checker for Loom {
    fn check(program: impl Fn() + Send + Sync + 'static) {
        loom::model(program);
    }
    fn both(first: impl FnOnce(), second: impl FnOnce() + Send + 'static) {
        let second = loom::thread::spawn(second);
        first();
        second.join().unwrap();
    }
    fn place_here(cpu: CpuId, node: NodeId) {
        Loom::place(cpu, node);
    }
    fn sleepers(cell: &Self::U32) -> usize {
        Loom::parked_on(cell)
    }
}

impl Checker for Shuttle {
    fn check(program: impl Fn() + Send + Sync + 'static) {
        // The same schedules each time, so that a verdict can be repeated.
        let schedules = RandomScheduler::new_from_seed(0x5eed, 2_000);
        Runner::new(schedules, shuttle::Config::default()).run(program);
    }
    fn both(first: impl FnOnce(), second: impl FnOnce() + Send + 'static) {
        let second = shuttle::thread::spawn(second);
        first();
        second.join().unwrap();
    }
    fn place_here(cpu: CpuId, node: NodeId) {
        Shuttle::place(cpu, node);
    }
    fn sleepers(cell: &Self::U32) -> usize {
        Shuttle::parked_on(cell)
    }
}

/// The message with which the checker rejects a program.
fn rejection<C: Checker>(program: impl Fn() + Send + Sync + 'static) -> String {
    let payload = catch_unwind(AssertUnwindSafe(|| C::check(program)))
        .expect_err("the checker accepts a wrong program");
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => (*payload.downcast::<&str>().unwrap()).to_owned(),
    }
}

/// A store followed by an unpark always reaches one who parks on the old value.
fn a_wake_up_after_a_store_arrives<C: Checker>() {
    C::check(|| {
        let word = Arc::new(C::U32::new(0));
        let waker = word.clone();
        C::both(
            || {
                while word.load(Ordering::Acquire) == 0 {
                    C::park(&word, 0, None);
                }
            },
            move || {
                waker.store(1, Ordering::Release);
                C::unpark(&*waker, 1);
            },
        );
    });
}

/// Says what a checker says of a program in which a thread sleeps on. In a process of its own,
/// because loom aborts when it gives up a thread that sleeps.
fn assert_deadlock(test: &str, program: impl FnOnce()) {
    const INSIDE: &str = "KILOCORE_TEST_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return program();
    }
    let inside = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "--nocapture", test])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    assert!(!inside.status.success(), "the checker accepts a wrong program");
    let says = String::from_utf8_lossy(&inside.stderr);
    assert!(says.contains("deadlock"), "{says}");
}

/// Without the unpark the sleeper sleeps on: nothing wakes it by accident.
fn a_missing_wake_up<C: Checker>() {
    C::check(|| {
        let word = Arc::new(C::U32::new(0));
        let waker = word.clone();
        C::both(
            || {
                while word.load(Ordering::Acquire) == 0 {
                    C::park(&word, 0, None);
                }
            },
            move || waker.store(1, Ordering::Release),
        );
    });
}

/// An unpark before the store is lost on one who parks in between.
fn a_wake_up_before_the_store<C: Checker>() {
    C::check(|| {
        let word = Arc::new(C::U32::new(0));
        let waker = word.clone();
        C::both(
            || {
                while word.load(Ordering::Acquire) == 0 {
                    C::park(&word, 0, None);
                }
            },
            move || {
                C::unpark(&*waker, 1);
                waker.store(1, Ordering::Release);
            },
        );
    });
}

/// Nobody sleeps on a value that is not there, and a time limit ends a sleep.
fn parking_returns_at_once_where_it_must<C: Checker>() {
    C::check(|| {
        let word = C::U32::new(7);
        assert_eq!(C::park(&word, 8, None), Parked::Changed);
        assert_eq!(C::park(&word, 7, Some(Nanos(1))), Parked::TimedOut);
        assert_eq!(C::unpark(&word, 1), 0);
    });
}

/// A wake-up goes to the word that it names, and wakes as many as it says it does.
fn a_wake_up_knows_its_word<C: Checker>() {
    C::check(|| {
        let words = Arc::new([C::U32::new(0), C::U32::new(0)]);
        let sleeper = words.clone();
        C::both(
            || {
                while C::sleepers(&words[0]) == 0 {
                    C::yield_now();
                }
                assert_eq!(C::unpark(&words[1], u32::MAX), 0);
                assert_eq!(C::unpark(&words[0], u32::MAX), 1);
            },
            move || assert_eq!(C::park(&sleeper[0], 0, None), Parked::Woken),
        );
    });
}

fn unordered_writes_are_a_race<C: Checker>(says: &str) {
    let message = rejection::<C>(|| {
        let cell = Arc::new(C::Cell::<u32>::new(0));
        let other = cell.clone();
        // SAFETY: unsound on purpose; the checker runs one thread at a time.
        let write = |cell: &C::Cell<u32>| cell.with_mut(|data| unsafe { *data += 1 });
        C::both(|| write(&cell), move || write(&other));
    });
    assert!(message.contains(says), "{message}");
}

fn reads_are_no_race<C: Checker>() {
    C::check(|| {
        let cell = Arc::new(C::Cell::<u32>::new(3));
        let other = cell.clone();
        // SAFETY: nobody writes.
        let read = |cell: &C::Cell<u32>| cell.with(|data| assert_eq!(unsafe { *data }, 3));
        C::both(|| read(&cell), move || read(&other));
    });
}

/// Each thread has a place of its own, and waiters of successive tickets share few slots.
fn places_and_slots<C: Checker>() {
    C::check(|| {
        C::place_here(CpuId(1), NodeId(1));
        C::both(
            || assert_eq!((C::cpu(), C::node()), (CpuId(1), NodeId(1))),
            || {
                assert_eq!((C::cpu(), C::node()), (CpuId(0), NodeId(0)));
                C::place_here(CpuId(2), NodeId(0));
                assert_eq!(C::cpu(), CpuId(2));
            },
        );
        let slot = |ticket| std::ptr::from_ref(C::wait_array().slot(0, ticket));
        assert_ne!(slot(0), slot(1));
        assert_eq!(slot(0), slot(2));
    });
}

/// A waiter sees what was written before the value that it waits for.
fn waiting_acquires<C: Checker>(how: Wait) {
    C::check(move || {
        let shared = Arc::new((C::U32::new(0), C::Cell::<u32>::new(0)));
        let writer = shared.clone();
        C::both(
            || {
                assert_eq!(C::wait_until(&shared.0, how, |value| value > 0), 2);
                // SAFETY: the writer is done with the cell, as the word says.
                shared.1.with(|data| assert_eq!(unsafe { *data }, 5));
            },
            move || {
                // SAFETY: the reader waits for the word.
                writer.1.with_mut(|data| unsafe { *data = 5 });
                writer.0.store(2, Ordering::Release);
            },
        );
    });
}

macro_rules! suite {
    ($module:ident, $checker:ty, $race:expr) => {
        mod $module {
            use super::*;

            #[test]
            fn futex() {
                a_wake_up_after_a_store_arrives::<$checker>();
                parking_returns_at_once_where_it_must::<$checker>();
                a_wake_up_knows_its_word::<$checker>();
            }

            #[test]
            fn a_missing_wake_up_is_a_deadlock() {
                assert_deadlock(
                    concat!(stringify!($module), "::a_missing_wake_up_is_a_deadlock"),
                    a_missing_wake_up::<$checker>,
                );
            }

            #[test]
            fn a_wake_up_before_the_store_is_lost() {
                assert_deadlock(
                    concat!(stringify!($module), "::a_wake_up_before_the_store_is_lost"),
                    a_wake_up_before_the_store::<$checker>,
                );
            }

            #[test]
            fn cell() {
                unordered_writes_are_a_race::<$checker>($race);
                reads_are_no_race::<$checker>();
            }

            #[test]
            fn place_and_waiting() {
                places_and_slots::<$checker>();
                waiting_acquires::<$checker>(Wait::Spin);
                waiting_acquires::<$checker>(Wait::LowPower);
            }
        }
    };
}

suite!(under_loom, Loom, "Causality violation");
suite!(under_shuttle, Shuttle, "race");
