//! What is recognised, and what is not.

use kilocore_lock_profile::thread_account::{EventKind, Nanoseconds, Reason, WordKind};
use kilocore_lock_profile::{Finding, SpinPlace, ThreadTimes};

use crate::thread_account::program::{Program, edge, waits, woken_by, word};

fn sentences(times: &ThreadTimes) -> Vec<String> {
    times.findings.iter().map(ToString::to_string).collect()
}

#[test]
fn one_busy_thread_while_others_wait_for_work() {
    let program = Program::new(&[(1, "server"), (2, "w-1"), (3, "w-2")]);
    let program = program.kind(10, WordKind::Condition);
    let events = [
        (5, 2, waits(10)),
        (5, 3, waits(10)),
        (90, 2, woken_by(1)),
        (90, 2, EventKind::In),
        (95, 2, waits(10)),
    ];
    let times = program.long_window((0, 100), &events, &[1]).times();
    assert_eq!(
        sentences(&times),
        [
            "One busy thread: server (main thread) computes 100 % of the time. Besides it there \
             are 2 other threads, which together keep 0.15 cores busy and wait or sleep 92 % of the time.",
            "No contention: threads wait for locks 0 % of their time. Where the time went is known \
             for 100 % of it.",
        ]
    );
}

#[test]
fn a_busy_thread_may_be_alone() {
    let times = Program::new(&[(1, "tool")]).long_window((0, 100), &[], &[1]).times();
    let alone = "One busy thread: tool (main thread) computes 100 % of the time, and no other thread \
                 was seen then.";
    assert_eq!(sentences(&times)[0], alone);
}

#[test]
fn locks_in_the_kernel_are_contention() {
    let program = Program::new(&[(1, "main"), (2, "w")]);
    let times =
        program.long_window((0, 100), &[(80, 2, EventKind::Out(Reason::KernelLock))], &[1]).times();
    assert_eq!(
        sentences(&times),
        ["Locks in the kernel: threads wait 10 % of their time for the kernel's own locks."]
    );
}

#[test]
fn a_second_thread_that_works_beside_it_is_no_idle_crowd() {
    let program = Program::new(&[(1, "server"), (2, "w")]).kind(10, WordKind::Condition);
    let times = program.long_window((0, 100), &[(60, 2, waits(10))], &[1]).times();
    assert!(!times.findings.iter().any(|one| matches!(one, Finding::OneBusyThread { .. })));
}

#[test]
fn who_waits_for_its_work_may_compute_between() {
    // Each of the two computes 30 % of the time, for which it had to wait first.
    let results = |waker| {
        let program = Program::new(&[(1, "server"), (2, "w-1"), (3, "w-2"), (4, "other")]);
        let program = program.kind(10, WordKind::Condition);
        let mut events =
            vec![(0, 4, EventKind::Out(Reason::Sleep)), (0, 2, waits(10)), (0, 3, waits(10))];
        for worker in [2, 3] {
            events.extend([(70, worker, woken_by(waker)), (70, worker, EventKind::In)]);
        }
        program.long_window((0, 100), &events, &[1]).times()
    };
    let said = sentences(&results(1));
    assert_eq!(
        said[0],
        "One busy thread: server (main thread) computes 100 % of the time. Besides it there are 3 \
         other threads, which together keep 0.60 cores busy and wait or sleep 80 % of the time."
    );
    let busy = |one: &Finding| matches!(one, Finding::OneBusyThread { .. });
    assert!(!results(4).findings.iter().any(busy), "{:?}", sentences(&results(4)));
}

/// The threads 2 and 3 compute in turn, ten nanoseconds each, and wait for word 10 else.
fn turns(turns: u64) -> Vec<(u64, u32, EventKind)> {
    let mut events = vec![(0, 1, waits(20)), (0, 3, waits(10))];
    for turn in 0..turns {
        for (at, me, next) in [(20 * turn + 10, 2, 3), (20 * turn + 20, 3, 2)] {
            events.extend([
                (at, next, woken_by(me)),
                (at, next, EventKind::In),
                (at, me, waits(10)),
            ]);
        }
    }
    events
}

/// A program of a main thread that waits for two others, which compute in turn.
fn in_turn(kind: WordKind) -> ThreadTimes {
    let program = Program::new(&[(1, "py"), (2, "w-1"), (3, "w-2")]);
    let program = program.kind(10, kind).kind(20, WordKind::Join);
    program.long_window((0, 200), &turns(10), &[]).times()
}

#[test]
fn an_interpreter_lock_is_told_by_its_kind_and_by_turns() {
    for (kind, interpreter, beginning) in [
        (
            WordKind::GlobalInterpreterLock,
            true,
            "A global interpreter lock: word 10 has 2 threads that take turns",
        ),
        (
            WordKind::Lock,
            false,
            "One lock for everything, like a global interpreter lock: word 10 has 2",
        ),
    ] {
        let times = in_turn(kind);
        let Some(Finding::GlobalLock { interpreter: told, cores, .. }) = times.findings.first()
        else {
            panic!("{:?}", times.findings)
        };
        assert_eq!((*told, *cores), (interpreter, 1.0));
        assert!(sentences(&times)[0].starts_with(beginning), "{:?}", sentences(&times));
    }
    // Threads that give each other work take turns as well.
    for kind in [WordKind::Condition, WordKind::Unknown] {
        let times = in_turn(kind);
        assert!(!times.findings.iter().any(|one| matches!(one, Finding::GlobalLock { .. })));
    }
}

#[test]
fn idle_threads_beside_it_hide_no_global_lock() {
    let idle: Vec<(u32, String)> = (0..40).map(|n| (10 + n, format!("pool-{n}"))).collect();
    let mut threads = vec![(1, "py"), (2, "w-1"), (3, "w-2")];
    threads.extend(idle.iter().map(|(id, name)| (*id, name.as_str())));
    let program = Program::new(&threads).kind(10, WordKind::Lock).kind(20, WordKind::Idle);
    let mut events = turns(10);
    events.extend(idle.iter().map(|(id, _)| (0, *id, waits(20))));
    let times = program.long_window((0, 200), &events, &[]).times();
    let expected = Finding::GlobalLock {
        word: 1,
        name: "word 10".to_owned(),
        interpreter: false,
        threads: 2,
        wait: 0.5,
        cores: 1.0,
    };
    assert_eq!(times.findings[0], expected);
}

#[test]
fn a_lock_under_threads_that_keep_two_cores_busy_is_contended_and_not_global() {
    let program = Program::new(&[(1, "main"), (2, "w-1"), (3, "w-2"), (4, "w-3")]);
    let program = program.kind(10, WordKind::Lock);
    let events = [
        (20, 2, waits(10)),
        (80, 2, woken_by(3)),
        (80, 2, EventKind::In),
        (10, 1, EventKind::Out(Reason::Sleep)),
    ];
    let times = program.long_window((0, 100), &events, &[3, 4]).times();
    let said = sentences(&times);
    assert_eq!(
        said,
        ["A contended lock: 1 thread waits for word 10, which takes 15 % of all threads' time."]
    );
}

/// Three stages: `parse` waits for work, `pack` computes, `write` waits for `pack`.
fn pipeline(parse_computes: u64) -> ThreadTimes {
    let program = Program::new(&[(1, "main"), (2, "parse"), (3, "pack"), (4, "write")]);
    let program = program.kind(10, WordKind::Condition).kind(20, WordKind::Condition);
    let program = program.kind(30, WordKind::Join);
    let events = [
        (0, 1, waits(30)),
        // The queue between them is full.
        (parse_computes, 2, waits(10)),
        (99, 2, woken_by(3)),
        (99, 2, EventKind::In),
        (10, 4, waits(20)),
        (98, 4, woken_by(3)),
        (98, 4, EventKind::In),
    ];
    program.long_window((0, 100), &events, &[3]).times()
}

#[test]
fn the_slowest_stage_never_waits_while_another_waits_for_it() {
    let times = pipeline(60);
    let said = sentences(&times);
    assert_eq!(
        said[0],
        "The slowest stage of a pipeline: pack computes 100 % of its time and hardly ever waits, \
         while write waits for it 88 % of the time in which it does not lack a core."
    );
    // With a busy thread and little else, both are said.
    let said = sentences(&pipeline(5));
    assert!(said[0].starts_with("The slowest stage of a pipeline: pack"), "{said:?}");
    assert!(said[1].starts_with("One busy thread: pack computes 100 %"), "{said:?}");
}

/// Twenty windows of that pipeline. Only in the first of them is it seen who wakes whom, or in none.
fn hardly_watched(seen: bool) -> ThreadTimes {
    let program = Program::new(&[(1, "main"), (2, "parse"), (3, "pack"), (4, "write")]);
    let program = program.kind(10, WordKind::Condition).kind(20, WordKind::Condition);
    let mut program = program.kind(30, WordKind::Join);
    for window in 0..20 {
        let begin = 200 * window;
        let mut events = vec![
            (begin, 1, waits(30)),
            (begin + 60, 2, waits(10)),
            (begin + 99, 2, EventKind::In),
            (begin + 10, 4, waits(20)),
            (begin + 98, 4, EventKind::In),
        ];
        if seen && window == 0 {
            events.extend([(99, 2, woken_by(3)), (98, 4, woken_by(3))]);
            events.sort_by_key(|(at, _, what)| (*at, *what == EventKind::In));
        }
        program = program.long_window((begin, begin + 100), &events, &[3]);
    }
    program.times()
}

#[test]
fn waits_of_which_nobody_knows_for_whom_they_were_are_taken_to_be_like_the_others() {
    let times = hardly_watched(true);
    assert_eq!(edge(&times, "write", "pack").expect("it was seen once").direct.0, 88_000_000);
    let said = sentences(&times);
    let write = "while write waits for it 88 % of the time in which it does not lack a core.";
    assert!(said[0].ends_with(write), "{said:?}");
    let said = sentences(&hardly_watched(false));
    assert!(!said.iter().any(|one| one.starts_with("The slowest stage")), "{said:?}");
}

#[test]
fn a_stage_that_lacks_a_core_as_often_as_it_waits_still_waits_for_the_slow_one() {
    // Each waits for 20, lacks a core for 60 and computes for 20.
    let program = Program::new(&[(1, "server"), (2, "read"), (3, "pack"), (4, "write")]);
    let program = program.kind(10, WordKind::Condition);
    let mut events = vec![(0, 1, EventKind::Out(Reason::Sleep))];
    for stage in [2, 4] {
        events.extend([
            (0, stage, waits(10)),
            (20, stage, woken_by(3)),
            (80, stage, EventKind::In),
        ]);
    }
    let said = sentences(&program.long_window((0, 100), &events, &[3]).times());
    let stage = said.iter().find(|one| one.starts_with("The slowest stage of a pipeline: pack"));
    let waits = "waits for it 50 % of the time in which it does not lack a core.";
    assert!(stage.is_some_and(|one| one.ends_with(waits)), "{said:?}");
}

#[test]
fn without_wakers_no_stage_is_blamed() {
    let program = Program::new(&[(1, "main"), (2, "pack"), (3, "write")]);
    let program = program.kind(20, WordKind::Condition);
    let times = program
        .long_window((0, 100), &[(10, 3, waits(20)), (98, 3, EventKind::In)], &[1, 2])
        .times();
    assert!(!times.findings.iter().any(|one| matches!(one, Finding::SlowestStage { .. })));
}

#[test]
fn threads_without_a_core_are_counted() {
    let program = Program::new(&[(1, "main"), (2, "w")]);
    let preempted = EventKind::Out(Reason::Preempted);
    let events = [(50, 1, preempted), (0, 2, preempted), (50, 2, EventKind::In)];
    let times = program.long_window((0, 100), &events, &[]).times();
    assert_eq!(
        sentences(&times)[0],
        "Not enough cores: of the time in which threads run or could run, they have no core for \
         50 %. They keep 1.00 cores busy."
    );
}

#[test]
fn threads_that_spin_for_one_another_contend() {
    let tick = |spins| EventKind::Tick { kernel: false, spins };
    let program = |spins: u64| {
        let mut program = Program::new(&[(1, "main"), (2, "w")]);
        let place = |function: &str, samples| SpinPlace {
            function: function.to_owned(),
            samples,
            ..SpinPlace::default()
        };
        program.account.spins(vec![place("seldom", 1), place("spin_barrier", spins)]);
        let ticks: Vec<_> =
            (0..100).flat_map(|at| [1, 2].map(|thread| (at, thread, tick(at < spins)))).collect();
        program.long_window((0, 100), &ticks, &[]).times()
    };
    let spun = "Spinning: for 90 % of their time on a core, threads are in loops that only wait until \
                another thread writes to memory, most in spin_barrier.";
    assert_eq!(sentences(&program(90)), [spun]);
    let says = |times: &ThreadTimes| {
        let no = times.findings.iter().any(|one| matches!(one, Finding::NoContention { .. }));
        (no, times.findings.iter().any(|one| matches!(one, Finding::Spinning { .. })))
    };
    assert_eq!(says(&program(0)), (true, false));
    // Too little for a finding, and too much to say that nobody waits.
    assert_eq!(says(&program(3)), (false, false));
}

#[test]
fn a_thread_that_spins_is_not_busy() {
    let tick = EventKind::Tick { kernel: false, spins: true };
    let times = Program::new(&[(1, "poller")]).long_window((0, 100), &[(50, 1, tick)], &[]).times();
    assert!(!times.findings.iter().any(|one| matches!(one, Finding::OneBusyThread { .. })));
}

#[test]
fn no_contention_is_said_only_of_what_is_known() {
    let program = || Program::new(&[(1, "main"), (2, "w")]).kind(10, WordKind::Lock);
    let says_so = |times: &ThreadTimes| {
        times.findings.iter().any(|one| matches!(one, Finding::NoContention { .. }))
    };
    let sleeps = (50, 2, EventKind::Out(Reason::Sleep));
    assert!(says_so(&program().long_window((0, 100), &[sleeps], &[1]).times()));
    // They are seen to compute for 40 ms only.
    let asleep = [1, 2].map(|thread| (20, thread, EventKind::Out(Reason::Sleep)));
    assert!(!says_so(&program().long_window((0, 100), &asleep, &[1, 2]).times()));
    let unknown = (50, 2, EventKind::Out(Reason::Unknown));
    assert!(!says_so(&program().long_window((0, 100), &[unknown], &[1]).times()));
    assert!(!says_so(&program().long_window((0, 100), &[(50, 2, waits(99))], &[1]).times()));
    assert!(!says_so(&program().long_window((0, 100), &[(90, 2, waits(10))], &[1]).times()));
    assert!(program().times().findings.is_empty());
    assert!(
        program()
            .long_window((0, 100), &[(0, 9, EventKind::Acquired(word(10)))], &[])
            .times()
            .observed
            > Nanoseconds(0)
    );
}

#[test]
fn two_milliseconds_are_too_little_to_say_anything() {
    let of = |until| Program::new(&[(1, "tool")]).long_window((0, until), &[], &[1]).times();
    assert_eq!(sentences(&of(2)), Vec::<String>::new());
    assert_eq!(sentences(&of(100)).len(), 2);
}

#[test]
fn no_more_cores_are_busy_than_there_are() {
    // The system says of all three that they run, and no event tells more. The fourth is seen to run
    // for half of the time.
    let program = Program::new(&[(1, "main"), (2, "w-1"), (3, "w-2"), (4, "w-3")]).on_cores(2);
    let times =
        program.long_window((0, 100), &[(50, 4, EventKind::Out(Reason::Sleep))], &[1, 2, 3]);
    let times = times.times();
    let total = times.total();
    assert_eq!((total.computing().0, total.ready.0), (200_000_000, 150_000_000));
    assert_eq!(
        sentences(&times)[0],
        "Not enough cores: of the time in which threads run or could run, they have no core for 43 %. \
         They keep 2.00 cores busy."
    );
    // Whose events cannot all be true, because each core's begin at another moment.
    let program = Program::new(&[(1, "py"), (2, "w-1"), (3, "w-2")]).on_cores(1);
    let program = program.kind(10, WordKind::GlobalInterpreterLock).kind(20, WordKind::Join);
    let mut events = vec![(0, 1, waits(20)), (0, 3, waits(10))];
    for turn in 0..10 {
        for (at, me, next) in [(20 * turn + 10, 2, 3), (20 * turn + 20, 3, 2)] {
            events.extend([(at - 1, next, woken_by(me)), (at - 1, next, EventKind::In)]);
            events.push((at, me, waits(10)));
        }
    }
    let times = program.long_window((0, 200), &events, &[]).times();
    assert!(times.total().computing() > times.observed);
    let cores = times.findings.iter().find_map(|finding| match finding {
        Finding::GlobalLock { cores, .. } => Some(*cores),
        _ => None,
    });
    assert_eq!(cores, Some(1.0), "{:?}", times.findings);
}
