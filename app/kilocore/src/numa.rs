//! `kilocore numa record`, `advise` and `show`: where the pages of unmodified programs should lie.

mod advise;
mod allocations;
mod record;
mod show;

use std::process::ExitCode;

use clap::Subcommand;
use kilocore_command_line::Failure;

/// What is done about the memory nodes that pages lie on.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Run an unmodified program under QEMU, and record which pages its threads refer to
    Record(record::Arguments),
    /// Say which memory of an unmodified program would gain by being moved, interleaved or replicated
    Advise(advise::Arguments),
    /// Summarize such a trace
    Show(show::Arguments),
}

pub(crate) fn numa(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Record(arguments) => record::record(&arguments),
        Action::Advise(arguments) => advise::advise(&arguments),
        Action::Show(arguments) => show::show(&arguments),
    }
}
