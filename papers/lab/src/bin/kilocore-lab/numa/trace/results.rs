//! What was simulated of a program.

use kilocore_placement::Outcome;
use kilocore_placement::Setting;
use kilocore_references::About;

/// What came out, and of what.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) setting: &'a Setting,
    pub(super) machine: Option<&'a str>,
    pub(super) about: &'a About,
    pub(super) threads: u32,
    pub(super) outcomes: &'a [Outcome],
}

impl Results<'_> {
    pub(super) fn machine_name(&self) -> &str {
        self.machine.unwrap_or("bus-1996")
    }
}
