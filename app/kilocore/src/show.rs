//! `kilocore show FILE`: what is in a file, whatever it is.

mod bench;
mod emulated;
mod locks;
mod measurements;
mod pages;
mod references;
mod samples;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::examples;
use crate::file_kind::{Applicability, FileKind, refuse_unfit};
use crate::list::machines;
use kilocore_command_line::Failure;
use kilocore_command_line::reports::Reports;

#[derive(Debug, Args)]
#[command(after_help = examples::SHOW)]
pub(crate) struct Arguments {
    /// What `record`, `bench` or `emulate` wrote, a profile of another sampler, or measured throughputs. What it is
    /// is found out from its contents
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reports: Reports,
    /// Print all events of a trace of pages as text: a line with what it says of itself, and then a line
    /// for each event, each a JSON object
    #[arg(long, conflicts_with = "json")]
    events: bool,
}

pub(crate) fn show(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let Arguments { file, reports, events } = arguments;
    let kind = FileKind::of(file)?;
    let applicabilities = [
        Applicability::new("--events", *events, &[FileKind::PageTrace]),
        Applicability::new(
            "--output",
            !reports.output.is_empty(),
            &[FileKind::LockProfile, FileKind::BenchRun],
        ),
    ];
    refuse_unfit(file, kind, &applicabilities)?;
    match kind {
        FileKind::LockProfile => locks::show(file, reports)?,
        FileKind::SampledProfile => samples::show(file, reports)?,
        FileKind::PageTrace if *events => pages::show_events(file)?,
        FileKind::PageTrace => pages::show(file, reports)?,
        FileKind::References => references::show(file, reports)?,
        FileKind::BenchRun => bench::show(file, reports)?,
        FileKind::Measurements => measurements::show(file, reports)?,
        FileKind::EmulatedStacks => emulated::show_stacks(file, reports)?,
        FileKind::EmulatedProgram => emulated::show(file, reports)?,
        FileKind::Machine => {
            let machine = kilocore_machine::read(file)?;
            machines::show(&machine, reports.json)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
