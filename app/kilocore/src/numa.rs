//! `kilocore numa run` and `replay`: where the pages of unmodified programs should lie.

mod allocations;
mod consume;
mod delays;
mod document;
mod machine;
mod page;
mod replay;
mod results;
mod run;
mod tables;

use std::process::ExitCode;

use clap::Subcommand;

pub(crate) use self::delays::Delays;
pub(crate) use self::machine::Machine;
use crate::failure::Failure;

/// What is done about the memory nodes that pages lie on.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Run an unmodified program under QEMU, and simulate what its references to memory cost under
    /// each policy of copying and moving pages
    Run(run::Arguments),
    /// Do the same with a trace that `kilocore record references` has written
    Replay(replay::Arguments),
}

pub(crate) fn numa(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Run(arguments) => run::run(&arguments),
        Action::Replay(arguments) => replay::replay(&arguments),
    }
}
