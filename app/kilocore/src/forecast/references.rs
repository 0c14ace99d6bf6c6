//! `kilocore numa advise -- CMD…`: which memory of a program should lie elsewhere, or have copies.

mod document;
mod machine;
mod results;
mod tables;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use kilocore_numa_advice::{Advice, Adviser};
use kilocore_process::{Output, shell_status};
use kilocore_reference_recorder::{Options, RecordError, Stream, record};
use kilocore_references::{About, Ending, Reader};
use kilocore_report::{Format, Report, ReportError, in_csv, in_json};

use self::document::{Document, csv_rows};
use self::machine::Machine;
use self::results::Results;
use super::allocations::Blocks;
use super::page::page;
use crate::failure::Failure;
use crate::{examples, launch, simulate};

/// Says which memory of an unmodified program would gain by being moved, interleaved or replicated.
#[derive(Debug, Args)]
#[command(after_help = examples::NUMA_ADVISE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: Machine,
    /// Take a trace that `kilocore numa run --record` has written, in the place of a program
    #[arg(long, value_name = "FILE", conflicts_with_all = ["quantum", "guest_cpu", "smallest_block", "command"])]
    trace: Option<PathBuf>,
    /// Instructions of a thread within which the order of its references is lost
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    quantum: u32,
    /// The processor that the program finds, as QEMU names it; `max` has what newer ones have
    #[arg(long, value_name = "NAME")]
    guest_cpu: Option<String>,
    #[command(flatten)]
    blocks: Blocks,
    /// Print one JSON document and nothing else on standard output; the program's own output goes to
    /// standard error
    #[arg(long)]
    json: bool,
    /// Also write the results; its ending chooses the format: .html, .csv or .json. May be given for
    /// several files
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required_unless_present = "trace", value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// A stream that has ended.
struct Seen {
    adviser: Adviser,
    about: About,
    ending: Ending,
    threads_unrecorded: u64,
}

pub(crate) fn advise(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let files = formats(&arguments.output)?;
    let (description, setting) = arguments.machine.setting()?;
    let adviser = Adviser::new(&setting.options, &setting.told)?;
    let (seen, status) = match &arguments.trace {
        Some(trace) => (read(trace, adviser)?, ExitCode::SUCCESS),
        None => run(arguments, adviser)?,
    };
    let thresholds = machine::thresholds(&description);
    let advice = seen.adviser.advice(&thresholds);
    let unseen = unseen(&seen.about, seen.ending, seen.threads_unrecorded, &advice);
    let results = Results { description, setting, about: seen.about, unseen, thresholds, advice };
    let document = arguments.json.then(|| Document::new(&results));
    simulate::deliver(&results, files, document, || tables::all(&results))?;
    Ok(status)
}

/// Files to write. There is no chart, so none can be an image.
fn formats(files: &[PathBuf]) -> Result<Vec<(&PathBuf, Format)>, Failure> {
    let formats = simulate::formats(files)?;
    match formats.iter().find(|(_, format)| *format == Format::Svg) {
        Some((path, _)) => Err(Failure::new(format!(
            "{}: advice has no chart; choose a file that ends in .html, .csv or .json",
            path.display()
        ))),
        None => Ok(formats),
    }
}

fn read(trace: &Path, mut adviser: Adviser) -> Result<Seen, Failure> {
    let mut reader = Reader::open(trace)?;
    for event in reader.by_ref() {
        adviser.take(&event?);
    }
    let contents = reader.contents().copied().unwrap_or_default();
    let about = reader.about().clone();
    let (ending, threads_unrecorded) = (contents.ending, contents.threads_unrecorded);
    Ok(Seen { adviser, about, ending, threads_unrecorded })
}

/// Runs the program. Returns its status, too.
fn run(arguments: &Arguments, adviser: Adviser) -> Result<(Seen, ExitCode), Failure> {
    launch::check(&arguments.command)?;
    let options = Options {
        quantum: arguments.quantum,
        cpu: arguments.guest_cpu.clone(),
        allocations: Some(arguments.blocks.allocations()?),
        // With --json, standard output is the document's.
        output: if arguments.json { Output::ToStderr } else { Output::Inherited },
        ..Options::new(launch::library("libkilocore_numa_qemu.so")?)
    };
    let consume = |stream: &mut Stream<'_>| follow(stream, adviser);
    let recorded = record(&arguments.command, &options, consume).map_err(|error| match error {
        RecordError::Start { qemu, source } => launch::cannot_start(qemu.as_os_str(), &source),
        other => other.into(),
    })?;
    let threads_unrecorded = recorded.threads_unrecorded;
    let status = u8::try_from(shell_status(recorded.status)).unwrap_or(u8::MAX);
    Ok((Seen { threads_unrecorded, ..recorded.made? }, ExitCode::from(status)))
}

fn follow(stream: &mut Stream<'_>, mut adviser: Adviser) -> Result<Seen, Failure> {
    let about = stream.about().clone();
    for event in stream.by_ref() {
        adviser.take(&event?);
    }
    Ok(Seen { adviser, about, ending: stream.ending(), threads_unrecorded: 0 })
}

/// What the figures do not cover, in words.
fn unseen(about: &About, ending: Ending, unrecorded: u64, advice: &Advice) -> Vec<String> {
    let mut unseen = Vec::new();
    if unrecorded > 0 {
        unseen.push(format!("{unrecorded} threads, as too many lived at a time"));
    }
    match ending {
        Ending::Exited(_) => {}
        Ending::Killed(signal) => {
            unseen.push(format!("the last moments of each thread, as signal {signal} ended it"));
        }
        Ending::Replaced => unseen.push("the program that was executed in its place".to_owned()),
        Ending::Stopped => unseen.push("what came after the recording was stopped".to_owned()),
    }
    if advice.forks > 0 {
        unseen.push(format!("the processes that it forked, {} times", advice.forks));
    }
    unseen.extend(about.not_covered.iter().cloned());
    unseen
}

impl Report for Results {
    fn html(&self) -> Result<String, ReportError> {
        let title = format!("Where the memory of {} should lie", self.about.command.join(" "));
        page(title, self.description.name.clone(), &self.setting, tables::all(self))
    }

    fn svg(&self) -> Result<String, ReportError> {
        Err(ReportError::NoCurves)
    }

    fn csv(&self) -> Result<String, ReportError> {
        in_csv(csv_rows(self))
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&Document::new(self))
    }
}
