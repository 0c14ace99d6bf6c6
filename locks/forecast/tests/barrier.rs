//! Rounds that end in a barrier: see `BarrierRounds`.

use kilocore_forecast::{BarrierRounds, MemoryUse, Placement, Point, RunSize, simulate_barrier};
use kilocore_locks::LockId;
use kilocore_machine::Description;

fn machine(name: &str) -> Description {
    kilocore_machine::find(name).unwrap()
}

/// No memory, equal parts.
fn rounds(work: f64, spin: f64) -> BarrierRounds {
    BarrierRounds { work, imbalance: 0.0, memory: None, spin, of_lock: true }
}

fn point(rounds: &BarrierRounds, lock: LockId, machine: &Description, cores: u32) -> Point {
    let size = RunSize { sections: 40, ..RunSize::default() };
    simulate_barrier(rounds, lock, machine, cores, size).unwrap()
}

/// Rounds in a second of 2.6 GHz.
fn speed(rounds: &BarrierRounds, lock: LockId, cores: u32) -> f64 {
    point(rounds, lock, &machine("opteron-6344-4s"), cores).throughput_per_s
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
}

#[test]
fn one_thread_has_only_its_work() {
    for spin in [0.0, 1e5] {
        for lock in [LockId::Ticket, LockId::Mcs, LockId::Futex] {
            near(speed(&rounds(1e6, spin), lock, 1), 2600.0, 0.01);
        }
    }
}

#[test]
fn long_equal_rounds_scale_and_unequal_ones_wait_for_the_slowest() {
    // The slowest of n exponential parts takes as many means as the n-th harmonic number.
    let harmonic: f64 = (1..=24).map(|n| 1.0 / f64::from(n)).sum();
    for lock in [LockId::Mcs, LockId::Futex] {
        near(speed(&rounds(24e7, 0.0), lock, 24), 260.0, 0.05);
        let unequal = BarrierRounds { imbalance: 1.0, ..rounds(24e7, 0.0) };
        let size = RunSize { sections: 1_000, ..RunSize::default() };
        let machine = machine("opteron-6344-4s");
        let point = simulate_barrier(&unequal, lock, &machine, 24, size).unwrap();
        near(point.throughput_per_s, 260.0 / harmonic, 0.05);
    }
}

#[test]
fn short_rounds_are_slower_on_more_cores() {
    for spin in [0.0, 260_000.0] {
        for lock in [LockId::Ticket, LockId::Mcs, LockId::Futex] {
            let [one, six, all] =
                [1, 6, 48].map(|cores| speed(&rounds(50_000.0, spin), lock, cores));
            assert!(all < six, "{lock:?}: {one} {six} {all}");
            assert!(all < one, "{lock:?}: {one} {six} {all}");
        }
    }
}

#[test]
fn watching_spares_the_sleep() {
    // Where a wake is dear. Where it is cheap, many watchers lose: they take the lock's line from
    // those that arrive.
    let mut machine = machine("opteron-6344-4s");
    machine.os.wake_ns.value = 1_500.0;
    machine.os.wake_latency_ns.value = 5_000.0;
    let speed =
        |spin, cores| point(&rounds(50_000.0, spin), LockId::Mcs, &machine, cores).throughput_per_s;
    for cores in [2, 6, 12] {
        let (asleep, awake) = (speed(0.0, cores), speed(260_000.0, cores));
        assert!(awake > 1.2 * asleep, "{cores}: {asleep} {awake}");
    }
}

#[test]
fn patience_ends() {
    // Parts of 5 ms, very unequal, watched for 40 µs: most of the waiting is asleep.
    let machine = machine("opteron-6344-4s");
    let unequal = BarrierRounds { imbalance: 1.0, ..rounds(12.0 * 13e6, 1e5) };
    let point = point(&unequal, LockId::Mcs, &machine, 12);
    assert!(point.spinning_share < 0.05, "{point:?}");
    assert!(point.idle_share > 0.3, "{point:?}");
}

#[test]
fn memory_limits_rounds_as_it_limits_other_work() {
    let machine = machine("opteron-6344-4s");
    let memory = Some(MemoryUse::stream(100_000.0, Placement::OneNode));
    let streaming = BarrierRounds { memory, ..rounds(1e6, 1e6) };
    let most = machine.memory.bandwidth_gb_per_s.value * 1e9 / 6.4e6;
    near(point(&streaming, LockId::Mcs, &machine, 24).throughput_per_s, most, 0.1);
}

#[test]
fn the_same_point_twice_is_the_same() {
    let machine = machine("xeon-e7-4830v3-4s");
    for lock in LockId::ALL {
        let unequal = BarrierRounds { imbalance: 0.2, ..rounds(1e6, 3e4) };
        assert_eq!(point(&unequal, *lock, &machine, 24), point(&unequal, *lock, &machine, 24));
    }
}
