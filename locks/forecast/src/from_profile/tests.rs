mod time;

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{Condition, Interference, Lock, MostlyBy, Nesting, Run, Traced};

use super::synthetic::{
    durations, frame, mutex, profile, profile_of, read_write, run, run_thinking,
};
use super::{ProfileGap, Profiled, from_profile};
use crate::{Hot, LinesSource, LockUse, Mode, Section};

/// The host's cycles in a nanosecond.
const GHZ: f64 = 2.0;

#[track_caller]
fn about(value: f64, expected: f64) {
    assert!((value - expected).abs() <= 0.02 * expected.abs() + 1e-9, "{value} is not {expected}");
}

fn translated(run: Run) -> Profiled {
    from_profile(&profile_of(vec![run])).unwrap()
}

/// The section in which a lock is outermost and taken in `mode`, with its share.
fn outermost(profiled: &Profiled, lock: usize, mode: Mode) -> (f64, &Section) {
    let found = profiled.workload.sections.iter().find(|(_, s)| s.lock == lock && s.mode == mode);
    let (share, section) = found.expect("there is such a section");
    (*share, section)
}

#[test]
fn a_lock_becomes_a_section_and_the_time_between_thinking() {
    let profiled = from_profile(&profile()).unwrap();
    let (share, section) = outermost(&profiled, 0, Mode::Exclusive);
    about(share, 1.0);
    about(section.hold.mean(), 200.0 * GHZ);
    about(profiled.workload.think.mean(), 1_000.0 * GHZ);
    about(profiled.think.0, 1_000.0);
    assert_eq!(profiled.workload.asleep, 0.0);
}

#[test]
fn a_lock_taken_inside_another_is_a_section_inside() {
    let mut inner = mutex(2, "lookup", 5_000);
    inner.nested_in = vec![Nesting { outer: 1, count: 4_000 }];
    let profiled = translated(run(vec![mutex(1, "store", 10_000), inner], 11_000));
    // There are 10,000 sections of the outer lock, and 1,000 of the inner lock alone.
    let (share, store) = outermost(&profiled, 0, Mode::Exclusive);
    about(share, 10.0 / 11.0);
    about(outermost(&profiled, 1, Mode::Exclusive).0, 1.0 / 11.0);
    let [inside] = &store.inner[..] else { panic!("{store:?}") };
    assert_eq!(inside.section.lock, 1);
    about(inside.times, 0.4);
}

#[test]
fn locks_that_nest_in_each_other_do_so_in_one_order_only() {
    // Otherwise a thread would wait for itself, or two threads for each other. The program must be
    // avoiding this.
    let mut locks = [mutex(1, "a", 1_000), mutex(2, "bb", 1_000), mutex(3, "ccc", 1_000)];
    locks[0].nested_in = vec![Nesting { outer: 3, count: 50 }];
    locks[1].nested_in = vec![Nesting { outer: 1, count: 100 }];
    locks[2].nested_in = vec![Nesting { outer: 2, count: 100 }];
    let profiled = translated(run(locks.to_vec(), 2_750));
    let deepest = |mut section: &Section| {
        let mut order = vec![section.lock];
        while let Some(inner) = section.inner.first() {
            section = &inner.section;
            order.push(section.lock);
        }
        order
    };
    let orders: Vec<_> = profiled.workload.sections.iter().map(|(_, s)| deepest(s)).collect();
    assert_eq!(orders, [vec![0, 1, 2], vec![1, 2], vec![2]]);
}

#[test]
fn locks_of_one_site_count_as_many_as_collide_as_often() {
    let shards = |uses: &[u64]| -> Profiled {
        let locks: Vec<_> =
            uses.iter().enumerate().map(|(id, &uses)| mutex(id as u32, "shard", uses)).collect();
        translated(run(locks, uses.iter().sum()))
    };
    let even = shards(&[1_000; 8]);
    assert_eq!((even.locks[0].instances, even.workload.locks[0].instances), (8, 8));
    // Ten others are there, but one is what threads meet at.
    let skewed = shards(&[9_000, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]);
    assert_eq!((skewed.locks[0].instances, skewed.workload.locks[0].instances), (11, 11));
    assert_eq!(skewed.workload.locks[0].hot, Some(Hot { instances: 1, share: 0.9 }));
    assert_eq!(skewed.locks[0].effective_instances, 1);
}

#[test]
fn each_of_forty_eight_threads_may_have_its_own_lock() {
    let own = |thread| Lock {
        mostly_by: Some(MostlyBy { thread, share: 1.0 }),
        ..mutex(thread + 1, "connect", 1_000)
    };
    let mut run = run((0..48).map(own).collect(), 48_000);
    run.processes[0].threads.peak = 48;
    let profiled = translated(run);
    assert_eq!(profiled.locks[0].instances, 48);
    let LockUse { instances, per_thread, .. } = profiled.workload.locks[0];
    assert!(per_thread && instances == 1, "{:?}", profiled.workload.locks);
}

#[test]
fn locks_that_threads_have_of_their_own_stay_so() {
    let by = |thread: u32, share: f64| Some(MostlyBy { thread, share });
    let of = |owners: [Option<MostlyBy>; 3]| {
        let lock = |(id, mostly_by)| Lock { mostly_by, ..mutex(id, "connect", 1_000) };
        let locks: Vec<_> = (1..).zip(owners).map(lock).collect();
        translated(run(locks, 3_000)).workload.locks[0]
    };
    let own = LockUse { per_thread: true, ..LockUse::ONE };
    assert_eq!(of([by(1, 1.0), by(2, 0.99), by(3, 1.0)]), own);
    let shared = LockUse { instances: 3, ..LockUse::ONE };
    assert_eq!(of([by(1, 1.0), by(2, 0.3), by(3, 1.0)]), shared, "one is taken by several");
    assert_eq!(of([by(1, 1.0), by(1, 1.0), by(1, 1.0)]), shared, "one thread does all the work");
    assert_eq!(of([None; 3]), shared, "nothing is known");
}

#[test]
fn a_thread_that_takes_all_locks_while_it_begins_does_not_do_all_the_work() {
    let by = Some(MostlyBy { thread: 1, share: 1.0 });
    let with = |times_as_long: f64| {
        let mut run = run(vec![Lock { mostly_by: by, ..mutex(1, "load", 10_000) }], 10_000);
        let cpu_time = run.processes[0].threads.cpu_time;
        run.processes[0].threads.cpu_time = cpu_time * times_as_long;
        translated(run).workload.locks[0].per_thread
    };
    assert!(!with(1.0), "there may be more threads like it");
    assert!(with(10.0), "others computed for nine tenths of the time, without locks");
    let load = Lock { mostly_by: by, ..mutex(1, "load", 10_000) };
    let mut work = mutex(2, "work", 10);
    let held = work.hold.sum;
    let mut at_work = |times_as_long: f64| {
        work.hold.sum = held * times_as_long;
        let profiled = translated(run(vec![load.clone(), work.clone()], 10_010));
        let at = profiled.locks.iter().position(|lock| lock.place.contains("load")).unwrap();
        profiled.workload.locks[at].per_thread
    };
    assert!(!at_work(1.0) && at_work(1e6), "others hold their locks nearly all the time");
}

#[test]
fn a_lock_of_one_thread_among_others_is_its_own() {
    let by = Some(MostlyBy { thread: 1, share: 1.0 });
    let log = |uses| Lock { mostly_by: by, ..mutex(2, "write_log", uses) };
    let with = |uses| translated(run(vec![mutex(1, "look_up", 9_000), log(uses)], 10_000));
    let of = |profiled: Profiled, place: &str| {
        let at = profiled.locks.iter().position(|lock| lock.place.contains(place)).unwrap();
        profiled.workload.locks[at].per_thread
    };
    assert!(of(with(1_000), "write_log"));
    assert!(!of(with(1_000), "look_up"));
    assert!(!of(with(900_000), "write_log"), "the others do next to nothing");
}

#[test]
fn a_saturated_program_never_sleeps() {
    let mut run = run(vec![mutex(1, "store", 10_000)], 10_000);
    run.processes[0].threads.think_asleep = Nanoseconds(1e8);
    run.wall_time *= 2.0;
    let profiled = translated(run);
    assert!(profiled.asleep > Nanoseconds(0.0) && profiled.bounds.iter().all(|b| b.asleep > 0.0));
    let saturated = profiled.clone().saturated();
    assert_eq!((saturated.asleep, saturated.workload.asleep), (Nanoseconds(0.0), 0.0));
    assert!(saturated.bounds.iter().all(|bound| bound.asleep == 0.0));
    assert_eq!(saturated.workload.think, profiled.workload.think);
}

#[test]
fn readers_of_a_mutex_exclude_each_other() {
    let profiled = translated(run(vec![read_write(1, "index", 1_000, 3_000)], 4_000));
    let exclusive = profiled.with_mutexes_only();
    assert_eq!(exclusive.workload.locks[0].read_write, None);
    let [(_, writing), (_, reading)] = &exclusive.workload.sections[..] else { panic!("two") };
    assert_eq!((writing.mode, reading.mode), (Mode::Exclusive, Mode::Exclusive));
    assert_eq!(reading.lines, writing.lines);
    about(reading.hold.mean(), 50.0 * GHZ);
}

#[test]
fn locks_that_were_never_taken_count_for_nothing() {
    let profiled = translated(run(
        vec![mutex(1, "shard", 500), mutex(2, "shard", 0), mutex(3, "idle", 0)],
        500,
    ));
    assert_eq!(profiled.locks.len(), 1);
    assert_eq!(profiled.workload.locks[0].instances, 1);
}

#[test]
fn a_read_write_lock_has_a_section_for_each_mode() {
    let profiled = translated(run(vec![read_write(1, "index", 1_000, 3_000)], 4_000));
    assert!(profiled.workload.locks[0].read_write.is_some());
    let (share, writing) = outermost(&profiled, 0, Mode::Exclusive);
    about(share, 0.25);
    about(writing.hold.mean(), 200.0 * GHZ);
    let (share, reading) = outermost(&profiled, 0, Mode::Shared);
    about(share, 0.75);
    about(reading.hold.mean(), 50.0 * GHZ);
    assert_eq!(reading.lines, 0.0, "readers write no data");
    about(profiled.locks[0].hold.0, 50.0);
    about(profiled.locks[0].exclusive_hold.0, 200.0);
}

#[test]
fn sleep_counts_as_far_as_cores_were_free() {
    let mut run = run(vec![mutex(1, "store", 10_000)], 10_000);
    run.processes[0].threads.think_asleep = Nanoseconds(1e8);
    run.processes[0].threads.peak = 8;
    // Half of the two cores' time was idle. So only half of the sleep is taken to be what the
    // program wants.
    run.wall_time = run.processes[0].threads.cpu_time;
    let profiled = translated(run);
    about(profiled.asleep.0, 1e8 / 10_000.0 / 2.0);
    about(profiled.workload.asleep, profiled.asleep.0 * GHZ);
    assert!(profiled.assumptions.iter().any(|a| a.contains("8 threads shared 2 cores")));
}

#[test]
fn cores_that_other_programs_had_were_not_free() {
    let mut run = run(vec![mutex(1, "store", 10_000)], 10_000);
    run.processes[0].threads.think_asleep = Nanoseconds(1e8);
    run.wall_time = run.processes[0].threads.cpu_time;
    let others = run.wall_time * 0.5;
    run.interference = Some(Interference { others, ..Interference::default() });
    // A quarter of the two cores' time is left.
    about(translated(run).asleep.0, 1e8 / 10_000.0 / 4.0);
}

#[test]
fn work_outside_all_sections_is_thinking() {
    let mut run = run(vec![mutex(1, "setup", 10)], 9);
    run.processes[0].threads.cpu_time = Nanoseconds(1e9);
    run.wall_time = Nanoseconds(0.5e9);
    let profiled = translated(run);
    about(profiled.workload.think.mean(), 1e8 * GHZ);
    assert!(profiled.assumptions.iter().any(|a| a.contains("100 % of the processor time")));
    assert_eq!(profiled.conduct.acquisitions, 10);
}

#[test]
fn idle_cores_and_waits_on_conditions_are_seen() {
    let mut run = run(vec![mutex(1, "queue", 1_000)], 1_000);
    let process = &mut run.processes[0];
    process.locks[0].wait = durations(0, 0.0);
    run.wall_time = process.threads.cpu_time;
    process.conditions = vec![Condition {
        address: 64,
        lock: Some(1),
        site: vec![frame("pop", 9)],
        wait: durations(100, process.threads.cpu_time.0 / 100.0),
        timed_out: 0,
        signals: 100,
        broadcasts: 0,
    }];
    let conduct = translated(run).conduct;
    about(conduct.busy_cores, 1.0);
    about(conduct.unused_cores, 1.0);
    about(conduct.condition_share, 0.5);
    assert!(conduct.condition_place.unwrap().contains("pop"));
}

#[test]
fn the_time_that_lines_take_to_move_is_taken_off_the_hold() {
    // A hold is 50 ns longer on two cores. Half of the handovers are from the other core, and a
    // line takes 100 ns. So one line moves.
    let mut confined = run(vec![mutex(1, "store", 10_000)], 10_000);
    confined.cores = 1;
    confined.processes[0].locks[0].hold = durations(10_000, 150.0);
    let both = run(vec![mutex(1, "store", 10_000)], 10_000);
    let profiled = from_profile(&profile_of(vec![both, confined])).unwrap();
    let (_, section) = outermost(&profiled, 0, Mode::Exclusive);
    about(section.lines, 1.0);
    about(section.hold.mean(), 150.0 * GHZ);
    let [well, badly] = &profiled.bounds;
    assert!(well.sections[0].1.lines < section.lines && section.lines < badly.sections[0].1.lines);
    assert_eq!(profiled.locks[0].lines_source, LinesSource::Estimated);
    assert!(!profiled.assumptions.iter().any(|a| a.contains("one line is assumed")));
}

#[test]
fn lines_that_were_traced_go_before_estimates_and_cost_as_much_as_those_that_come_in_turn() {
    let of = |handovers, lines: f64, lines_in_turn, confined_ns: Option<f64>| {
        let (lines_read, lines_written) = (lines / 4.0, lines * 0.75);
        let counted =
            Traced { words: 1, places: 1, acquisitions: 10_000, handovers, ..Traced::default() };
        let counted = Traced { lines_read, lines_written, lines_in_turn, ..counted };
        let mut both = run(vec![mutex(1, "store", 10_000)], 10_000);
        both.processes[0].locks[0].traced = Some(counted);
        let confined = confined_ns.map(|ns| {
            let mut confined = run(vec![mutex(1, "store", 10_000)], 10_000);
            confined.cores = 1;
            confined.processes[0].locks[0].hold = durations(10_000, ns);
            confined
        });
        from_profile(&profile_of([both].into_iter().chain(confined).collect())).unwrap()
    };
    let lines = |profiled: &Profiled| {
        let lock = &profiled.locks[0];
        (lock.lines_source, [lock.lines_low, lock.lines, lock.lines_high])
    };
    let hold = |profiled: &Profiled| outermost(profiled, 0, Mode::Exclusive).1.hold.mean() / GHZ;
    // A hold is 50 ns longer on two cores, and that time is taken off.
    let both = of(5_000, 6.0, 2.0, Some(150.0));
    assert_eq!(lines(&both), (LinesSource::Traced, [2.0, 2.4, 6.0]));
    about(hold(&both), 150.0);
    // Without a confined run: half of the handovers are from another core, and a line takes 100 ns.
    let alone = of(5_000, 6.0, 2.0, None);
    assert_eq!(lines(&alone), (LinesSource::Traced, [2.0, 2.4, 6.0]));
    about(hold(&alone), 200.0 - 2.4 * 50.0);
    assert!(alone.assumptions.iter().any(|text| text.contains("traced")));
    assert!(!alone.assumptions.iter().any(|text| text.contains("one line is assumed")));
    // A core has ten fetches under way.
    assert_eq!(lines(&of(5_000, 40.0, 1.0, None)).1, [1.0, 4.9, 40.0]);
    assert_eq!(lines(&of(5_000, 4.0, 4.0, None)).1, [4.0; 3]);
    // A chain that a damaged profile makes longer than all lines, or shorter than one.
    assert_eq!(lines(&of(5_000, 3.0, 99.0, None)).1, [3.0; 3]);
    assert_eq!(lines(&of(5_000, 3.0, 0.0, None)).1, [1.0, 1.2, 3.0]);
    assert_eq!(lines(&of(5_000, 0.0, 0.0, None)).1, [0.0; 3]);
    // Too few to tell.
    assert_eq!(lines(&of(5, 6.0, 2.0, None)).0, LinesSource::Assumed);
}

#[test]
fn threads_in_each_others_way_between_locks_are_noticed() {
    let confined = |think: f64| {
        let think = durations(10_000, think);
        let mut confined = run_thinking(vec![mutex(1, "store", 10_000)], think);
        confined.cores = 1;
        let both = run(vec![mutex(1, "store", 10_000)], 10_000);
        from_profile(&profile_of(vec![both, confined])).unwrap()
    };
    let said = |profiled: &Profiled| profiled.assumptions.join("\n").contains("no pthread lock");
    let in_the_way = confined(250.0);
    about(in_the_way.workload.think.mean(), 250.0 * GHZ);
    about(in_the_way.think.0, 250.0);
    assert!(said(&in_the_way));
    // Thinking looks shorter only because it is sampled: the processor time is the same.
    let mut sampled = run(vec![mutex(1, "store", 10_000)], 10_000);
    sampled.cores = 1;
    sampled.processes[0].threads.think = durations(10_000, 250.0);
    let both = run(vec![mutex(1, "store", 10_000)], 10_000);
    let by_chance = from_profile(&profile_of(vec![both, sampled])).unwrap();
    about(by_chance.workload.think.mean(), 1_000.0 * GHZ);
    assert!(!said(&by_chance));
    let hardly = confined(700.0);
    about(hardly.workload.think.mean(), 1_000.0 * GHZ);
    assert!(!said(&hardly));
}

#[test]
fn what_is_assumed_is_said() {
    let profiled = from_profile(&profile()).unwrap();
    let (_, section) = outermost(&profiled, 0, Mode::Exclusive);
    assert_eq!(section.lines, 1.0);
    assert_eq!(profiled.bounds.clone().map(|b| b.sections[0].1.lines), [0.0, 4.0]);
    assert_eq!(profiled.locks[0].lines_source, LinesSource::Assumed);
    let said = profiled.assumptions.join("\n");
    for part in ["one line is assumed", "2.00 GHz", "memory bandwidth"] {
        assert!(said.contains(part), "no '{part}' in: {said}");
    }
}

#[test]
fn of_several_processes_the_one_that_locks_most_counts() {
    let mut both = run(vec![mutex(1, "few", 10)], 10);
    both.processes.extend(run(vec![mutex(1, "many", 5_000)], 5_000).processes);
    let profiled = translated(both);
    assert_eq!(profiled.locks[0].acquisitions, 5_000);
    assert!(profiled.assumptions[0].contains("2 process images"), "{:?}", profiled.assumptions);
}

#[test]
fn a_place_is_the_caller_of_what_only_wraps_a_lock() {
    let place = |functions: &[&str]| {
        let mut lock = mutex(1, "x", 100);
        lock.site = functions.iter().zip(0..).map(|(f, at)| frame(f, at)).collect();
        translated(run(vec![lock], 100)).locks[0].place.clone()
    };
    assert_eq!(place(&["Store::Store(Mutex&)", "main"]), "Store::Store(Mutex&) in program");
    assert_eq!(
        place(&["kc::RWLock::RWLock()", "", "kc::CacheDB::CacheDB()", "main"]),
        "kc::CacheDB::CacheDB() in program, through kc::RWLock::RWLock() in program"
    );
    assert!(place(&["PyThread_allocate_lock", "new_pool"]).starts_with("new_pool"));
    assert!(place(&["g_mutex_init", "start"]).starts_with("start"));
    assert!(place(&["read_block", "main"]).starts_with("read_block"), "a block is no lock");
    assert!(place(&["mutex_init"]).starts_with("mutex_init"), "there is nothing better");
}

#[test]
fn a_profile_without_locks_is_a_gap() {
    assert_eq!(from_profile(&profile_of(Vec::new())), Err(ProfileGap::NoRun));
    let mut empty = run(Vec::new(), 0);
    assert_eq!(from_profile(&profile_of(vec![empty.clone()])), Err(ProfileGap::NoLocks));
    empty.processes.clear();
    assert_eq!(from_profile(&profile_of(vec![empty])), Err(ProfileGap::NoLocks));
    let untaken = run(vec![mutex(1, "idle", 0)], 0);
    assert_eq!(from_profile(&profile_of(vec![untaken])), Err(ProfileGap::NoLocks));
}
