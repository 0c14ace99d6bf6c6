//! `kilocore record references -- CMD…`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_process::shell_status;
use kilocore_reference_recorder::{
    Allocations, Options, QemuError, RecordError, Stream, Tee, record as stream,
};
use kilocore_references::Contents;
use kilocore_show::number;

use crate::{examples, launch};
use kilocore_command_line::{Failure, output, say};

/// Records what a program refers to in memory.
#[derive(Debug, Args)]
#[command(after_help = examples::RECORD_REFERENCES)]
pub(crate) struct Arguments {
    /// Write the recording here
    #[arg(long, short, value_name = "FILE", default_value = "kilocore.references")]
    output: PathBuf,
    /// Instructions of a thread within which the order of its references is lost
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    quantum: u32,
    /// The processor that the program finds, as QEMU names it. `max` has what newer ones have
    #[arg(long, value_name = "NAME")]
    guest_cpu: Option<String>,
    /// Blocks of `malloc` with fewer bytes have no rows of their own. A page belongs to the block that has
    /// the byte in its middle
    #[arg(long, default_value_t = Allocations::SMALLEST_BLOCK, value_name = "BYTES",
        value_parser = clap::value_parser!(u64).range(1..))]
    smallest_block: u64,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn record(arguments: &Arguments) -> Result<ExitCode, Failure> {
    output::check_folder(&arguments.output)?;
    launch::check(&arguments.command)?;
    let library = launch::library("libkilocore_allocations.so")?;
    let options = Options {
        allocations: Some(Allocations { library, smallest_block: arguments.smallest_block }),
        quantum: arguments.quantum,
        cpu: arguments.guest_cpu.clone(),
        ..Options::new(launch::library("libkilocore_numa_qemu.so")?)
    };
    let written = |events: &mut Stream<'_>| write(events, arguments);
    let recorded = stream(&arguments.command, &options, written).map_err(|error| match error {
        RecordError::Qemu(QemuError::Start { qemu, source }) => {
            launch::cannot_start(qemu.as_os_str(), source)
        }
        other => other.into(),
    })?;
    let contents = recorded.made?;
    say(&format!(
        "recording written to {}: {} references of {} threads; `kilocore show` summarizes it, \
         and `kilocore forecast` says which memory should lie elsewhere",
        arguments.output.display(),
        number::count(contents.reads + contents.writes),
        contents.threads
    ));
    Ok(ExitCode::from(u8::try_from(shell_status(recorded.status)).unwrap_or(u8::MAX)))
}

/// Writes all that the stream has.
fn write(events: &mut Stream<'_>, arguments: &Arguments) -> Result<Contents, Failure> {
    let mut tee = Tee::new(events, &arguments.output)?;
    for event in tee.by_ref() {
        event?;
    }
    Ok(tee.finish()?)
}
