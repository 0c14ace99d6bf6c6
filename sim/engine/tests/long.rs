//! Simulations that last for days, for centuries, and for too long.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform, Wait};
use kilocore_sim::{Options, Outcome, Sim, SimError, SimU64, Simulation, longest_run};

fn simulate(
    cores: u32,
    threads: u32,
    body: impl Fn(u32) + Clone + 'static,
) -> Result<Outcome, SimError> {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let mut simulation = Simulation::new(&machine, Options { cores, seed: 1 }).unwrap();
    for thread in 0..threads {
        let body = body.clone();
        simulation.spawn(move || body(thread)).unwrap();
    }
    simulation.run()
}

/// Minutes at some gigahertz.
const MINUTES: u64 = 1_000_000_000_000;

#[test]
fn cores_that_think_for_minutes_share_a_word_for_years() {
    const ROUNDS: u64 = 10_000;
    let word = Rc::new(Padded(SimU64::new(0)));
    let shared = Rc::clone(&word);
    let outcome = simulate(2, 2, move |thread| {
        for _ in 0..ROUNDS {
            Sim::work(Cycles(MINUTES + u64::from(thread)));
            shared.fetch_add(1, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(word.load(Ordering::Relaxed), 2 * ROUNDS);
    // Each read-modify-write takes less than a microsecond.
    assert!(outcome.end.0 >= ROUNDS * MINUTES, "{:?}", outcome.end);
    assert!(outcome.end.0 < ROUNDS * (MINUTES + 2600), "{:?}", outcome.end);
    // One word and few accesses: it was not read again and again in between.
    assert_eq!(outcome.operations, 2 * ROUNDS);
}

#[test]
fn who_works_for_longer_than_any_span_comes_after_those_who_do_not() {
    let order = Rc::new(Cell::new(0_u32));
    let seen = Rc::clone(&order);
    simulate(3, 3, move |thread| {
        Sim::work(Cycles([1 << 57, 1 << 49, 5][thread as usize]));
        Sim::catch_up();
        seen.set(seen.get() * 10 + thread + 1);
    })
    .unwrap();
    assert_eq!(order.get(), 321);
}

#[test]
fn a_waiter_is_woken_after_years_and_sleepers_wake_by_themselves() {
    let word = Rc::new(Padded(SimU64::new(0)));
    let outcome = simulate(3, 3, move |thread| match thread {
        0 => {
            Sim::work(Cycles(1 << 56));
            word.store(1, Ordering::Release);
        }
        1 => _ = Sim::wait_until(&**word, Wait::Spin, |seen| seen == 1),
        _ => Sim::sleep(Cycles(1 << 55)),
    })
    .unwrap();
    let spun = outcome.tasks[1].total();
    assert!((1 << 56..(1 << 56) + 10_000).contains(&spun.0), "{spun:?}");
    assert!(outcome.end.0 < (1 << 56) + 10_000);
}

/// Rounds that no test below gets to the end of.
const TOO_MANY: u64 = 1_000_000;

#[test]
fn what_would_not_end_in_time_is_given_up() {
    // Alone with its own word nothing stops a core, but the clock.
    let steps = Rc::new(Cell::new(0_u64));
    let seen = Rc::clone(&steps);
    let alone = simulate(1, 1, move |_| {
        for _ in 0..TOO_MANY {
            seen.set(seen.get() + 1);
            Sim::work(Cycles(1 << 50));
        }
    });
    match alone {
        Err(SimError::TooLong { at }) => assert!(at > longest_run(1, 1), "{at:?}"),
        other => panic!("{other:?}"),
    }
    assert!(steps.get() <= (longest_run(1, 1).0 >> 50) + 1, "{} steps", steps.get());
    let message = alone.unwrap_err().to_string();
    assert!(message.contains("too long to simulate"), "{message}");
}

#[test]
fn no_duration_overflows_the_clock() {
    let endless = [
        simulate(2, 2, |_| (0..TOO_MANY).for_each(|_| Sim::work(Cycles(u64::MAX)))),
        simulate(2, 2, |_| (0..TOO_MANY).for_each(|_| Sim::sleep(Cycles(u64::MAX)))),
        simulate(1, 3, |_| (0..TOO_MANY).for_each(|_| Sim::work(Cycles(u64::MAX / 3)))),
    ];
    for outcome in endless {
        assert!(matches!(outcome, Err(SimError::TooLong { .. })), "{outcome:?}");
    }
}

#[test]
fn the_longest_run_leaves_room_for_the_times_of_all() {
    for (cores, tasks) in [(0, 0), (1, 1), (2, 2), (1024, 8192), (1024, 1)] {
        let most = u64::from(cores.max(tasks).max(1));
        assert!(longest_run(cores, tasks).0.checked_mul(16 * most - 1).is_some(), "{cores}");
    }
}
