//! How the locks of a workload are chosen and waited for, beside closed forms.

use kilocore_forecast::{Duration, Hot, LockUse, RunSize, TODAY, Workload, simulate};
use kilocore_locks::LockId;
use kilocore_machine::Description;

const CORES: u32 = 12;
/// Long, so that handing a lock on costs next to nothing.
const HOLD: f64 = 200_000.0;

/// Sections in the time of one hold.
fn throughput(workload: &Workload, lock: LockId) -> f64 {
    let machine: Description = kilocore_machine::find("opteron-6344-4s").unwrap();
    let size = RunSize { sections: 4_000, ..RunSize::default() };
    let point = simulate(workload, lock, &machine, CORES, size).unwrap();
    point.throughput_per_s * HOLD / (machine.clock_ghz.value * 1e9)
}

/// Threads that do nothing but hold the lock.
fn holding() -> Workload {
    Workload::single_lock(Duration::Constant(0.0), Duration::Constant(HOLD), 0.0)
}

#[test]
fn the_hot_lock_limits_a_program_however_many_others_there_are() {
    let with = |instances, share| {
        let hot = Some(Hot { instances: 1, share });
        let mut workload = holding();
        workload.locks[0] = LockUse { instances, hot, ..LockUse::ONE };
        throughput(&workload, TODAY)
    };
    for share in [0.5, 0.8] {
        let found = with(200, share);
        assert!((found * share - 1.0).abs() < 0.05, "{share}: {found}");
    }
    assert!(with(200, 1.0 / 200.0) > 8.0, "none is hot");
}

#[test]
fn whoever_polls_seldom_lets_the_lock_be_free_meanwhile() {
    let with = |between| {
        let mut workload = holding();
        workload.think = Duration::Constant(HOLD);
        workload.sections[0].1.polled = Some(between);
        throughput(&workload, LockId::Tas)
    };
    let often = with(100.0);
    assert!((often - 1.0).abs() < 0.05, "one after the other: {often}");
    let seldom = with(HOLD * 50.0);
    assert!(seldom < often * 0.95, "{seldom}");
}
