//! Where pages lie, and what that costs.

use crate::support::{interleaved, on, program};

#[test]
fn pages_on_all_nodes_are_far_from_one_thread_and_near_enough_for_all() {
    let reads = program("fills", &[]);
    let one = [on(1, &reads, &["1"]).0, interleaved(1, &reads, &["1"])];
    let [near, far] = one.map(|point| point.report.parallel.expect("it has threads").ns());
    assert!(far > 1.2 * near, "one core: {far} {near}");
    // All that wait for one node's memory wait longer than those that wait for eight.
    let all = [on(48, &reads, &["48"]).0, interleaved(48, &reads, &["48"])];
    let [one_node, all_nodes] = all.map(|point| {
        let threads = &point.report.threads[1..];
        threads.iter().map(|thread| thread.stalled_ns).sum::<f64>()
    });
    assert!(one_node > 2.0 * all_nodes, "48 cores: {one_node} {all_nodes}");
}
