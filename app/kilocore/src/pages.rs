//! `kilocore pages record`, `show`, `replay` and `run`.

mod record;
mod replay;
mod run;
mod show;

use std::process::ExitCode;

use clap::Subcommand;
use kilocore_command_line::Failure;

/// What is done about the pages of programs.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Record the pages that an unmodified program is given and gives back
    Record(record::Arguments),
    /// Summarize a trace of pages, or print its events
    Show(show::Arguments),
    /// Replay a trace of pages on this machine, under each policy of the page pool
    Replay(replay::Arguments),
    /// Run an unmodified program with its large memory from a page pool
    Run(run::Arguments),
}

pub(crate) fn pages(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Record(arguments) => record::record(&arguments),
        Action::Show(arguments) => show::show(&arguments),
        Action::Replay(arguments) => replay::replay(&arguments),
        Action::Run(arguments) => run::run(arguments),
    }
}
