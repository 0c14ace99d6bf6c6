//! The machine that advice is for.

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_machine::Description;
use kilocore_placement::advice::Thresholds;
use kilocore_placement::{PageSize, Setting};
use kilocore_platform::Cycles;

use crate::usual_machine;

/// What of the machine is used.
#[derive(Debug, Args)]
pub(crate) struct Nodes {
    /// Processors that the program's threads are dealt to [default: 32, or as many as the machine has]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) cpus: Option<u32>,
    /// Memory nodes, to which the processors are dealt evenly [default: those of the machine]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) nodes: Option<u32>,
    /// Cycles between two looks of Linux at where pages are used [default: those of a second]
    #[arg(long, value_name = "CYCLES", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) period: Option<u64>,
}

/// Processors, if nothing is said. Each page takes some memory for each of them.
const CPUS: u32 = 32;

impl Nodes {
    /// The machine as it is described, and with all that was chosen.
    pub(super) fn setting(&self, machine: Option<&str>) -> Result<(Description, Setting), Failure> {
        let machine = usual_machine::or_usual(machine, "forecasting")?;
        let nodes = self.nodes.unwrap_or_else(|| machine.topology.nodes().min(64));
        if nodes == 1 {
            return Err(Failure::new(format!(
                "{}: with one memory node all memory is as near; choose a machine with several, or \
                 say with --nodes how many there are",
                machine.name
            )));
        }
        let usual = CPUS.min(machine.topology.hardware_threads());
        let cpus = self.cpus.unwrap_or((usual / nodes).max(1) * nodes);
        if !cpus.is_multiple_of(nodes) {
            return Err(Failure::new(format!(
                "{cpus} processors cannot be dealt evenly to {nodes} nodes; choose a number of nodes \
                 that divides them"
            )));
        }
        let mut setting = Setting::of(&machine, cpus, Some(nodes), PageSize::SMALL);
        // Queues at memories are left out, and the figures should say so.
        setting.options.costs.service = Cycles(0);
        let second = (machine.clock_ghz.value * 1e9).round() as u64;
        setting.policies.period = Cycles(self.period.unwrap_or(second));
        Ok((machine, setting))
    }
}

/// Which part of a core's own caches a mapping may fill to stay there, beside all others.
const PART_OF_CACHES: f64 = 0.25;

/// From where on something counts on a machine.
pub(super) fn thresholds(machine: &Description) -> Thresholds {
    let cached_bytes = (machine.caches.private_kib.value * 1024.0 * PART_OF_CACHES) as u64;
    Thresholds { cached_bytes, ..Thresholds::default() }
}
