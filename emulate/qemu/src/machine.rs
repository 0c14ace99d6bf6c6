//! The machine, as far as the plugin has to know it apart from the simulator.

use std::sync::OnceLock;

use kilocore_emulation_orders::Orders;
use kilocore_platform::Cycles;

#[derive(Debug)]
struct Machine {
    cores: u32,
    clock_ghz: f64,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

/// The program begins on this machine.
pub(crate) fn begin(orders: &Orders) {
    let clock_ghz = orders.machine.clock_ghz.value;
    MACHINE.get_or_init(|| Machine { cores: orders.cores, clock_ghz });
}

/// How many processors the program has.
pub(crate) fn cores() -> u32 {
    MACHINE.get().map_or(1, |machine| machine.cores)
}

fn clock_ghz() -> f64 {
    MACHINE.get().map_or(1.0, |machine| machine.clock_ghz)
}

/// A time of the simulated clock.
pub(crate) fn cycles(ns: u64) -> Cycles {
    Cycles((ns as f64 * clock_ghz()).round() as u64)
}

/// The same in ns.
pub(crate) fn ns(cycles: Cycles) -> f64 {
    cycles.0 as f64 / clock_ghz()
}
