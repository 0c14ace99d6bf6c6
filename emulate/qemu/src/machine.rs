//! The machine, as far as the plugin has to know it apart from the simulator.

use std::sync::OnceLock;

use kilocore_emulation_orders::Orders;
use kilocore_machine::{Description, HardwareThread, Location};
use kilocore_platform::Cycles;

#[derive(Debug)]
struct Machine {
    cores: u32,
    description: Description,
}

static MACHINE: OnceLock<Machine> = OnceLock::new();

/// The program begins on this machine.
pub(crate) fn begin(orders: &Orders) {
    MACHINE.get_or_init(|| Machine { cores: orders.cores, description: orders.machine.clone() });
}

/// How many processors the program has.
pub(crate) fn cores() -> u32 {
    MACHINE.get().map_or(1, |machine| machine.cores)
}

/// Where each of these is, in order.
pub(crate) fn locations() -> Vec<Location> {
    let of = |machine: &Machine| {
        (0..machine.cores).map(|core| machine.description.location(HardwareThread(core))).collect()
    };
    MACHINE.get().map_or_else(Vec::new, of)
}

/// How many bytes a cache line has.
pub(crate) fn line_bytes() -> u64 {
    MACHINE.get().map_or(64, |machine| u64::from(machine.description.caches.line_bytes.max(1)))
}

fn clock_ghz() -> f64 {
    MACHINE.get().map_or(1.0, |machine| machine.description.clock_ghz.value)
}

/// A time of the simulated clock.
pub(crate) fn cycles(ns: u64) -> Cycles {
    Cycles((ns as f64 * clock_ghz()).round() as u64)
}

/// The same in ns.
pub(crate) fn ns(cycles: Cycles) -> f64 {
    cycles.0 as f64 / clock_ghz()
}
