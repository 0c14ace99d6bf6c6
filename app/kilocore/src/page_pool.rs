//! What can be chosen of a page pool that serves a recorded program.

use clap::Args;
use kilocore_command_line::{Failure, chosen, within};
use kilocore_page_trace::simulated::Policy;

/// The policies of the pool, and what the program does with its memory, which no trace says.
#[derive(Debug, Clone, Args)]
pub(crate) struct PagePool {
    /// Policies of the page pool to compare, separated by commas [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub(crate) pool_policy: Vec<Policy>,
    /// Pages of other memory that the program goes through for each page that it allocates, 0 to 1000
    /// [default: 1]
    #[arg(long, value_name = "PAGES", value_parser = |text: &str| within(text, 1000.0))]
    pub(crate) other_pages: Option<f64>,
    /// The share of released pages that the program has used right before, 0 to 1 [default: 1]
    #[arg(long, value_name = "SHARE", value_parser = |text: &str| within(text, 1.0))]
    pub(crate) used_before_release: Option<f64>,
}

impl PagePool {
    /// Refuses what says nothing where no trace is replayed.
    pub(crate) fn refuse_without_trace(&self) -> Result<(), Failure> {
        let given = [
            ("--pool-policy", !self.pool_policy.is_empty()),
            ("--other-pages", self.other_pages.is_some()),
            ("--used-before-release", self.used_before_release.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => Err(Failure::new(format!(
                "{option} goes with --replay, which names a trace of pages; leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// The policies that were named, each once; all if none was.
    pub(crate) fn policies(&self) -> Vec<Policy> {
        chosen(&self.pool_policy, &Policy::ALL)
    }
}
