//! A point ends, however much its sections contain.

use kilocore_forecast::{Duration, Inner, RunSize, Workload, simulate};
use kilocore_locks::LockId;

#[test]
fn a_point_of_sections_with_ten_thousand_sections_inside_ends() {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let cycles = Duration::Constant;
    let mut workload = Workload::single_lock(cycles(1_000.0), cycles(100.0), 0.0);
    // Each thread has the inner lock for itself, so that only their number makes them expensive.
    let mut own = workload.locks[0];
    own.per_thread = true;
    workload.locks = vec![own, own];
    let mut section = workload.sections[0].1.clone();
    section.lock = 1;
    workload.sections[0].1.inner.push(Inner { times: 10_000.0, section });
    let point = simulate(&workload, LockId::Ticket, &machine, 4, RunSize::default()).unwrap();
    // 20,000 sections were planned. Each computes for a million cycles, at 2.6 GHz, on 4 cores.
    let rate = point.throughput_per_s;
    assert!((4_000.0..=4.0 * 2.6e9 / 1e6).contains(&rate), "{rate}");
}
