//! `kilocore pages`.

mod run;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// What is done about the pages of programs.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Run an unmodified program with its large memory from a page pool
    Run(run::Arguments),
}

pub(crate) fn pages(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Run(arguments) => run::run(arguments),
    }
}
