//! `--plan FILE`: what a command would compute, as a plan for `kilocore sweep`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Failure, say};
use kilocore_sweep::write_plan;

/// The option of each command that has points.
#[derive(Debug, Args)]
pub(crate) struct PlanFile {
    /// Compute nothing, and write a plan for `kilocore sweep` that runs this command, to be given more values
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
}

impl PlanFile {
    /// Writes the plan, if one is wanted, of a command that is to write so many reports. Returns how the command ends then.
    pub(crate) fn written(&self, reports: usize) -> Result<Option<ExitCode>, Failure> {
        let Some(file) = &self.plan else { return Ok(None) };
        say(&write_plan(file, env!("CARGO_BIN_NAME"), reports)?);
        Ok(Some(ExitCode::SUCCESS))
    }
}
