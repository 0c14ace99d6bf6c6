//! Work that memory limits behaves as memory does: see `Placement` and `MemoryUse`.

use kilocore_forecast::{Duration, MemoryUse, Placement, RunSize, Workload, simulate};
use kilocore_locks::LockId;
use kilocore_machine::Description;

fn machine(name: &str) -> Description {
    kilocore_machine::find(name).unwrap()
}

/// Threads that compute for `think` cycles and use memory, and take no lock.
fn no_locks(think: f64, memory: MemoryUse) -> Workload {
    Workload {
        think: Duration::Constant(think),
        asleep: 0.0,
        memory: Some(memory),
        serial: 0.0,
        barriers: None,
        locks: Vec::new(),
        sections: Vec::new(),
    }
}

/// Throughput in rounds per second.
fn rounds(workload: &Workload, machine: &Description, cores: u32) -> f64 {
    let size = RunSize { sections: 3_000, ..RunSize::default() };
    simulate(workload, LockId::Ticket, machine, cores, size).unwrap().throughput_per_s
}

/// Gigabytes per second of pure streaming.
fn bandwidth(machine: &Description, placement: Placement, cores: u32) -> f64 {
    let lines = 200.0;
    rounds(&no_locks(0.0, MemoryUse::stream(lines, placement)), machine, cores) * lines * 64.0 / 1e9
}

fn near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
}

#[test]
fn a_core_alone_reads_its_outstanding_misses_in_each_latency() {
    let machine = machine("opteron-6344-4s");
    let each = 10.0 * 64.0 / machine.memory.local_ns.value;
    near(bandwidth(&machine, Placement::Local, 1), each, 0.02);
}

#[test]
fn dependent_misses_take_a_latency_each() {
    let machine = machine("opteron-6344-4s");
    let chase = MemoryUse { overlap: 1, ..MemoryUse::stream(10.0, Placement::Local) };
    let expected = 1e9 / (10.0 * machine.memory.local_ns.value);
    near(rounds(&no_locks(0.0, chase), &machine, 1), expected, 0.02);
}

#[test]
fn local_streams_reach_the_bandwidth_of_every_node_in_use() {
    for name in ["opteron-6344-4s", "xeon-e7-4830v3-4s"] {
        let machine = machine(name);
        let per_node = machine.topology.cores_per_node();
        let each = machine.memory.bandwidth_gb_per_s.value;
        for nodes in [1, 2, 4] {
            let read = bandwidth(&machine, Placement::Local, nodes * per_node);
            near(read, each * f64::from(nodes), 0.04);
        }
    }
}

#[test]
fn data_on_one_node_is_read_at_the_bandwidth_of_one_node() {
    for name in ["opteron-6344-4s", "xeon-e7-4830v3-4s"] {
        let machine = machine(name);
        let each = machine.memory.bandwidth_gb_per_s.value;
        near(bandwidth(&machine, Placement::OneNode, 48), each, 0.04);
    }
}

#[test]
fn interleaved_data_needs_the_links_and_never_exceeds_all_nodes() {
    let machine = machine("xeon-e7-4830v3-4s");
    let all = 4.0 * machine.memory.bandwidth_gb_per_s.value;
    let interleaved = bandwidth(&machine, Placement::Interleaved, 48);
    assert!(interleaved < all * 1.02, "{interleaved}");
    assert!(interleaved > bandwidth(&machine, Placement::OneNode, 48) * 1.5, "{interleaved}");
}

#[test]
fn computing_hides_memory_until_the_bandwidth_is_used_up() {
    let machine = machine("opteron-6344-4s");
    // 100 lines are 1,280 cycles of the node's memory: room for less than eight cores of 10,000.
    let workload = no_locks(10_000.0, MemoryUse::stream(100.0, Placement::Local));
    near(rounds(&workload, &machine, 6), 6.0 * rounds(&workload, &machine, 1), 0.1);
    let workload = no_locks(2_000.0, MemoryUse::stream(100.0, Placement::Local));
    let saturated = machine.memory.bandwidth_gb_per_s.value * 1e9 / 6_400.0;
    near(rounds(&workload, &machine, 6), saturated, 0.04);
}

#[test]
fn a_part_that_fits_into_the_cache_makes_more_nodes_worth_more() {
    let machine = machine("opteron-6344-4s");
    let footprint = Some(2.0 * machine.caches.shared_kib.value);
    let stream = MemoryUse::stream(100.0, Placement::Local);
    let workload = no_locks(200.0, MemoryUse { footprint_kib: footprint, ..stream });
    let (one, two, four) = (
        rounds(&workload, &machine, 6),
        rounds(&workload, &machine, 12),
        rounds(&workload, &machine, 24),
    );
    assert!(two > 3.0 * one, "{one} {two}");
    near(four, 2.0 * two, 0.03);
}

#[test]
fn the_same_point_twice_is_the_same() {
    let machine = machine("xeon-e7-4830v3-4s");
    let workload = no_locks(500.0, MemoryUse::stream(77.5, Placement::Interleaved));
    assert_eq!(rounds(&workload, &machine, 24), rounds(&workload, &machine, 24));
}
