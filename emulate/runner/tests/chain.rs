//! The chain of waits that bounds a run, of programs whose chain is known.

use kilocore_emulation::{ChainFunction, Point, RunChain};
use kilocore_emulation_orders::{ChainPart, Waits};

use crate::support::{on, program};

/// A kind of the program on so many cores. All parts of its chain are the run's time together.
#[track_caller]
fn run(cores: u32, kind: &str) -> Point {
    let (point, _) = on(cores, &program("chains", &[]), &[kind]);
    check(&point, kind);
    point
}

#[track_caller]
fn check(point: &Point, what: &str) {
    let chain = &point.report.chain;
    let sum = |of: fn(&ChainPart) -> bool| {
        chain.parts.iter().filter(|share| of(&share.part)).map(|share| share.ns).sum::<f64>()
    };
    let all = sum(|part| !matches!(part, ChainPart::Thread { .. }));
    let threads = sum(|part| matches!(part, ChainPart::Thread { .. } | ChainPart::HandOver { .. }));
    let end = point.report.end_ns;
    for (sum, name) in [(all, "parts"), (threads, "threads"), (chain.end_ns, "end")] {
        assert!((sum - end).abs() < 1.0, "{what}, {name}: {sum} of {end}");
    }
    let named = &point.causes.chain;
    let functions: f64 = named.functions.iter().map(ChainFunction::ns).sum();
    let all = functions + named.handing_over().0;
    assert!((all - end).abs() < 1.0, "{what}, named: {all} of {end}");
}

/// Which part of the run's time is computed in a function on the chain.
fn computes(chain: &RunChain, function: &str) -> f64 {
    let of = chain.functions.iter().find(|of| of.function == function);
    of.map_or(0.0, |of| of.computed_ns) / chain.end_ns
}

/// How often a wait in one function, or what it has called, is ended by another one. What they have called is named if the C
/// library has the names.
fn times(chain: &RunChain, how: Waits, waiter: &str, waker: &str) -> u64 {
    let is = |place: &str, function: &str| {
        place == function || place.starts_with(&format!("{function} in "))
    };
    let all = chain.hand_overs.iter();
    let these = all.filter(|it| it.how == how && is(&it.waiter, waiter) && is(&it.waker, waker));
    these.map(|it| it.count).sum()
}

#[test]
fn a_program_without_threads_is_its_own_chain() {
    for cores in [1, 4] {
        let chain = run(cores, "serial").causes.chain;
        assert_eq!((chain.hand_overs.len(), chain.threads.len()), (0, 1), "{chain:?}");
        let (first, second) = (computes(&chain, "first"), computes(&chain, "second"));
        // The rest is the loader's.
        assert!(first + second > 0.9, "{first} {second}: {chain:?}");
        assert!((1.9..2.1).contains(&(first / second)), "{first} {second}");
    }
}

#[test]
fn the_slowest_stage_of_a_pipeline_is_the_chain() {
    let chain = run(4, "pipeline").causes.chain;
    assert!(computes(&chain, "second") > 0.85, "{chain:?}");
    assert!(computes(&chain, "third") < 0.03, "{chain:?}");
    // The second stage waits for the first piece, and the third one for the last piece.
    assert_eq!(times(&chain, Waits::Woken, "take", "put"), 2, "{chain:?}");
    let longest = chain.threads.first().expect("threads");
    assert!(longest.thread == Some(2) && longest.ns > 0.85 * chain.end_ns, "{chain:?}");
}

#[test]
fn what_is_done_under_a_contended_lock_is_the_chain() {
    let chain = run(6, "lock").causes.chain;
    assert!(computes(&chain, "under_the_lock") > 0.8, "{chain:?}");
    assert!(computes(&chain, "think") < 0.1, "{chain:?}");
    assert!(times(&chain, Waits::Woken, "locks", "locks") > 50, "{chain:?}");
}

#[test]
fn the_slowest_thread_at_a_barrier_is_the_chain() {
    let chain = run(6, "barrier").causes.chain;
    assert!(computes(&chain, "slow") > 0.8, "{chain:?}");
    assert!(computes(&chain, "quick") < 0.05, "{chain:?}");
    let longest = chain.threads.first().expect("threads");
    assert!(longest.thread == Some(3) && longest.ns > 0.8 * chain.end_ns, "{chain:?}");
}

#[test]
fn threads_that_take_turns_by_spinning_are_one_chain() {
    let chain = run(2, "spin").causes.chain;
    let (slow, quick) = (computes(&chain, "slow"), computes(&chain, "quick"));
    assert!(slow + quick > 0.85, "{chain:?}");
    assert!((8.0..12.0).contains(&(slow / quick)), "{slow} {quick}");
    assert!(times(&chain, Waits::Written, "spins", "spins") > 100, "{chain:?}");
}

#[test]
fn a_sleep_and_the_join_that_waits_for_it_are_the_chain() {
    let chain = run(2, "sleep").causes.chain;
    let asleep = chain.functions.iter().find(|of| of.function.starts_with("sleeps in "));
    let asleep = asleep.map_or(0.0, |of| of.asleep_ns);
    assert!((3e6..3.2e6).contains(&asleep), "{chain:?}");
}

#[test]
fn more_threads_than_cores_hand_cores_over() {
    let (point, _) = on(2, &program("work", &[]), &["6", "100", "200000", "50", "mutex"]);
    check(&point, "six threads on two cores");
    let chain = &point.causes.chain;
    let cores: u64 =
        chain.hand_overs.iter().filter(|it| it.how == Waits::Core).map(|it| it.count).sum();
    assert!(cores > 3, "{chain:?}");
    assert!(computes(chain, "run") > 0.9, "{chain:?}");
}

#[test]
fn the_chain_of_programs_of_many_waits_is_as_long_as_the_run() {
    for kind in ["mutex", "ticket", "spin", "atomic"] {
        let (point, _) = on(12, &program("work", &[]), &["24", "60", "300", "100", kind]);
        check(&point, kind);
    }
}
