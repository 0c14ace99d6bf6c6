//! `kilocore simulate EXPERIMENT`.

mod ldu;
mod lock;
mod lru;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// What can be simulated.
#[derive(Debug, Subcommand)]
pub(crate) enum Experiment {
    /// Threads that think, take one of some locks, hold it, and start over
    Lock(lock::Arguments),
    /// Processes that fork and exit on all cores: the figures of the paper on deferred updates
    Ldu(ldu::Arguments),
    /// Processes that write through the page cache on all threads: the paper on FinerLRU
    Lru(lru::Arguments),
}

pub(crate) fn simulate(experiment: Experiment) -> Result<ExitCode, Failure> {
    match experiment {
        Experiment::Lock(arguments) => lock::lock(&arguments),
        Experiment::Ldu(arguments) => ldu::ldu(&arguments),
        Experiment::Lru(arguments) => lru::lru(&arguments),
    }
}
