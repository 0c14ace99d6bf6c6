//! `kilocore locate`: which functions stop a program from scaling.

mod inputs;
mod record;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kilocore_locate::{Comparison, Document, Work, compare, folded};
use kilocore_report::{LocateReport, Report, terminal};

use crate::failure::Failure;
use crate::output;

/// How to compare two profiles, or how to record them first.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "A profile is what 'perf record' writes, what 'perf script' prints, folded stacks, \
                  pprof, or a profile of gperftools; the two may be of different kinds. A folder is several runs of the \
                  same program on the same cores: they show how much runs differ. What a profile \
                  cannot say, its cores, its work, how long it ran, comes from the options or from \
                  a file beside it, PROFILE.kilocore.json."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    compare: Compare,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a program on few cores and on many, sample it, and compare the two
    Record(record::Arguments),
}

#[derive(Debug, Args)]
struct Compare {
    /// A profile of the program on few cores, or a folder of such
    #[arg(value_name = "BASE", required = true)]
    base: Option<PathBuf>,
    /// A profile of it on many cores, or a folder of such
    #[arg(value_name = "SCALED", required = true)]
    scaled: Option<PathBuf>,
    #[command(flatten)]
    facts: Facts,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    shown: Shown,
}

/// What the profiles do not say.
#[derive(Debug, Args)]
struct Facts {
    /// How many cores the program had in the base run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    base_cores: Option<u32>,
    /// How many cores it had in the scaled run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    scaled_cores: Option<u32>,
    /// How much work it did in the base run, in units of your choice: 120000
    #[arg(long, value_name = "UNITS")]
    base_work: Option<Work>,
    /// How much work it did in the scaled run
    #[arg(long, value_name = "UNITS")]
    scaled_work: Option<Work>,
    /// How long the base run took by the wall clock
    #[arg(long, value_name = "S", value_parser = inputs::positive)]
    base_seconds: Option<f64>,
    /// How long the scaled run took
    #[arg(long, value_name = "S", value_parser = inputs::positive)]
    scaled_seconds: Option<f64>,
    /// How many samples of the base profile are a second of processor time, if it counts samples
    #[arg(long, value_name = "HZ", value_parser = inputs::positive)]
    base_frequency: Option<f64>,
    /// How many samples of the scaled profile are a second of processor time
    #[arg(long, value_name = "HZ", value_parser = inputs::positive)]
    scaled_frequency: Option<f64>,
    /// The clock of the cores, by which the cycles of both profiles become time
    #[arg(long, value_name = "GHZ", value_parser = inputs::positive)]
    clock: Option<f64>,
}

/// How to read the profiles.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The event to compare, where a profile has several
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Symbols of the kernel that perf.data was recorded under, if it is not the one that runs
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,
    /// How much runs of the same program on the same cores differ, if you know it
    #[arg(long, value_name = "PERCENT", value_parser = inputs::positive)]
    run_noise: Option<f64>,
}

/// How to show the result.
#[derive(Debug, Args)]
pub(crate) struct Shown {
    /// Show so many rows of each table
    #[arg(long, value_name = "ROWS", default_value_t = 12)]
    top: usize,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    json: bool,
    /// Also write a report; its ending chooses the format: .html, .svg, .csv, .json or .folded;
    /// may be given several times
    #[arg(long, short, value_name = "FILE")]
    output: Vec<PathBuf>,
}

pub(crate) fn locate(arguments: &Arguments) -> Result<ExitCode, Failure> {
    match &arguments.command {
        Some(Command::Record(arguments)) => record::record(arguments),
        None => compare_files(&arguments.compare),
    }
}

fn compare_files(arguments: &Compare) -> Result<ExitCode, Failure> {
    let (Some(base_path), Some(scaled_path)) = (&arguments.base, &arguments.scaled) else {
        return Err(Failure::new("name two profiles: on few cores and on many"));
    };
    let files = files(&arguments.shown)?;
    let (facts, reading) = (&arguments.facts, &arguments.reading);
    let base = inputs::Known {
        cores: facts.base_cores,
        work: facts.base_work,
        seconds: facts.base_seconds,
        frequency: facts.base_frequency,
        clock_ghz: facts.clock,
    };
    let scaled = inputs::Known {
        cores: facts.scaled_cores,
        work: facts.scaled_work,
        seconds: facts.scaled_seconds,
        frequency: facts.scaled_frequency,
        clock_ghz: facts.clock,
    };
    let base = inputs::runs(base_path, &base, reading)?;
    let scaled = inputs::runs(scaled_path, &scaled, reading)?;
    let comparison = compare(&base, &scaled, &inputs::options(reading))?;
    let title = format!("{} against {}", scaled_path.display(), base_path.display());
    show(&comparison, &title, &arguments.shown, &files)?;
    Ok(ExitCode::SUCCESS)
}

/// What a file is to hold.
#[derive(Debug, Clone, Copy)]
enum Content {
    Report(kilocore_report::Format),
    Folded,
}

/// The files that are wanted. Refuses those that cannot be written before any work is done.
fn files(shown: &Shown) -> Result<Vec<(PathBuf, Content)>, Failure> {
    let of = |path: &PathBuf| {
        let is_folded =
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("folded"));
        if is_folded {
            output::check_folder(path)?;
            return Ok((path.clone(), Content::Folded));
        }
        let format = output::format_of(path)?;
        Ok((path.clone(), Content::Report(format)))
    };
    shown.output.iter().map(of).collect()
}

/// Writes the files and prints the table or the document.
fn show(
    comparison: &Comparison,
    title: &str,
    shown: &Shown,
    files: &[(PathBuf, Content)],
) -> Result<(), Failure> {
    let report =
        LocateReport { generated: output::generated(), title: title.to_owned(), comparison };
    for (path, content) in files {
        let text = match content {
            Content::Folded => folded(comparison),
            Content::Report(format) => report.render(*format)?,
        };
        output::write(path, &text)?;
    }
    if shown.json {
        return output::json(&Document::of(comparison));
    }
    output::print(&terminal::locate_table(comparison, shown.top, output::width()));
    Ok(())
}
