//! `kilocore numa run -- CMD…`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use kilocore_command_line::{Failure, output};
use kilocore_process::{Output, shell_status};
use kilocore_reference_recorder::{Options, RecordError, Stream, Tee, TeeError, record};
use kilocore_references::About;

use super::allocations::Blocks;
use super::consume::{Simulation, Wanted};
use crate::{examples, launch};

/// Runs a program under QEMU and simulates what its references cost under each policy.
#[derive(Debug, Args)]
#[command(after_help = examples::NUMA_RUN)]
pub(crate) struct Arguments {
    #[command(flatten)]
    wanted: Wanted,
    /// Also write what the program referred to into this file, for `kilocore numa replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
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

/// What is known when the stream has ended.
struct Seen {
    simulation: Simulation,
    about: About,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let simulation = arguments.wanted.begin()?;
    if let Some(path) = &arguments.record {
        output::check_folder(path)?;
    }
    launch::check(&arguments.command)?;
    // Only advice from the trace asks for them.
    let allocations =
        arguments.record.as_ref().map(|_| arguments.blocks.allocations()).transpose()?;
    let options = Options {
        allocations,
        quantum: arguments.quantum,
        cpu: arguments.guest_cpu.clone(),
        // With --json, standard output is the document's.
        output: if arguments.wanted.json { Output::ToStderr } else { Output::Inherited },
        ..Options::new(launch::library("libkilocore_numa_qemu.so")?)
    };
    let consume = |stream: &mut Stream<'_>| consume(stream, simulation, arguments);
    let recorded = record(&arguments.command, &options, consume).map_err(|error| match error {
        RecordError::Start { qemu, source } => launch::cannot_start(qemu.as_os_str(), &source),
        other => other.into(),
    })?;
    let Seen { simulation, about } = recorded.made?;
    let mut not_covered = about.not_covered.clone();
    if recorded.threads_unrecorded > 0 {
        not_covered
            .insert(0, format!("{} threads, as too many lived", recorded.threads_unrecorded));
    }
    arguments.wanted.deliver(&simulation, &about, &not_covered)?;
    Ok(ExitCode::from(u8::try_from(shell_status(recorded.status)).unwrap_or(u8::MAX)))
}

fn consume(
    stream: &mut Stream<'_>,
    mut simulation: Simulation,
    arguments: &Arguments,
) -> Result<Seen, Failure> {
    let about = stream.about().clone();
    match &arguments.record {
        None => {
            for event in stream.by_ref() {
                simulation.take(&event?);
            }
        }
        Some(path) => {
            let mut tee = Tee::new(stream, path)?;
            for event in tee.by_ref() {
                simulation.take(&event.map_err(|error: TeeError| Failure::from(error))?);
            }
            let contents = tee.finish()?;
            eprintln!("kilocore: {} events written to {}", contents.events, path.display());
        }
    }
    Ok(Seen { simulation, about })
}
