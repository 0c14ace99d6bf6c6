//! `kilocore list locks|machines|benchmarks|policies`: what is known, and one of them in full.

mod benchmarks;
mod locks;
pub(crate) mod machines;
mod policies;

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;

/// What is listed.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// The locks, with what each is best and worst at
    Locks(locks::Arguments),
    /// The machines that forecasts can be for
    Machines(machines::Arguments),
    /// What `kilocore bench` can measure
    Benchmarks(benchmarks::Arguments),
    /// By which policies `kilocore steer` can decide
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
