//! The simulator against models with exact solutions, inside their assumptions.

use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_predict::closed_form::{repairman, ticket_chain};
use kilocore_predict::{Duration, RunSize, Workload, simulate};

/// A machine of 48 cores at 1 GHz on which nothing costs anything, except that lines take
/// `latency` cycles from any core to any other and are busy for as long at each request.
fn uniform_machine(latency: f64) -> Description {
    let mut machine = kilocore_machine::find("opteron-6344-4s").unwrap();
    machine.clock_ghz.value = 1.0;
    let at = &mut machine.latency;
    for figure in [
        &mut at.same_core_ns,
        &mut at.same_group_ns,
        &mut at.same_node_ns,
        &mut at.same_socket_ns,
        &mut at.other_socket_ns,
        &mut machine.coherence.line_service_ns,
        &mut machine.caches.shared_hit_ns,
    ] {
        figure.value = latency;
    }
    for figure in [
        &mut at.per_hop_ns,
        &mut machine.coherence.invalidate_per_sharer_ns,
        &mut machine.coherence.home_service_ns,
        &mut machine.coherence.rmw_cycles,
        &mut machine.caches.hit_cycles,
        &mut machine.memory.local_ns,
        &mut machine.memory.remote_ns,
    ] {
        figure.value = 0.0;
    }
    machine
}

/// Sections per cycle.
fn throughput(lock: &str, machine: &Description, cores: u32, think: f64, hold: f64) -> f64 {
    let workload =
        Workload::single_lock(Duration::Exponential(think), Duration::Exponential(hold), 0.0);
    let size = RunSize { sections: 100_000, ..RunSize::default() };
    let lock: LockId = lock.parse().unwrap();
    simulate(&workload, lock, machine, cores, size).unwrap().throughput_per_s / 1e9
}

#[test]
fn a_queue_lock_on_a_free_machine_is_the_machine_repairman() {
    let machine = uniform_machine(0.0);
    for (think, hold) in [(4000.0, 400.0), (20_000.0, 400.0), (1000.0, 1000.0)] {
        for cores in [1, 2, 6, 12, 24, 48] {
            let simulated = throughput("mcs", &machine, cores, think, hold);
            let exact = repairman(cores, think, hold);
            let off = simulated / exact - 1.0;
            assert!(off.abs() < 0.03, "{cores} cores, {think}/{hold}: off by {:.1} %", off * 100.0);
        }
    }
}

#[test]
fn threads_that_think_for_minutes_are_forecast_like_others() {
    // Twenty thousand sections of so long a think time are some months.
    let machine = uniform_machine(40.0);
    let (think, hold) = (1e12, 1e3);
    let alone = throughput("mcs", &machine, 1, think, hold);
    let free = 1.0 / (think + hold);
    assert!((alone / free - 1.0).abs() < 0.05, "{alone}, not {free}");
    let four = throughput("ticket", &machine, 4, think, hold);
    assert!((four / (4.0 * free) - 1.0).abs() < 0.05, "{four}, not four times {free}");
}

#[test]
fn a_ticket_lock_peaks_and_falls_as_its_markov_chain_does() {
    let (think, hold, directory) = (20_000.0, 400.0, 100.0);
    let machine = uniform_machine(directory);
    let cores: Vec<u32> = (4..=48).step_by(4).collect();
    let speedup = |rate: f64| rate * (think + hold);
    let simulated: Vec<f64> =
        cores.iter().map(|&n| speedup(throughput("ticket", &machine, n, think, hold))).collect();
    // The chain sends the waiters to the line once for each section, when the lock is handed on.
    // The lock that ships keeps both of its counters on one line, so that each arrival sends them
    // there as well: twice the load on the directory. It also takes a transfer for the release
    // and one for the first waiter to look.
    let chain: Vec<f64> = cores
        .iter()
        .map(|&n| ticket_chain(n, think, hold + 2.0 * directory, 2.0 * directory))
        .collect();
    println!("cores     {cores:?}\nsimulated {simulated:.1?}\nchain     {chain:.1?}");
    let peak = |curve: &[f64]| {
        cores[(0..curve.len()).max_by(|&a, &b| curve[a].total_cmp(&curve[b])).unwrap()]
    };
    let (simulated_peak, chain_peak) = (f64::from(peak(&simulated)), f64::from(peak(&chain)));
    assert!((simulated_peak / chain_peak - 1.0).abs() < 0.25, "{simulated_peak} {chain_peak}");
    let fall = |curve: &[f64]| curve.last().unwrap() / curve.iter().copied().fold(0.0, f64::max);
    assert!((fall(&simulated) - fall(&chain)).abs() < 0.1);
}
