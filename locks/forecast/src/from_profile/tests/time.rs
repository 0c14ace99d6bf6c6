//! Where the processor time of a profile goes.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{
    Awake, Barrier, Condition, Histogram, Lock, Nesting, Outside, Profile, Run,
};

use super::super::busy::operations_time;
use super::super::synthetic::{durations, frame, mutex, profile_of, read_write, run, run_thinking};
use super::{GHZ, Profiled, about, outermost, translated};
use crate::{Duration, Mode, from_profile};

#[track_caller]
fn nothing_is_lost(profiled: &Profiled) {
    let time = profiled.conduct.time;
    let [well, badly] = &profiled.bounds;
    for workload in [&profiled.workload, well, badly] {
        let computed = workload.busy() / GHZ * profiled.sections;
        let off = (computed / time.work().0 - 1.0).abs();
        assert!(off < 1e-9, "computes {computed} ns of {time:?}");
    }
}

/// 33,000 computations of some hundred nanoseconds and 200 of 45 ms, which are nearly all of the
/// work.
fn map_reduce() -> Histogram {
    let mut think = durations(33_000, 300.0);
    think.merge(&durations(200, 45e6));
    think
}

#[test]
fn few_long_computations_between_locks_are_the_work() {
    let profiled = translated(run_thinking(vec![mutex(1, "emit", 33_200)], map_reduce()));
    nothing_is_lost(&profiled);
    about(profiled.workload.think.mean(), map_reduce().mean().0 * GHZ);
    assert!(profiled.locks[0].held_share < 0.001, "{}", profiled.locks[0].held_share);
    let Duration::Observed(ranges) = &profiled.workload.think else { panic!("as observed") };
    let long = ranges.iter().find(|range| range.low > 1e7 * GHZ).unwrap();
    let before = ranges.iter().rfind(|range| range.low < 1e7 * GHZ).unwrap();
    about(long.up_to - before.up_to, 200.0 / 33_200.0);
}

#[test]
fn long_holds_that_the_processor_time_has_no_room_for_are_left_out() {
    let mut lock = mutex(1, "store", 10_000);
    let mut run = run(vec![lock.clone()], 10_000);
    lock.hold.merge(&durations(20, 4e6));
    run.processes[0].locks = vec![lock];
    let profiled = translated(run);
    about(outermost(&profiled, 0, Mode::Exclusive).1.hold.mean(), 200.0 * GHZ);
    about(profiled.conduct.time.not_running.0, 20.0 * 4e6);
    nothing_is_lost(&profiled);
    assert!(profiled.assumptions.iter().any(|a| a.contains("lost their cores")));
}

#[test]
fn long_holds_that_were_processor_time_are_kept() {
    let mut lock = mutex(1, "store", 10_000);
    lock.hold.merge(&durations(20, 4e6));
    let profiled = translated(run(vec![lock.clone()], 10_000));
    about(outermost(&profiled, 0, Mode::Exclusive).1.hold.mean(), lock.hold.sum.0 / 1e4 * GHZ);
    assert_eq!(profiled.conduct.time.not_running, Nanoseconds(0.0));
    nothing_is_lost(&profiled);
}

#[test]
fn no_lock_is_held_for_longer_than_the_program_computes() {
    // By the clock, all holds together take twice the processor time, but none of them is long.
    let mut run = run(vec![mutex(1, "store", 10_000), mutex(2, "index", 10_000)], 20_000);
    for lock in &mut run.processes[0].locks {
        lock.hold = durations(10_000, 5_000.0);
    }
    let profiled = translated(run);
    let held: f64 = profiled.locks.iter().map(|lock| lock.held_share).sum();
    assert!(held < 1.0, "{held}");
    nothing_is_lost(&profiled);
}

#[test]
fn sleep_in_a_hold_is_sleep_under_the_lock() {
    let mut run = run(vec![mutex(1, "store", 1_000), read_write(2, "tree", 10, 990)], 2_000);
    run.wall_time = Nanoseconds(1e9);
    let process = &mut run.processes[0];
    process.locks[0].hold_asleep = Nanoseconds(1e8);
    process.locks[1].read.as_mut().unwrap().hold_asleep = Nanoseconds(99e6);
    let busy = process.threads.cpu_time / Nanoseconds(2e9);
    let profiled = translated(run);
    let (_, store) = outermost(&profiled, 0, Mode::Exclusive);
    about(store.asleep, 1e5 * (1.0 - busy) * GHZ);
    about(store.hold.mean(), 200.0 * GHZ);
    about(outermost(&profiled, 1, Mode::Shared).1.asleep, 1e5 * (1.0 - busy) * GHZ);
    assert_eq!(outermost(&profiled, 1, Mode::Exclusive).1.asleep, 0.0);
}

#[test]
fn holds_nest_without_losing_time() {
    let mut locks = vec![mutex(1, "a", 1_000), mutex(2, "bb", 3_000), mutex(3, "ccc", 5_000)];
    locks[1].nested_in = vec![Nesting { outer: 1, count: 2_500 }];
    // More than there were, since counts of nestings are estimates.
    locks[2].nested_in =
        vec![Nesting { outer: 2, count: 4_000 }, Nesting { outer: 1, count: 2_000 }];
    // Nested in a circle, in itself, and in a lock that is not known.
    locks[0].nested_in = vec![
        Nesting { outer: 3, count: 10 },
        Nesting { outer: 1, count: 10 },
        Nesting { outer: 99, count: 10 },
    ];
    let profiled = translated(run(locks, 5_000));
    // Outermost are 1,000 sections of the first lock, 500 of the second, and none of the third.
    about(profiled.sections, 1_500.0);
    nothing_is_lost(&profiled);
}

#[test]
fn an_acquisition_hides_no_processor_time() {
    // For each acquisition there are 400 ns that belong neither to thinking nor to holding nor to
    // the lock.
    let mut run = run(vec![mutex(1, "store", 10_000)], 10_000);
    run.processes[0].threads.cpu_time += Nanoseconds(4e6);
    run.wall_time = run.processes[0].threads.cpu_time / 2.0;
    let profiled = translated(run);
    about(profiled.conduct.time.outside.0, 4e6);
    about(profiled.workload.think.mean(), 1_400.0 * GHZ);
    nothing_is_lost(&profiled);
}

#[test]
fn locks_too_many_to_be_simulated_are_computing() {
    let names: Vec<String> = (1..=30).map(|length| "f".repeat(length)).collect();
    let locks: Vec<Lock> = names.iter().zip(1..).map(|(name, id)| mutex(id, name, 1_000)).collect();
    let run = run(locks, 30_000);
    let operations = operations_time(&run.processes[0]);
    let all = run.processes[0].threads.cpu_time;
    let profiled = translated(run);
    about(profiled.conduct.time.work().0, (all - operations).0);
    assert!(profiled.workload.locks.len() < 30);
    nothing_is_lost(&profiled);
}

/// The run, made `serial` nanoseconds longer. In that time one of two threads computes outside of all
/// intervals.
fn with_serial_part(mut run: Run, serial: f64) -> Run {
    let serial = Nanoseconds(serial);
    run.processes[0].threads.cpu_time += serial;
    run.wall_time += serial;
    run
}

/// A profile of this run and of a second one on one core, which is always busy.
fn confined(run: Run) -> Profile {
    let mut alone = run.clone();
    alone.cores = 1;
    alone.wall_time = alone.processes[0].threads.cpu_time;
    profile_of(vec![run, alone])
}

#[test]
fn cores_unused_for_no_reason_seen_are_a_serial_part() {
    let run = with_serial_part(run(vec![mutex(1, "store", 100_000)], 100_000), 5e7);
    let waits = run.processes[0].locks[0].wait.sum.0;
    let profiled = from_profile(&confined(run)).unwrap();
    // Waiting for locks explains a part of the unused time.
    about(profiled.conduct.time.serial.0, 5e7 - waits);
    about(profiled.workload.serial, (5e7 - waits) / 1e5 * GHZ);
    about(profiled.workload.think.mean(), (1_000.0 + waits / 1e5) * GHZ);
    nothing_is_lost(&profiled);
    assert!(profiled.assumptions.iter().any(|a| a.contains("taken to be serial")));
    let saturated = profiled.clone().saturated();
    assert_eq!(saturated.workload.serial, 0.0);
    about(saturated.workload.busy(), profiled.workload.busy());
}

#[test]
fn a_serial_part_lasts_no_longer_than_one_thread_was_seen_alone() {
    let looked = |one| {
        let mut run = with_serial_part(run(vec![mutex(1, "store", 100_000)], 100_000), 5e7);
        let awake = Awake { rounds: 10_000, one };
        run.outside = Some(Outside { rounds: 10_000, awake, ..Outside::default() });
        let wall = run.wall_time;
        (from_profile(&confined(run)).unwrap(), wall)
    };
    // There was never just one thread that wanted a core: another program had the other core.
    let (beside, wall) = looked(0);
    assert!(beside.conduct.time.serial < wall * 1e-3);
    assert!(beside.bounds[1].serial > beside.workload.serial);
    nothing_is_lost(&beside);
    let (alone, _) = looked(9_000);
    about(alone.conduct.time.serial.0, 5e7 - 3e7);
}

#[test]
fn a_serial_part_may_be_the_longest_of_the_intervals() {
    let mut think = durations(100_000, 1_000.0);
    think.merge(&durations(1, 1e8));
    let mut run = run_thinking(vec![mutex(1, "store", 100_000)], think);
    run.processes[0].locks[0].wait = Histogram::default();
    run.wall_time += Nanoseconds(0.5e8);
    let profiled = from_profile(&confined(run)).unwrap();
    about(profiled.conduct.time.serial.0, 1e8);
    about(profiled.workload.think.mean(), 1_000.0 * GHZ);
    nothing_is_lost(&profiled);
}

#[test]
fn conditions_sleep_and_other_programs_explain_unused_cores() {
    let serial = || with_serial_part(run(vec![mutex(1, "store", 10_000)], 10_000), 5e6);
    let mut waiting = serial();
    waiting.processes[0].conditions =
        vec![Condition { wait: durations(3, 2e6), signals: 3, ..Condition::default() }];
    let profiled = from_profile(&confined(waiting)).unwrap();
    assert!(!profiled.conduct.takes_turns);
    assert_eq!(profiled.workload.serial, 0.0);
    assert!(profiled.bounds[1].serial > 0.0, "it may still be serial");
    let mut idle = confined(serial());
    idle.runs[1].wall_time *= 1.3;
    assert_eq!(from_profile(&idle).unwrap().workload.serial, 0.0, "idle on one core, too");
    let mut asleep = serial();
    asleep.processes[0].threads.think_asleep = Nanoseconds(6e6);
    assert_eq!(translated(asleep).workload.serial, 0.0);
    let mut beside = serial();
    beside.processes.push(beside.processes[0].clone());
    beside.processes[1].locks.clear();
    assert_eq!(translated(beside).workload.serial, 0.0, "another process used them");
    assert!(translated(serial()).workload.serial > 0.0);
}

#[test]
fn threads_that_wait_on_conditions_while_one_runs_take_turns() {
    let turns = |signals| {
        let mut run = with_serial_part(run(vec![mutex(1, "store", 10_000)], 10_000), 5e7);
        let wait = durations(3_000, 2e4);
        run.processes[0].conditions =
            vec![Condition { wait, signals, broadcasts: 3_000 - signals, ..Condition::default() }];
        run
    };
    let profiled = from_profile(&confined(turns(3_000))).unwrap();
    assert!(profiled.conduct.takes_turns);
    let waits = turns(0).processes[0].locks[0].wait.sum.0;
    about(profiled.conduct.time.serial.0, 5e7 - waits);
    nothing_is_lost(&profiled);
    // Waiting at barriers is not taking turns. Nor do threads take turns if other programs had the
    // cores.
    assert!(!from_profile(&confined(turns(0))).unwrap().conduct.takes_turns);
    let mut beside = turns(3_000);
    beside.outside = Some(Outside { rounds: 100, running: 190, ..Outside::default() });
    assert!(!from_profile(&confined(beside)).unwrap().conduct.takes_turns);
}

/// A run of 100 rounds, in each of which two threads enter ten sections each and then meet.
fn rounds(wait: Histogram) -> Run {
    let mut run = run(vec![mutex(1, "store", 2_000)], 2_000);
    let process = &mut run.processes[0];
    process.locks[0].wait = Histogram::default();
    process.barriers = vec![Barrier { parties: 2, rounds: 100, wait, ..Barrier::default() }];
    run
}

#[test]
fn a_barrier_of_the_c_library_makes_rounds() {
    let mut wait = durations(100, 0.0);
    wait.merge(&durations(100, 1_000.0));
    let profiled = translated(rounds(wait));
    let barriers = profiled.workload.barriers.unwrap();
    about(barriers.sections, 20.0);
    assert_eq!(barriers.lock, None);
    assert_eq!(profiled.conduct.barrier_rounds, 100.0);
    nothing_is_lost(&profiled);
}

#[test]
fn waits_that_last_as_long_each_time_are_for_something_serial() {
    let serial = 1e5;
    let mut wait = durations(100, 0.0);
    wait.merge(&durations(100, serial));
    let profiled = from_profile(&confined(with_serial_part(rounds(wait), 100.0 * serial)));
    let profiled = profiled.unwrap();
    // Without the time that woken threads take to run again. The width of a bucket leaves a little
    // open.
    let found = profiled.conduct.time.serial.0 / (100.0 * (serial - 20_000.0));
    assert!((0.85..=1.0).contains(&found), "{found} of it");
    nothing_is_lost(&profiled);
}

#[test]
fn waits_of_all_lengths_are_for_unequal_parts() {
    // Waits that are exponentially distributed with a mean of 1 ms, besides parts of 2 ms.
    let mut wait = durations(100, 0.0);
    for rank in 0..100 {
        wait.merge(&durations(1, -1e6 * libm::log(1.0 - (f64::from(rank) + 0.5) / 100.0)));
    }
    let waited = wait.sum;
    let mut run = rounds(wait);
    run.processes[0].threads.cpu_time += Nanoseconds(200.0 * 2e6);
    run.wall_time = (run.processes[0].threads.cpu_time + waited) / 2.0;
    let profiled = from_profile(&confined(run)).unwrap();
    assert!(profiled.conduct.time.serial_share() < 0.02, "{:?}", profiled.conduct.time);
    // Of two such parts, the mean difference is their deviation, about half of a part.
    let imbalance = profiled.workload.barriers.unwrap().imbalance;
    assert!((0.3..0.6).contains(&imbalance), "{imbalance}");
    nothing_is_lost(&profiled);
}

#[test]
fn a_condition_that_is_broadcast_once_for_all_is_a_barrier() {
    let with = |signals, waits, peak| {
        let mut gate = mutex(2, "gate", 100 * peak + waits);
        gate.wait = Histogram::default();
        let mut run = run(vec![mutex(1, "store", 20_000), gate], 20_000);
        let process = &mut run.processes[0];
        process.threads.peak = peak;
        process.threads.started = peak;
        process.threads.locking = peak;
        process.conditions = vec![Condition {
            lock: Some(2),
            site: vec![frame("gate", 4)],
            wait: durations(waits, 100.0),
            signals,
            broadcasts: 100,
            ..Condition::default()
        }];
        translated(run)
    };
    let of_four = with(0, 300, 4);
    let barriers = of_four.workload.barriers.unwrap();
    about(barriers.sections, 200.0);
    let gate = of_four.locks.iter().position(|lock| lock.place.contains("gate"));
    assert_eq!(barriers.lock, gate);
    let entered = |profiled: &Profiled| {
        profiled.workload.sections.iter().any(|(_, section)| Some(section.lock) == gate)
    };
    assert!(!entered(&of_four), "the barrier takes its lock");
    assert!(with(0, 400, 5).workload.barriers.is_some());
    for other in [with(300, 300, 4), with(0, 60, 4), with(0, 900, 4)] {
        assert!(other.workload.barriers.is_none() && entered(&other));
    }
}
