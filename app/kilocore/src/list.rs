//! `kilocore list locks|machines|benchmarks|policies`: what is known, and one of them in full.

mod benchmarks;
mod locks;
pub(crate) mod machines;
mod policies;

use std::process::ExitCode;

use clap::Subcommand;

use kilocore_command_line::Failure;

/// What is listed.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// List the locks, with what each is best and worst at
    Locks(locks::Arguments),
    /// List the machines that forecasts can be for
    Machines(machines::Arguments),
    /// List what `kilocore bench` can measure
    Benchmarks(benchmarks::Arguments),
    /// List the policies by which `kilocore steer` can decide
    Policies(policies::Arguments),
}

pub(crate) fn list(what: &What) -> Result<ExitCode, Failure> {
    match what {
        What::Locks(arguments) => locks::locks(arguments),
        What::Machines(arguments) => machines::machines(arguments),
        What::Benchmarks(arguments) => benchmarks::benchmarks(arguments),
        What::Policies(arguments) => policies::policies(arguments),
    }
}
