//! `kilocore record locks|samples|pages|references -- CMD…` and `kilocore record machine`.

pub(crate) mod confining;
mod crash;
mod leave_cores;
mod line_counter;
pub(crate) mod locks;
mod lost;
mod machine;
mod pages;
mod references;
mod samples;
pub(crate) mod subject;
pub(crate) mod timing;
pub(crate) mod window;

use std::process::ExitCode;

use clap::Subcommand;

use kilocore_command_line::Failure;

/// What can be recorded.
#[derive(Debug, Subcommand)]
pub(crate) enum Recorder {
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

pub(crate) fn record(recorder: &Recorder) -> Result<ExitCode, Failure> {
    match recorder {
        Recorder::Locks(arguments) => locks::record(arguments),
        Recorder::Samples(arguments) => samples::record(arguments),
        Recorder::Pages(arguments) => pages::record(arguments),
        Recorder::References(arguments) => references::record(arguments),
        Recorder::Machine(arguments) => machine::record(arguments),
    }
}
