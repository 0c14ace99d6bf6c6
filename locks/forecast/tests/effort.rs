//! A point ends, however much its sections contain.

use kilocore_forecast::{Duration, Inner, RunSize, Section, Workload, simulate};
use kilocore_locks::LockId;

/// Throughput of a section around so many others, each of which is around so many again. Each thread has the locks of
/// these for itself, so that only their number makes them expensive.
fn rate(outer: f64, inner: f64) -> f64 {
    let machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    let cycles = Duration::Constant;
    let mut workload = Workload::single_lock(cycles(1_000.0), cycles(100.0), 0.0);
    let mut own = workload.locks[0];
    own.per_thread = true;
    workload.locks = vec![own; 3];
    let at = |lock, inner| Section { lock, inner, ..workload.sections[0].1.clone() };
    let innermost = Inner { times: inner, section: at(2, Vec::new()) };
    let middle = Inner { times: outer, section: at(1, vec![innermost]) };
    workload.sections[0].1 = at(0, vec![middle]);
    simulate(&workload, LockId::Ticket, &machine, 4, RunSize::default()).unwrap().throughput_per_s
}

#[test]
fn a_point_of_sections_with_ten_thousand_sections_inside_ends() {
    // 20,000 sections were planned. Each computes for a million cycles, at 2.6 GHz, on 4 cores.
    let rate = rate(10_000.0, 0.0);
    assert!((4_000.0..=4.0 * 2.6e9 / 1e6).contains(&rate), "{rate}");
}

#[test]
fn a_point_ends_in_the_midst_of_a_section_that_would_not_end() {
    for (outer, inner) in [(1e12, 0.0), (1e6, 1e6)] {
        let most = 4.0 * 2.6e9 / (100.0 * outer * (1.0 + inner));
        let rate = rate(outer, inner);
        assert!((0.4 * most..=1.05 * most).contains(&rate), "{rate} of {most}");
    }
}
