//! `kilocore numa replay FILE`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_references::Reader;

use super::consume::Wanted;
use crate::examples;

/// Simulates the references of a trace under each policy.
#[derive(Debug, Args)]
#[command(after_help = examples::NUMA_REPLAY)]
pub(crate) struct Arguments {
    /// A trace that `kilocore numa run --record` has written
    #[arg(value_name = "FILE")]
    trace: PathBuf,
    #[command(flatten)]
    wanted: Wanted,
}

pub(crate) fn replay(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut simulation = arguments.wanted.begin()?;
    let mut reader = Reader::open(&arguments.trace)?;
    for event in reader.by_ref() {
        simulation.take(&event?);
    }
    let about = reader.about();
    arguments.wanted.deliver(&simulation, about, &about.not_covered)?;
    Ok(ExitCode::SUCCESS)
}
