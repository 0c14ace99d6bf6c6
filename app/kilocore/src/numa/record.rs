//! `kilocore numa record -- CMD…`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Failure, output, say};
use kilocore_process::{Output, shell_status};
use kilocore_reference_recorder::{Options, RecordError, Stream, Tee, TeeError, record as run};
use kilocore_references::Contents;
use kilocore_show::number;

use super::allocations::Blocks;
use crate::{examples, launch};

/// Runs a program under QEMU and records which pages its threads refer to.
#[derive(Debug, Args)]
#[command(after_help = examples::NUMA_RECORD)]
pub(crate) struct Arguments {
    /// Write the trace here
    #[arg(long, short, value_name = "FILE", default_value = "kilocore.refs")]
    output: PathBuf,
    /// Instructions of a thread within which the order of its references is lost
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    quantum: u32,
    /// The processor that the program finds, as QEMU names it; `max` has what newer ones have
    #[arg(long, value_name = "NAME")]
    guest_cpu: Option<String>,
    #[command(flatten)]
    blocks: Blocks,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn record(arguments: &Arguments) -> Result<ExitCode, Failure> {
    output::check_folder(&arguments.output)?;
    launch::check(&arguments.command)?;
    let options = Options {
        allocations: Some(arguments.blocks.allocations()?),
        quantum: arguments.quantum,
        cpu: arguments.guest_cpu.clone(),
        output: Output::Inherited,
        ..Options::new(launch::library("libkilocore_numa_qemu.so")?)
    };
    let write = |stream: &mut Stream<'_>| write(stream, &arguments.output);
    let recorded = run(&arguments.command, &options, write).map_err(|error| match error {
        RecordError::Start { qemu, source } => launch::cannot_start(qemu.as_os_str(), &source),
        other => other.into(),
    })?;
    if recorded.threads_unrecorded > 0 {
        say(&format!(
            "{} threads were not recorded, as too many lived at a time",
            recorded.threads_unrecorded
        ));
    }
    let contents = recorded.made?;
    say(&format!(
        "trace written to {}: {} events; `kilocore numa show` summarizes it",
        arguments.output.display(),
        number::count(contents.events)
    ));
    Ok(ExitCode::from(u8::try_from(shell_status(recorded.status)).unwrap_or(u8::MAX)))
}

fn write(stream: &mut Stream<'_>, path: &Path) -> Result<Contents, Failure> {
    let mut tee = Tee::new(stream, path)?;
    for event in tee.by_ref() {
        event.map_err(|error: TeeError| Failure::from(error))?;
    }
    Ok(tee.finish()?)
}
