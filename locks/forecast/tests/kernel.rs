//! Locks that stay what they are: the kernel's, and the C library's.

use kilocore_forecast::{
    Duration, KeptLock, LockUse, Mode, Point, RunSize, Section, Workload, simulate,
};
use kilocore_locks::LockId;
use kilocore_machine::Description;

fn machine(name: &str) -> Description {
    kilocore_machine::find(name).unwrap()
}

/// Threads that take a kept lock, shared but for a share of the times.
fn kept(kept: KeptLock, think: f64, hold: f64, alone: f64) -> Workload {
    let section = |mode| Section {
        lock: 0,
        mode,
        hold: Duration::Exponential(hold),
        asleep: 0.0,
        lines: 0.0,
        polled: None,
        inner: Vec::new(),
    };
    Workload {
        locks: vec![LockUse { kept: Some(kept), ..LockUse::ONE }],
        sections: vec![(alone, section(Mode::Exclusive)), (1.0 - alone, section(Mode::Shared))],
        ..Workload::single_lock(Duration::Exponential(think), Duration::Constant(0.0), 0.0)
    }
}

fn point(workload: &Workload, lock: LockId, machine: &Description, cores: u32) -> Point {
    let size = RunSize { sections: 4_000, ..RunSize::default() };
    simulate(workload, lock, machine, cores, size).unwrap()
}

#[test]
fn the_choice_of_a_lock_does_not_reach_a_kept_one() {
    let machine = machine("opteron-6344-4s");
    for lock in [KeptLock::KernelReadWrite, KeptLock::KernelSpin, KeptLock::Futex] {
        let workload = kept(lock, 2_000.0, 500.0, 0.1);
        let of = |tried| Point { lock: "", ..point(&workload, tried, &machine, 24) };
        assert_eq!(of(LockId::Ticket), of(LockId::Mcs), "{lock:?}");
    }
}

#[test]
fn everybody_gets_through_a_semaphore_that_all_fight_for() {
    // A lost wake-up would be a simulated deadlock, and a broken exclusion more than the lock has.
    for name in ["opteron-6344-4s", "xeon-e7-4830v3-4s"] {
        let machine = machine(name);
        for alone in [0.0, 0.02, 0.2, 0.5, 1.0] {
            for cores in [2, 12, 48] {
                let workload = kept(KeptLock::KernelReadWrite, 300.0, 1_000.0, alone);
                let got = point(&workload, LockId::Mcs, &machine, cores).throughput_per_s;
                let per_s = machine.clock_ghz.value * 1e9;
                // Writers alone allow no more; readers in between make it less.
                let most = if alone > 0.0 { per_s / (alone * 1_000.0) } else { f64::INFINITY };
                assert!(got < most * 1.05, "{name} {alone} {cores}: {got} of {most}");
            }
        }
    }
}

#[test]
fn readers_of_one_semaphore_stop_scaling_at_its_line() {
    let machine = machine("xeon-e7-4830v3-4s");
    let workload = kept(KeptLock::KernelReadWrite, 3_000.0, 300.0, 0.0);
    let [one, node, four] =
        [1, 12, 48].map(|cores| point(&workload, LockId::Mcs, &machine, cores).throughput_per_s);
    assert!(node > 6.0 * one, "{one} {node}");
    assert!(four < node, "{node} {four}: the line goes from socket to socket");
}

#[test]
fn a_writer_now_and_then_costs_the_readers_dearly() {
    let machine = machine("opteron-6344-4s");
    let with = |alone| {
        let workload = kept(KeptLock::KernelReadWrite, 20_000.0, 2_000.0, alone);
        point(&workload, LockId::Mcs, &machine, 24).throughput_per_s
    };
    assert!(with(0.1) < 0.8 * with(0.0));
}

#[test]
fn one_thread_pays_only_for_its_own_work() {
    let machine = machine("opteron-6344-4s");
    let workload = kept(KeptLock::KernelReadWrite, 20_000.0, 2_000.0, 0.5);
    let got = point(&workload, LockId::Mcs, &machine, 1).throughput_per_s;
    let alone = 2.6e9 / 22_000.0;
    assert!((0.95..1.05).contains(&(got / alone)), "{got} {alone}");
}
