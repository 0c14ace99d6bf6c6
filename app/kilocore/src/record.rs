//! `kilocore record locks|samples|pages|references -- CMD…` and `kilocore record machine`.

mod crash;
mod line_counter;
pub(crate) mod locks;
mod lost;
mod machine;
mod pages;
mod references;
mod samples;
pub(crate) mod subject;
pub(crate) mod window;

use std::process::ExitCode;

use clap::Subcommand;

use kilocore_command_line::Failure;

/// What is recorded.
#[derive(Debug, Subcommand)]
pub(crate) enum What {
    /// Record the locks of a program, and who waits for them
    Locks(locks::Arguments),
    /// Record which functions of a program the processor's time goes to, by samples
    Samples(samples::Arguments),
    /// Record the pages of memory that a program is given and gives back
    Pages(pages::Arguments),
    /// Record what a program refers to in memory, by running it under QEMU
    References(references::Arguments),
    /// Measure this host and describe it as a machine file
    Machine(machine::Arguments),
}

pub(crate) fn record(what: &What) -> Result<ExitCode, Failure> {
    match what {
        What::Locks(arguments) => locks::record(arguments),
        What::Samples(arguments) => samples::record(arguments),
        What::Pages(arguments) => pages::record(arguments),
        What::References(arguments) => references::record(arguments),
        What::Machine(arguments) => machine::record(arguments),
    }
}
