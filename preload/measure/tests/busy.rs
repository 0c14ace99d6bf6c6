//! Checks where threads compute, sleep, meet and take locks, with programs of which this is known.

mod common;

use std::collections::BTreeSet;

use common::{held_ns, program, recorded};
use kilocore_lock_profile::{Caller, Process};

fn scenario(name: &str) -> (Process, String) {
    let mut recorded = recorded(&program("busy"), &[name]);
    (recorded.processes.pop().expect("a process"), recorded.output)
}

#[test]
fn locks_of_one_of_48_threads_are_told_to_be_so() {
    let (process, _) = scenario("own_48");
    let (shared, own): (Vec<_>, Vec<_>) =
        process.locks.iter().partition(|lock| lock.acquisitions == 48);
    assert_eq!((shared.len(), own.len()), (1, 96));
    let share = shared[0].mostly_by.map_or(0.0, |most| most.share);
    assert!(share < 0.1, "48 threads took it once, one of them {share} of the times");
    let most: Vec<_> = own.iter().filter_map(|lock| lock.mostly_by).collect();
    let threads: BTreeSet<u32> = most.iter().map(|most| most.thread).collect();
    assert_eq!((most.len(), threads.len()), (96, 48), "{most:?}");
    assert!(most.iter().all(|most| most.share > 0.99), "{most:?}");
}

#[test]
fn sleep_in_a_hold_is_not_holding() {
    let (process, _) = scenario("sleepers");
    let [mutex, rwlock] = &process.locks[..] else { panic!("two locks") };
    // The thread computes for 200 µs and sleeps for 2 ms, a hundred times.
    assert!(mutex.hold.sum.0 >= 19e6 && mutex.hold_asleep.0 >= 190e6, "{mutex:?}");
    assert!(mutex.hold.sum.0 < 150e6, "{} ns", mutex.hold.sum.0);
    let read = rwlock.read.as_ref().expect("a read side");
    assert!(read.hold_asleep.0 >= 95e6 && read.hold.sum.0 < 50e6, "{read:?}");
}

#[test]
fn a_core_that_is_taken_away_in_a_hold_is_neither_hold_nor_sleep() {
    let (process, _) = scenario("crowded");
    // Each of sixteen threads computes for 300 µs, a hundred times.
    let held = held_ns(&process);
    assert!((450e6..600e6).contains(&held), "{held} ns");
    let asleep: f64 = process.locks.iter().map(|lock| lock.hold_asleep.0).sum();
    assert!(asleep < 0.2 * held, "{asleep} ns asleep");
}

/// Allows a difference of a tenth of a millisecond and a fiftieth of the whole. These are the
/// resolution of the clocks, and the accuracy with which the rate of the time-stamp counter is
/// known.
fn at_most(part: f64, whole: f64) -> bool {
    part <= whole * 1.02 + 1e5
}

#[test]
fn nobody_holds_and_thinks_for_longer_than_the_processor_ran() {
    let busy = ["own_48", "sleepers", "crowded", "spinners", "rare", "naps", "places"];
    let locks = ["count", "nested", "own", "readers", "many_readers", "conditions", "waits"];
    let others = ["never_destroyed", "spins", "kinds"];
    let of = |name: &'static str| move |scenario: &&'static str| (name, *scenario);
    let programs = busy.iter().map(of("busy"));
    for (name, scenario) in programs.chain(locks.iter().chain(&others).map(of("locks"))) {
        let recorded = recorded(&program(name), &[scenario]);
        let busy: f64 = recorded
            .processes
            .iter()
            .map(|process| held_ns(process) + process.threads.think.sum.0)
            .sum();
        assert!(at_most(busy, recorded.cpu_ns), "{scenario}: {busy} of {} ns", recorded.cpu_ns);
        let noted: f64 = recorded.processes.iter().map(|process| process.threads.cpu_time.0).sum();
        assert!(at_most(noted, recorded.cpu_ns), "{scenario}: {noted} of {} ns", recorded.cpu_ns);
    }
}

#[test]
fn the_few_long_sections_among_many_short_ones_are_neither_lost_nor_multiplied() {
    let (process, output) = scenario("rare");
    let known: Vec<f64> = output.split_whitespace().map(|word| word.parse().expect("ns")).collect();
    let held = held_ns(&process) / known[0];
    let thought = process.threads.think.sum.0 / known[1];
    // Some sixty of the two thousand acquisitions are examined.
    assert!((0.4..1.6).contains(&held) && (0.4..1.6).contains(&thought), "{held} {thought}");
}

#[test]
fn sleep_in_a_few_of_many_short_holds_is_told_from_sleep_between_them() {
    let (process, _) = scenario("naps");
    let (held, between) = (process.locks[0].hold_asleep.0, process.threads.think_asleep.0);
    // The waits take three hundred milliseconds together, and some of them are examined.
    assert!(held + between > 290e6, "{held} {between}");
    assert!(held > 0.5 * (held + between), "{held} {between}");
}

#[test]
fn the_places_where_a_lock_is_taken_and_waited_for_are_named() {
    let (process, _) = scenario("places");
    let [lock] = &process.locks[..] else { panic!("one lock") };
    let of = |function: &str| {
        let found = lock.callers.iter().find(|caller| caller.site[0].function == function);
        found.cloned().unwrap_or_else(|| panic!("{function} is among {:?}", lock.callers))
    };
    let (often, seldom, waiter) = (of("often"), of("seldom"), of("in_vain"));
    // The lock is taken 27,000 times at one place and 3,000 times at the other. Some hundred of
    // these acquisitions are examined.
    assert!((15_000..32_000).contains(&often.acquisitions), "{often:?}");
    assert!((200..15_000).contains(&seldom.acquisitions), "{seldom:?}");
    assert_eq!(lock.callers[0], waiter, "the longest waits come first");
    assert_eq!(waiter.site[1].function, "wait_20");
    assert!(
        waiter.contended.abs_diff(lock.contended) <= 1 && waiter.waited.0 > 0.9 * lock.wait.sum.0
    );
    let sum = |of: fn(&Caller) -> u64| lock.callers.iter().map(of).sum::<u64>();
    // The estimates divide a number that is known exactly.
    let places = lock.callers.len() as u64;
    assert!(sum(|caller| caller.acquisitions).abs_diff(lock.acquisitions) <= places);
    assert!(sum(|caller| caller.contended).abs_diff(lock.contended) <= places);
}

#[test]
fn barriers_and_their_rounds_are_recorded() {
    let (process, _) = scenario("barriers");
    let known: Vec<_> = process
        .barriers
        .iter()
        .map(|barrier| (barrier.parties, barrier.rounds, barrier.wait.count))
        .collect();
    assert_eq!(known, [(4, 200, 800), (1, 3, 3)]);
    let barrier = &process.barriers[0];
    assert_eq!(barrier.site[0].function, "barriers");
    // In most rounds, three of the four threads wait for half a millisecond.
    assert!(barrier.wait.sum.0 > 0.5 * 200.0 * 3.0 * 0.5e6, "{} ns", barrier.wait.sum.0);
}
