//! Programs whose times are known.

use crate::support::{on, program, under};

/// How long a thread of `work` computes in a turn of its loop, in ns: three instructions at 2.6 GHz, of which the
/// compiler may have made two.
fn turn_ns() -> f64 {
    let of = |turns: &str| {
        on(1, &program("work", &[]), &["1", "1000", turns, "0", "none"]).0.report.end_ns
    };
    (of("2000") - of("1000")) / 1e6
}

/// The time of the part with threads, in ns.
fn parallel_ns(cores: u32, arguments: [&str; 4]) -> f64 {
    let threads = cores.to_string();
    let [rounds, think, hold, kind] = arguments;
    let (point, _) = on(cores, &program("work", &[]), &[&threads, rounds, think, hold, kind]);
    point.report.parallel.expect("it has threads").ns()
}

/// The least time of threads that take turns under a lock, in ns, whatever it takes to hand it over: as many turns of a loop of
/// thinking and under the lock, so often.
fn of_one_lock(cores: u32, rounds: f64, think: f64, hold: f64, turn: f64) -> f64 {
    (f64::from(cores) * rounds * hold * turn).max(rounds * (think + hold) * turn)
}

#[test]
fn threads_that_share_nothing_are_as_fast_as_one() {
    let turn = turn_ns();
    for cores in [1, 2, 8, 48] {
        let expected = 200.0 * 5_000.0 * turn;
        let took = parallel_ns(cores, ["200", "5000", "0", "none"]);
        // Threads start one after the other.
        let starts = f64::from(cores) * 30_000.0;
        assert!(
            took >= expected * 0.99 && took < expected * 1.01 + starts,
            "{cores}: {took} {expected}"
        );
    }
}

#[test]
fn a_lock_limits_threads_to_one_section_at_a_time() {
    let turn = turn_ns();
    for kind in ["mutex", "ticket", "spin"] {
        for cores in [1, 4, 24] {
            // As many turns of thinking as under the lock: two threads could fill it. A hold is some ten times as
            // long as it takes to wake a thread.
            let took = parallel_ns(cores, ["8", "50000", "50000", kind]);
            let ratio = took / of_one_lock(cores, 8.0, 50_000.0, 50_000.0, turn);
            assert!((0.99..1.2).contains(&ratio), "{kind} on {cores}: {ratio}");
        }
    }
}

#[test]
fn other_locks_limit_threads_to_one_section_at_a_time_as_well() {
    let turn = turn_ns();
    // To wake a waiter takes about as long as a short hold.
    let long = [("futex", 8.0, 50_000.0, 50_000.0), ("mcs-park", 8.0, 50_000.0, 50_000.0)];
    let short = ["ticket", "mcs", "cna", "hmcs"].map(|lock| (lock, 20.0, 20_000.0, 4_000.0));
    for (lock, rounds, think, hold) in long.into_iter().chain(short) {
        for cores in [1, 4, 24] {
            let words = [f64::from(cores), rounds, think, hold].map(|number| number.to_string());
            let arguments = [&*words[0], &*words[1], &*words[2], &*words[3], "mutex"];
            let (point, _) = under(lock, cores, &program("work", &[]), &arguments);
            let took = point.report.parallel.expect("it has threads").ns();
            let ratio = took / of_one_lock(cores, rounds, think, hold, turn);
            // Of a ticket lock, all waiters fetch the line at each handover.
            let most = if lock == "ticket" { 1.5 } else { 1.25 };
            assert!((0.99..most).contains(&ratio), "{lock} on {cores}: {ratio}");
        }
    }
}

#[test]
fn false_sharing_is_slow_and_words_on_lines_of_their_own_are_not() {
    let took = |apart: &str| {
        let (point, _) = on(8, &program("sharing", &[]), &["8", "20000", apart]);
        point.report.parallel.expect("it has threads").ns()
    };
    let (shared, own) = (took("8"), took("64"));
    assert!(shared > 2.0 * own, "{shared} {own}");
}

#[test]
fn a_run_is_the_same_each_time() {
    for kind in ["mutex", "spin", "ticket", "atomic"] {
        let once = || on(12, &program("work", &[]), &["24", "60", "300", "100", kind]).0.report;
        let first = once();
        for _ in 0..2 {
            assert!(once() == first, "{kind}");
        }
    }
}
