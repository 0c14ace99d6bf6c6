//! `kilocore pages record` and `kilocore pages show`.

mod record;
mod show;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// What is done with traces of pages.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Record the pages that an unmodified program is given and gives back
    Record(record::Arguments),
    /// Summarize a trace of pages, or print its events
    Show(show::Arguments),
}

pub(crate) fn pages(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Record(arguments) => record::record(&arguments),
        Action::Show(arguments) => show::show(&arguments),
    }
}
