//! The simulator against models with exact solutions, inside their assumptions.

use std::cell::Cell;
use std::rc::Rc;

use kilocore_forecast::closed_form::{repairman, ticket_chain};
use kilocore_forecast::{Duration, RunSize, Workload, simulate};
use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform, Wait};
use kilocore_sim::{Options, Random, Sim, Simulation};

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

/// Throughput in sections per cycle: the machine's clock has 1 GHz.
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

/// A ticket lock as the chain has it: an arrival leaves the line alone that the waiters watch, and the
/// waiters look at it once for each section. (The lock that ships keeps both counters on one line, so
/// that each arrival sends all waiters there as well.)
struct CountersApart {
    next: Padded<<Sim as Platform>::U32>,
    serving: Padded<<Sim as Platform>::U32>,
}

impl CountersApart {
    fn new() -> Self {
        let word = || Padded(<Sim as Platform>::U32::new(0));
        Self { next: word(), serving: word() }
    }

    fn locked(&self, section: impl FnOnce()) {
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        Sim::wait_until(&*self.serving, Wait::Spin, |serving| serving == mine);
        section();
        self.serving.store(mine.wrapping_add(1), Ordering::Release);
    }
}

/// How many cores the ticket lock keeps at work: the speedup of the chain.
fn ticket_speedup(machine: &Description, cores: u32, think: f64, hold: f64) -> f64 {
    const SECTIONS: u32 = 40_000;
    let mut simulation = Simulation::new(machine, Options { cores, seed: 1 }).unwrap();
    // The chain's waiters have nothing else to do.
    simulation.keep_waiters_on_cores();
    let lock = Rc::new((CountersApart::new(), Cell::new(0), Cell::new(0)));
    for thread in 0..cores {
        let shared = Rc::clone(&lock);
        let body = move || {
            let (lock, done, end) = &*shared;
            let mut random = Random::new(1, u64::from(thread));
            while done.get() < SECTIONS {
                Sim::work(Cycles(random.exponential(think) as u64));
                lock.locked(|| {
                    Sim::work(Cycles(random.exponential(hold) as u64));
                    Sim::catch_up();
                });
                done.set(done.get() + 1);
                end.set(Sim::now().0);
            }
        };
        simulation.spawn(body).unwrap();
    }
    simulation.run().unwrap();
    f64::from(lock.1.get()) / lock.2.get() as f64 * (think + hold)
}

/// The published chain's speedup, and that of one in which a release is a request to the directory
/// like the waiters' looks, and waits for those of them that are still being served: with `k` waiting,
/// the next holder sees its turn after half of their looks, on average, and the lock is handed on when
/// both its section and the rest of the `k + 1` requests are over.
fn chains(cores: u32, think: f64, section: f64, directory: f64) -> (f64, f64) {
    let n = f64::from(cores);
    let (mut weight, mut total, mut busy) = (1.0, 1.0, 0.0);
    for k in 0..cores {
        let k = f64::from(k);
        // The mean of an exponential section and a uniform rest, whichever is longer.
        let all = directory * (k + 1.0);
        let service = all + section * section / all * (1.0 - (-all / section).exp());
        weight *= (n - k) / think * service;
        total += weight;
        busy += (k + 1.0) * weight;
    }
    (ticket_chain(cores, think, section, directory), n - busy / total)
}

const THINK: f64 = 20_000.0;
const HOLD: f64 = 400.0;
const DIRECTORY: f64 = 100.0;

/// Fed with the section `s` and the directory's time `c` for a request as they are. Before the collapse
/// the levels are the published chain's. Beyond it that chain is too high by as much as twice, as its
/// releases wait for nobody. Around 28 cores both states of the lock, collapsed and not, last for long,
/// and a small difference in either chain's rates decides which of the two lasts longer.
#[test]
fn a_ticket_lock_has_the_levels_of_its_markov_chain() {
    let machine = uniform_machine(DIRECTORY);
    for cores in (4..=48).step_by(4) {
        let simulated = ticket_speedup(&machine, cores, THINK, HOLD);
        let (published, waiting) = chains(cores, THINK, HOLD, DIRECTORY);
        println!("{cores}: simulated {simulated:.2}, chains {published:.2} and {waiting:.2}");
        let near = |exact: f64, most: f64| {
            let off = simulated / exact - 1.0;
            assert!(off.abs() < most, "{cores} cores: {simulated:.2}, not {exact:.2}");
        };
        match cores {
            ..=20 => near(published, 0.03),
            24 | 36.. => near(waiting, 0.06),
            _ => near(waiting, 0.4),
        }
    }
}

/// The lock that ships has both counters on one line, so that an arrival sends the waiters there, too.
#[test]
fn the_shipped_ticket_lock_is_the_same_before_it_collapses_and_lower_after() {
    let machine = uniform_machine(DIRECTORY);
    for cores in [4, 8, 12, 16, 24, 36, 48] {
        let apart = ticket_speedup(&machine, cores, THINK, HOLD);
        let shipped = throughput("ticket", &machine, cores, THINK, HOLD) * (THINK + HOLD);
        let ratio = shipped / apart;
        println!("{cores}: shipped {shipped:.2}, apart {apart:.2}");
        let expected = if cores <= 16 { 0.97..1.03 } else { 0.4..0.9 };
        assert!(expected.contains(&ratio), "{cores} cores: {shipped:.2} against {apart:.2}");
    }
}
