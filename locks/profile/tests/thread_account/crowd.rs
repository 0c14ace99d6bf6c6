//! Ten thousand threads. None of these tests would end in reasonable time if the cost of an event grew
//! with the number of threads.

use kilocore_lock_profile::WaitedFor;
use kilocore_lock_profile::thread_account::{
    Account, Event, EventKind, Nanoseconds, Reason, Thread, ThreadId, Word, WordKind,
};

const CROWD: u32 = 10_000;

fn threads() -> Vec<Thread> {
    let thread = |id| Thread {
        id: ThreadId(id),
        process: 1,
        name: format!("worker-{id}"),
        function: None,
        main: id == 0,
    };
    (0..CROWD).map(thread).collect()
}

#[test]
fn a_lock_for_which_all_wait_in_many_windows() {
    let word = Word { space: 1, address: 64 };
    let mut account = Account::new();
    let (windows, turns, turn) = (30, 500_u64, 1_000_u64);
    for window in 0..windows {
        let begin = window * 1_000_000_000;
        account.begin_window(Nanoseconds(begin));
        for number in 0..turns {
            let thread = ThreadId(1 + (window * turns + number) as u32 % (CROWD - 1));
            let (from, until) = (begin + number * turn, begin + (number + 1) * turn);
            for (at, what) in [
                (from, EventKind::In),
                (from, EventKind::Acquired(word)),
                (until, EventKind::Released(word)),
                (until, EventKind::Out(Reason::Futex(word))),
            ] {
                account.take(&Event { at: Nanoseconds(at), thread, what });
            }
        }
        for id in 0..CROWD {
            account.quiet(ThreadId(id), Some(Reason::Futex(word)));
        }
        account.end_window(Nanoseconds(begin + turns * turn));
        assert_eq!(account.words().count(), 1);
    }
    let times = account.finish(&threads(), &|_| WordKind::Lock, &|_| "the lock".to_owned());
    let observed = Nanoseconds(windows * turns * turn);
    assert_eq!(times.observed, observed);
    assert_eq!(times.roles.len(), 2);
    assert_eq!(times.total().computing(), observed, "one at a time");
    assert_eq!(times.total().locks, observed * u64::from(CROWD - 1));
    // Always someone holds it, so that all waits are for a worker.
    assert_eq!(times.ranking.len(), 1);
    assert_eq!(times.ranking[0].waited_for, observed * u64::from(CROWD - 1));
}

#[test]
fn a_token_that_goes_round_a_ring() {
    // Each waits for the one before it, who waits for the one before: chains as long as the ring.
    let ring = 3_000_u32;
    let word = |id: u32| Word { space: 1, address: u64::from(id) };
    let mut account = Account::new();
    account.begin_window(Nanoseconds(0));
    let mut take = |at, id, what| {
        account.take(&Event { at: Nanoseconds(at), thread: ThreadId(id), what });
    };
    for id in 1..ring {
        take(0, id, EventKind::Out(Reason::Futex(word(id))));
    }
    for step in 0..u64::from(2 * ring) {
        let (me, next) = ((step % u64::from(ring)) as u32, ((step + 1) % u64::from(ring)) as u32);
        let at = 10 * (step + 1);
        take(at, next, EventKind::Waking { by: Some(ThreadId(me)) });
        take(at, next, EventKind::In);
        take(at, me, EventKind::Out(Reason::Futex(word(me))));
    }
    let end = u64::from(2 * ring) * 10;
    account.end_window(Nanoseconds(end));
    let times = account.finish(&threads(), &|_| WordKind::Condition, &|_| String::new());
    let waited = Nanoseconds(end * u64::from(ring - 1));
    assert_eq!(times.total().work, waited);
    assert_eq!(times.total().computing(), Nanoseconds(end));
    let directly = |to| {
        let edges = times.edges.iter().filter(|edge| edge.to == to);
        edges.map(|edge| edge.direct).sum::<Nanoseconds>()
    };
    // Nobody sees who will end the waits of the last round.
    let known = directly(WaitedFor::Role(0)) + directly(WaitedFor::Role(1));
    assert_eq!(known + directly(WaitedFor::Unknown), waited);
    assert!(known > waited / 2, "{known:?} of {waited:?}");
}
