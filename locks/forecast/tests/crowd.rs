//! More threads than cores.

use kilocore_forecast::{Duration, Point, RunSize, Workload, simulate};
use kilocore_locks::LockId;

/// 48 cores; holding for `hold` cycles in `ratio` of thinking, and sleeping for `asleep` cycles for
/// each of both; waiters keep their cores.
fn point(lock: LockId, threads: u32, hold: f64, ratio: f64, asleep: f64) -> Point {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let mut workload = Workload::single_lock(
        Duration::Exponential(hold * ratio),
        Duration::Exponential(hold),
        2.0,
    );
    workload.asleep = hold * (ratio + 1.0) * asleep;
    let size = RunSize {
        threads: Some(threads),
        sections: 3_000,
        waiters_yield: false,
        slices: 4,
        ..RunSize::default()
    };
    simulate(&workload, lock, &machine, 48, size).unwrap()
}

#[test]
fn a_first_in_first_out_spin_lock_collapses_and_a_sleeping_one_does_not() {
    for threads in [96, 192] {
        let asleep = point(LockId::Futex, threads, 5_000.0, 128.0, 0.0).throughput_per_s;
        for lock in [LockId::Ticket, LockId::Mcs] {
            let fifo = point(lock, threads, 5_000.0, 128.0, 0.0).throughput_per_s;
            assert!(fifo < 0.2 * asleep, "{lock:?} {threads}: {fifo} {asleep}");
        }
    }
}

#[test]
fn threads_that_sleep_push_holders_off_their_cores() {
    // Half of the threads are asleep at a time, so that there is a core for each on average.
    let asleep = point(LockId::Futex, 192, 50_000.0, 128.0, 1.0).throughput_per_s;
    let fifo = point(LockId::Mcs, 192, 50_000.0, 128.0, 1.0).throughput_per_s;
    assert!(fifo < 0.5 * asleep, "{fifo} {asleep}");
}

#[test]
fn without_contention_the_cores_are_what_counts() {
    for threads in [49, 96] {
        let got = point(LockId::Futex, threads, 2_000.0, 1_000.0, 0.0).throughput_per_s;
        let most = 48.0 * 2.6e9 / (2_000.0 * 1_001.0);
        assert!((0.93..1.05).contains(&(got / most)), "{threads}: {got} {most}");
    }
}

#[test]
fn the_same_point_twice_is_the_same() {
    for lock in [LockId::Ticket, LockId::Futex] {
        let of = || point(lock, 96, 5_000.0, 32.0, 1.0);
        assert_eq!(of(), of());
    }
}
