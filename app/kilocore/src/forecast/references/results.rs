//! What was advised, and of what.

use kilocore_machine::Description;
use kilocore_placement::Setting;
use kilocore_placement::advice::{Advice, Thresholds};
use kilocore_references::About;

/// What was advised, and of what.
#[derive(Debug)]
pub(super) struct Results {
    pub(super) description: Description,
    pub(super) setting: Setting,
    pub(super) about: About,
    /// What is not in the stream, in words, the worst first.
    pub(super) unseen: Vec<String>,
    /// From where on something counted.
    pub(super) thresholds: Thresholds,
    pub(super) advice: Advice,
}
