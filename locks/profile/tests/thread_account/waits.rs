//! Words, edges, cascades and the ranking.

use kilocore_lock_profile::thread_account::{EventKind, Nanoseconds, Reason, WordKind};
use kilocore_lock_profile::{RoleWait, WaitedFor};

use crate::thread_account::program::{Program, edge, role, waits, woken_by, word};

#[test]
fn words_are_sorted_by_the_time_waited_for_them() {
    let program = Program::new(&[(1, "main"), (2, "a-1"), (3, "a-2")]);
    let program = program.kind(10, WordKind::Lock).kind(20, WordKind::Condition);
    let events = [
        (10, 2, waits(10)),
        (20, 2, EventKind::In),
        (20, 3, waits(10)),
        (40, 3, EventKind::In),
        (50, 2, waits(20)),
    ];
    let program = program.window((0, 100), &events, &[1]);
    let words: Vec<_> = program.account.words().collect();
    assert_eq!((words[0].0, words[0].1.total), (word(20), Nanoseconds(50)));
    assert_eq!(words[1].0, word(10));
    let waits = words[1].1;
    assert_eq!((waits.count, waits.total, waits.threads), (2, Nanoseconds(30), 2));
    let times = program.times();
    assert_eq!((times.words[0].id, times.words[0].kind), (0, WordKind::Condition));
    assert_eq!((times.words[1].name.as_str(), times.words[1].count), ("word 10", 2));
    let waits = &times.roles[role(&times, "a") as usize].waits;
    let [first, second] = [(0, 50, 1), (1, 30, 2)].map(|(word, ns, count)| RoleWait {
        word,
        waited: Nanoseconds(ns),
        count,
    });
    assert_eq!(waits, &[first, second]);
}

#[test]
fn who_holds_a_watched_lock_is_waited_for_whoever_wakes() {
    let program = Program::new(&[(1, "main"), (2, "a"), (3, "b"), (4, "c")]);
    let program = program.kind(10, WordKind::Lock);
    let events = [
        (0, 3, EventKind::Acquired(word(10))),
        (20, 2, waits(10)),
        (50, 3, EventKind::Released(word(10))),
        (60, 4, EventKind::Acquired(word(10))),
        (90, 4, EventKind::Released(word(10))),
        (90, 2, woken_by(1)),
    ];
    let times = program.window((0, 100), &events, &[1]).times();
    assert_eq!(edge(&times, "a", "b").expect("b had it").direct.0, 30);
    assert_eq!(edge(&times, "a", "c").expect("c had it").direct.0, 30);
    assert_eq!(edge(&times, "a", "").expect("nobody had it").direct.0, 10);
    assert_eq!(edge(&times, "a", "main"), None);
    assert!((times.coverage.unknown_target_share - 10.0 / 70.0).abs() < 1e-9);
}

#[test]
fn before_a_lock_is_watched_the_waker_is_waited_for() {
    let program = Program::new(&[(1, "main"), (2, "a"), (3, "b")]).kind(10, WordKind::Lock);
    let events = [(20, 2, waits(10)), (60, 3, EventKind::Acquired(word(10))), (90, 2, woken_by(1))];
    let times = program.window((0, 100), &events, &[1]).times();
    assert_eq!(edge(&times, "a", "main").expect("it woke it").direct.0, 40);
    assert_eq!(edge(&times, "a", "b").expect("it had it").direct.0, 30);
}

#[test]
fn for_work_the_waker_is_waited_for_though_another_took_the_word() {
    let program = Program::new(&[(1, "main"), (2, "a"), (3, "b")]).kind(10, WordKind::Condition);
    let events = [
        (0, 3, EventKind::Acquired(word(10))),
        (20, 2, waits(10)),
        (90, 2, woken_by(1)),
        (95, 2, EventKind::In),
    ];
    let times = program.window((0, 100), &events, &[1]).times();
    assert_eq!(edge(&times, "a", "main").expect("it woke it").direct.0, 70);
    assert_eq!(times.edges.len(), 1);
}

#[test]
fn without_wakers_and_holders_nobody_is_blamed() {
    let program = Program::new(&[(1, "main"), (2, "a")]).kind(10, WordKind::Lock);
    let times =
        program.window((0, 100), &[(20, 2, waits(10)), (90, 2, EventKind::In)], &[1]).times();
    assert_eq!(edge(&times, "a", "").expect("it waited").direct.0, 70);
    assert!(times.ranking.is_empty());
    assert!(!times.coverage.wakings_seen);
    assert_eq!(times.coverage.unknown_target_share, 1.0);
}

#[test]
fn who_is_woken_by_another_program_waits_for_the_outside() {
    let program = Program::new(&[(1, "main"), (2, "a")]).kind(10, WordKind::Condition);
    let events = [(20, 2, waits(10)), (90, 2, woken_by(77))];
    let times = program.window((0, 100), &events, &[1]).times();
    assert_eq!(times.edges[0].to, WaitedFor::Outside);
    assert_eq!(times.roles.len(), 2, "the waker is none of the program's");
}

/// `c` waits from 0 for `b`, which waits from 40 to 80 for `a`: a pipeline of three.
fn cascade() -> kilocore_lock_profile::thread_account::ThreadTimes {
    let program = Program::new(&[(1, "a"), (2, "b"), (3, "c")]);
    let program = program.kind(10, WordKind::Condition).kind(20, WordKind::Lock);
    let events = [
        (0, 3, waits(10)),
        (40, 2, waits(20)),
        (80, 2, woken_by(1)),
        (80, 2, EventKind::In),
        (100, 3, woken_by(2)),
    ];
    program.window((0, 100), &events, &[1]).times()
}

#[test]
fn a_wait_for_a_waiting_thread_counts_for_whom_that_waits_for() {
    let times = cascade();
    let (on_b, on_a) = (edge(&times, "c", "b"), edge(&times, "b", "a"));
    let (on_b, on_a) = (on_b.expect("c waits for b"), on_a.expect("b waits for a"));
    assert_eq!((on_b.direct.0, on_b.in_all.0), (100, 100));
    // Its own 40 and the 40 of c that waits for it then.
    assert_eq!((on_a.direct.0, on_a.in_all.0), (40, 80));
    assert_eq!(edge(&times, "c", "a"), None);
}

#[test]
fn who_is_at_the_end_of_the_chains_comes_first() {
    let times = cascade();
    let ranking: Vec<_> = times.ranking.iter().map(|one| (one.role, one.waited_for.0)).collect();
    // For a: b's 40, and c's while b waits. For b: the other 60 of c.
    assert_eq!(ranking, [(role(&times, "a"), 80), (role(&times, "b"), 60)]);
    assert!((times.ranking[0].score - 80.0 / 140.0).abs() < 1e-9);
}

#[test]
fn what_the_end_of_the_chain_does_meanwhile_is_told() {
    let program = Program::new(&[(1, "main"), (2, "a"), (3, "b")]).kind(10, WordKind::Lock);
    let events = [
        (0, 3, EventKind::Acquired(word(10))),
        (0, 2, waits(10)),
        (30, 3, EventKind::Out(Reason::Preempted)),
        (50, 3, EventKind::In),
        (60, 3, EventKind::Out(Reason::Io("read"))),
        (95, 3, EventKind::In),
        (95, 3, EventKind::Released(word(10))),
        (95, 2, woken_by(3)),
    ];
    let times = program.window((0, 100), &events, &[1]).times();
    let one = times.ranking[0];
    assert_eq!((one.role, one.waited_for.0), (role(&times, "b"), 95));
    assert_eq!((one.computing.0, one.ready.0, one.asleep.0), (40, 20, 35));
}

#[test]
fn many_words_are_summed_up_by_kind() {
    let mut program = Program::new(&[(1, "main"), (2, "a")]);
    let mut events = Vec::new();
    for address in 0..1_000 {
        program = program.kind(address, WordKind::Lock);
        events.push((10 * address, 2, waits(address)));
        events.push((10 * address + 5, 2, woken_by(1)));
        events.push((10 * address + 5, 2, EventKind::In));
    }
    let times = program.window((0, 10_000), &events, &[1]).times();
    assert!(times.words.len() < 300, "{}", times.words.len());
    assert_eq!(times.words.iter().map(|word| word.words).sum::<u64>(), 1_000);
    assert_eq!(times.words.iter().map(|word| word.waited.0).sum::<u64>(), 5_000);
    assert_eq!(times.edges.iter().map(|edge| edge.direct.0).sum::<u64>(), 5_000);
    assert!(times.words[0].to_string().contains("others of the kind lock"), "{}", times.words[0]);
    assert_eq!((times.words[0].address, times.words[1].words), (0, 1));
}
