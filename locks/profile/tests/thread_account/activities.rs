//! Each activity of a thread, and what is not known of it.

use kilocore_lock_profile::Activities;
use kilocore_lock_profile::thread_account::{
    Account, EventKind, Nanoseconds, Reason, ThreadId, WordKind,
};

use crate::thread_account::program::{Program, of, waits, woken_by, word};

/// The only thread of a program does this in a window from 0 to 100.
fn alone(events: &[(u64, EventKind)]) -> Activities {
    let events: Vec<_> = events.iter().map(|&(at, what)| (at, 1, what)).collect();
    let program = Program::new(&[(1, "main")]);
    let program = program.kind(10, WordKind::Lock).kind(11, WordKind::ReadWriteLock);
    let program = program.kind(12, WordKind::Condition).kind(13, WordKind::Barrier);
    let program = program.kind(14, WordKind::Join).kind(15, WordKind::Idle);
    let program = program.kind(16, WordKind::GlobalInterpreterLock);
    let times = program.window((0, 100), &events, &[]).times();
    let done = of(&times, "main");
    assert_eq!(done.present().0, 100);
    done
}

fn off(reason: Reason) -> Activities {
    alone(&[(30, EventKind::Out(reason)), (80, EventKind::In)])
}

#[test]
fn a_thread_that_leaves_its_core_ran_before() {
    let asleep =
        Activities { undivided: Nanoseconds(50), sleep: Nanoseconds(50), ..Activities::default() };
    assert_eq!(off(Reason::Sleep), asleep);
}

#[test]
fn every_reason_has_its_activity() {
    assert_eq!(off(Reason::Preempted).ready.0, 50);
    assert_eq!(off(Reason::Io("read")).io.0, 50);
    assert_eq!(off(Reason::End).ends.0, 50);
    assert_eq!(off(Reason::KernelLock).kernel_locks.0, 50);
    assert_eq!(off(Reason::PageFault).page_faults.0, 50);
    assert_eq!(off(Reason::Other("pause")).other.0, 50);
    assert_eq!(off(Reason::Unknown).unknown.0, 50);
}

#[test]
fn every_kind_of_word_has_its_activity() {
    let waiting = |address| off(Reason::Futex(word(address)));
    assert_eq!(waiting(10).locks.0, 50);
    assert_eq!(waiting(11).locks.0, 50);
    assert_eq!(waiting(12).work.0, 50);
    assert_eq!(waiting(13).barriers.0, 50);
    assert_eq!(waiting(14).ends.0, 50);
    assert_eq!(waiting(15).idle.0, 50);
    assert_eq!(waiting(16).locks.0, 50);
    assert_eq!(waiting(99).unclassified.0, 50);
}

#[test]
fn between_waking_and_running_a_thread_has_no_core() {
    let done = alone(&[(30, waits(10)), (70, woken_by(2)), (80, EventKind::In)]);
    assert_eq!((done.locks.0, done.ready.0, done.undivided.0), (40, 10, 50));
}

#[test]
fn samples_divide_the_time_on_a_core() {
    let tick = |kernel| EventKind::Tick { kernel, spins: false };
    let done = alone(&[(10, tick(false)), (20, tick(true)), (30, tick(false)), (60, waits(10))]);
    assert_eq!((done.user.0, done.kernel.0, done.undivided.0), (40, 20, 0));
}

#[test]
fn samples_tell_spinning_from_other_time_on_a_core() {
    let tick = |kernel, spins| EventKind::Tick { kernel, spins };
    let ticks = [(10, tick(false, true)), (20, tick(true, false)), (30, tick(false, false))];
    let done = alone(&[&ticks[..], &[(40, tick(false, true)), (80, waits(10))]].concat());
    assert_eq!((done.spinning.0, done.user.0, done.kernel.0), (40, 20, 20));
    assert_eq!((done.undivided.0, done.computing().0, done.working().0), (0, 80, 40));
    // Nothing else, and an odd time.
    let done = alone(&[(10, tick(false, true)), (77, waits(10))]);
    assert_eq!((done.spinning.0, done.computing().0), (77, 77));
}

#[test]
fn spinning_for_the_kernels_locks_is_waiting_and_not_computing() {
    use EventKind::{ContentionBegins, ContentionEnds, In};
    let done = alone(&[(20, ContentionBegins), (50, ContentionEnds)]);
    assert_eq!((done.kernel_locks.0, done.undivided.0), (30, 70));
    // It sleeps between, or others take its core, and goes on to spin afterwards.
    let sleeps = EventKind::Out(Reason::KernelLock);
    let done = alone(&[(20, ContentionBegins), (30, sleeps), (60, In), (70, ContentionEnds)]);
    assert_eq!((done.kernel_locks.0, done.undivided.0), (50, 50));
    // For the lock, whatever it seemed to leave for.
    let waits = [(20, ContentionBegins), (30, EventKind::Out(Reason::Io("write")))];
    let done = alone(&[&waits[..], &[(50, woken_by(2)), (60, In), (70, ContentionEnds)]].concat());
    assert_eq!((done.kernel_locks.0, done.ready.0, done.undivided.0), (40, 10, 50));
    let preempted = EventKind::Out(Reason::Preempted);
    let done = alone(&[(20, ContentionBegins), (30, preempted), (60, In), (70, ContentionEnds)]);
    assert_eq!((done.kernel_locks.0, done.ready.0, done.undivided.0), (20, 30, 50));
    // Samples tell of the rest.
    let tick = |kernel| EventKind::Tick { kernel, spins: false };
    let done =
        alone(&[(10, tick(false)), (20, ContentionBegins), (30, tick(true)), (50, ContentionEnds)]);
    assert_eq!((done.kernel_locks.0, done.user.0, done.kernel.0), (30, 70, 0));
    // Each counts once, however often it begins or ends.
    let done = alone(&[(20, ContentionBegins), (30, ContentionBegins), (50, ContentionEnds)]);
    assert_eq!(done.kernel_locks.0, 30);
    assert_eq!(alone(&[(20, ContentionEnds)]).undivided.0, 100);
    assert_eq!(alone(&[(20, ContentionBegins)]).kernel_locks.0, 80);
}

#[test]
fn a_wait_ends_with_the_window() {
    assert_eq!(alone(&[(30, waits(10))]).locks.0, 70);
}

#[test]
fn what_was_before_the_first_event_is_unknown_unless_somebody_says_it() {
    let done = alone(&[(30, EventKind::In), (40, waits(10))]);
    assert_eq!((done.unknown.0, done.undivided.0, done.locks.0), (30, 10, 60));
    let mut program = Program::new(&[(1, "main")]).kind(10, WordKind::Lock);
    program.account.begin_window(Nanoseconds(0));
    program.account.quiet(ThreadId(1), Some(Reason::Futex(word(10))));
    for (at, what) in [(20, woken_by(2)), (30, EventKind::In)] {
        let (at, thread) = (Nanoseconds(at), ThreadId(1));
        program.account.take(&kilocore_lock_profile::thread_account::Event { at, thread, what });
    }
    program.account.end_window(Nanoseconds(100));
    let done = of(&program.times(), "main");
    assert_eq!((done.locks.0, done.ready.0, done.undivided.0), (20, 10, 70));
}

#[test]
fn a_window_that_adjoins_goes_on_with_the_last_state_and_another_does_not() {
    for (begin, known) in [(100, true), (101, false)] {
        let program = Program::new(&[(1, "main")]).kind(10, WordKind::Lock);
        let program = program.window((0, 100), &[(60, 1, waits(10))], &[]);
        let program = program.window((begin, 200), &[(150, 1, EventKind::In)], &[]);
        let count = program.account.words().next().expect("one word").1.count;
        assert_eq!(count, 1, "it is one wait");
        let done = of(&program.times(), "main");
        let (locks, unknown) = if known { (90, 0) } else { (40, 49) };
        assert_eq!((done.locks.0, done.unknown.0), (locks, unknown));
    }
}

#[test]
fn events_that_do_not_fit_leave_a_stretch_unknown() {
    let out = EventKind::Out(Reason::Sleep);
    assert_eq!(alone(&[(20, out), (50, out)]).unknown.0, 30);
    assert_eq!(alone(&[(0, EventKind::In), (20, EventKind::In)]).unknown.0, 20);
    let ran = alone(&[(20, out), (50, EventKind::Acquired(word(10)))]);
    assert_eq!((ran.unknown.0, ran.undivided.0), (30, 70));
}

#[test]
fn disorder_within_a_window_does_not_matter() {
    let events = [
        (30, waits(10)),
        (70, woken_by(2)),
        (80, EventKind::In),
        (90, EventKind::Out(Reason::End)),
    ];
    let mut shuffled = events;
    shuffled.reverse();
    assert_eq!(alone(&events), alone(&shuffled));
}

#[test]
fn a_thread_is_absent_from_windows_that_do_not_mention_it() {
    let program = Program::new(&[(1, "main"), (2, "late")]);
    let program = program.window((0, 100), &[], &[1]).window((200, 250), &[], &[1, 2]);
    let times = program.times();
    assert_eq!((of(&times, "late").absent.0, of(&times, "late").undivided.0), (100, 50));
    assert_eq!(of(&times, "main").undivided.0, 150);
    assert_eq!((times.observed.0, times.windows), (150, 2));
}

#[test]
fn nothing_happens_outside_of_windows() {
    let mut account = Account::new();
    let event = |at, what| kilocore_lock_profile::thread_account::Event {
        at: Nanoseconds(at),
        thread: ThreadId(1),
        what,
    };
    account.take(&event(5, waits(10)));
    account.quiet(ThreadId(1), None);
    account.end_window(Nanoseconds(10));
    account.begin_window(Nanoseconds(20));
    account.take(&event(30, waits(10)));
    account.take(&event(50, EventKind::In));
    let times = account.finish(&[], &|_| WordKind::Lock, &|_| String::new());
    assert_eq!((times.observed.0, times.windows), (30, 1));
    assert_eq!((times.roles.len(), of(&times, "").locks.0), (1, 20));
}
