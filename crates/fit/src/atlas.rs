//! What plausible workloads do on a machine.

use kilocore_machine::Description;

/// Simulated points of many workloads on one machine, each simulated once, when first asked for.
///
/// Fits of several programs on the same machine share it.
#[derive(Debug)]
pub struct Atlas<'m> {
    machine: &'m Description,
}

impl<'m> Atlas<'m> {
    /// An empty one.
    #[must_use]
    pub fn new(machine: &'m Description, seed: u64) -> Self {
        let _ = seed;
        Self { machine }
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &'m Description {
        self.machine
    }
}
