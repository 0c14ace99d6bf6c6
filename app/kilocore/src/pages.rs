//! `kilocore pages record`, `kilocore pages show` and `kilocore pages run`.

mod record;
mod run;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// What is done about the pages of programs.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Record the pages that an unmodified program is given and gives back
    Record(record::Arguments),
    /// Summarize a trace of pages, or print its events
    Show(show::Arguments),
    /// Run an unmodified program with its large memory from a page pool
    Run(run::Arguments),
}

pub(crate) fn pages(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Record(arguments) => record::record(&arguments),
        Action::Show(arguments) => show::show(&arguments),
        Action::Run(arguments) => run::run(arguments),
    }
}
