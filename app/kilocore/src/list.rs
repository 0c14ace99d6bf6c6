//! `kilocore list locks|machines|benchmarks|policies`: what is known, and one of them in full.

mod benchmarks;
mod locks;
pub(crate) mod machines;
mod policies;

use std::process::ExitCode;

use clap::Subcommand;

use kilocore_command_line::Failure;

/// What can be listed.
#[derive(Debug, Subcommand)]
pub(crate) enum Registry {
    /// List the locks, with what each is best and worst at
    Locks(locks::Arguments),
    /// List the machines that forecasts can be for
    Machines(machines::Arguments),
    /// List what `kilocore bench` can measure
    Benchmarks(benchmarks::Arguments),
    /// List the policies by which `kilocore steer` can decide
    Policies(policies::Arguments),
}

pub(crate) fn list(registry: &Registry) -> Result<ExitCode, Failure> {
    match registry {
        Registry::Locks(arguments) => locks::locks(arguments),
        Registry::Machines(arguments) => machines::machines(arguments),
        Registry::Benchmarks(arguments) => benchmarks::benchmarks(arguments),
        Registry::Policies(arguments) => policies::policies(arguments),
    }
}
