//! Speed of the simulator: simulated memory operations per second on one core of the host.
//!
//! The bars: 20 million under contention on 64 cores, 60 million on private lines. Lines of blocks
//! count as operations, and the bar is 32 million, which is 2 µs for a page.

use std::rc::Rc;
use std::time::Instant;

use kilocore_machine::Description;
use kilocore_platform::{Atomic, AtomicInt, Cycles, NodeId, Ordering, Padded, Platform, Wait};
use kilocore_sim::{Options, Sim, Simulation};

type Word = Padded<<Sim as Platform>::U64>;

const ROUNDS: usize = 7;

fn main() {
    println!("{:<34}{:>8}{:>14}{:>22}", "load", "cores", "operations", "million/s (min–max)");
    for cores in [64, 1024] {
        report("private counter", &machine(), cores, &private_counters);
        report("private, three lines and work", &machine(), cores, &private_work);
        report("one shared counter", &machine(), cores, &shared_counter);
        report("token passed by spinning", &machine(), cores, &token);
    }
    let desktop = kilocore_machine::find("core-i7-6700").expect("built in");
    for cores in [1, 4] {
        report("pages: own cache", &desktop, cores, &pages::<32>);
        report("pages: last-level cache", &desktop, cores, &pages::<256>);
        report("pages: memory", &desktop, cores, &pages::<4096>);
        report("pages: memory, 1 GiB", &desktop, cores, &pages::<65_536>);
        report("pages: of all cores", &desktop, cores, &common_pages);
    }
}

/// Measures a load, unless the command line names others.
fn report(name: &str, machine: &Description, cores: u32, load: &dyn Fn(&mut Simulation, u32)) {
    let mut filters = std::env::args().skip(1).filter(|word| !word.starts_with('-')).peekable();
    if filters.peek().is_some() && !filters.any(|filter| name.contains(&filter)) {
        return;
    }
    let mut rates = Vec::new();
    let mut operations = 0;
    for _ in 0..ROUNDS {
        let mut simulation =
            Simulation::new(machine, Options { cores, seed: 1 }).expect("cores exist");
        load(&mut simulation, cores);
        let start = Instant::now();
        let outcome = simulation.run().expect("no deadlock");
        operations = outcome.operations;
        rates.push(operations as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
    rates.sort_by(f64::total_cmp);
    let (low, middle, high) = (rates[0], rates[ROUNDS / 2], rates[ROUNDS - 1]);
    println!("{name:<34}{cores:>8}{operations:>14}{middle:>10.1} ({low:.1}–{high:.1})");
}

/// A machine with 1,024 cores: the Opteron, made larger.
fn machine() -> Description {
    let mut machine = kilocore_machine::find("opteron-6344-4s").expect("built in");
    machine.topology.sockets = 16;
    machine.topology.nodes_per_socket = 2;
    machine.topology.groups_per_node = 16;
    machine.topology.hops = Vec::new();
    machine
}

fn words(count: usize) -> Rc<Vec<Word>> {
    Rc::new((0..count).map(|_| Padded(<Sim as Platform>::U64::new(0))).collect())
}

fn private_counters(simulation: &mut Simulation, cores: u32) {
    let counters = words(cores as usize);
    for core in 0..cores as usize {
        let counters = Rc::clone(&counters);
        let body = move || {
            for _ in 0..4_000_000 / counters.len() {
                let seen = counters[core].load(Ordering::Relaxed);
                counters[core].store(seen + 1, Ordering::Relaxed);
            }
        };
        simulation.spawn(body).expect("memory");
    }
}

fn private_work(simulation: &mut Simulation, cores: u32) {
    let counters = words(cores as usize * 3);
    for core in 0..cores as usize {
        let counters = Rc::clone(&counters);
        let body = move || {
            for turn in 0..6_000_000 / counters.len() {
                counters[core * 3 + turn % 3].fetch_add(1, Ordering::Relaxed);
                Sim::work(Cycles(20));
            }
        };
        simulation.spawn(body).expect("memory");
    }
}

fn shared_counter(simulation: &mut Simulation, cores: u32) {
    let counter = words(1);
    for _ in 0..cores {
        let counter = Rc::clone(&counter);
        let body = move || {
            for _ in 0..2_000_000 / cores {
                counter[0].fetch_add(1, Ordering::Relaxed);
            }
        };
        simulation.spawn(body).expect("memory");
    }
}

fn token(simulation: &mut Simulation, cores: u32) {
    let turn = words(1);
    let turns = 4_000_000 / (u64::from(cores) * u64::from(cores));
    for core in 0..u64::from(cores) {
        let turn = Rc::clone(&turn);
        let body = move || {
            for round in 0..turns.max(2) {
                let mine = round * u64::from(cores) + core;
                Sim::wait_until(&*turn[0], Wait::Spin, |now| now == mine);
                turn[0].store(mine + 1, Ordering::Release);
            }
        };
        simulation.spawn(body).expect("memory");
    }
}

/// Each core initializes pages of its own in turn.
fn pages<const EACH: usize>(simulation: &mut Simulation, cores: u32) {
    let region = simulation.add_region(4096 * EACH * cores as usize, NodeId(0));
    for core in 0..cores as usize {
        let body = move || {
            for turn in 0..100_000 / cores as usize {
                Sim::initialize(region.block(core * EACH + turn % EACH, 4096));
            }
        };
        simulation.spawn(body).expect("memory");
    }
}

/// All cores initialize the same pages, in an order that looks like chance.
fn common_pages(simulation: &mut Simulation, cores: u32) {
    let region = simulation.add_region(1 << 23, NodeId(0));
    for core in 0..cores as usize {
        let body = move || {
            for turn in 0..100_000 / cores as usize {
                Sim::initialize(region.block((turn * 577 + core * 991) % 2048, 4096));
            }
        };
        simulation.spawn(body).expect("memory");
    }
}
