//! The option that says what counts as work.

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_process::work::Rule;

/// What counts as work.
#[derive(Debug, Args)]
pub(crate) struct WorkOption {
    /// Count units of work in what the program prints: a line that the expression matches is one,
    /// or, if it has a group, the numbers there are added up [default: a run is one unit]
    #[arg(long, value_name = "REGEX")]
    work: Option<String>,
}

impl WorkOption {
    /// How work is counted, in units of this name if one is given.
    pub(crate) fn rule(&self, unit: Option<&str>) -> Result<Rule, Failure> {
        Ok(Rule::new(self.work.as_deref(), unit)?)
    }
}
