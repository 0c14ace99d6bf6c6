//! Comparing sampled profiles: which functions stop a program from scaling.

use std::path::{Path, PathBuf};

use clap::Args;
use kilocore_locate::{
    Comparison, ComparisonDocument, LocateReport, Work, compare, folded, locate_table,
};
use kilocore_show::Report;

use super::inputs::{self, Reading};
use kilocore_command_line::Failure;
use kilocore_command_line::output;

/// What the profiles do not say.
#[derive(Debug, Args)]
pub(super) struct RunFacts {
    /// How many cores the program had in the base run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) base_cores: Option<u32>,
    /// How many cores it had in the scaled run
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) scaled_cores: Option<u32>,
    /// How much work it did in the base run, in units of your choice: 120000
    #[arg(long, value_name = "UNITS")]
    pub(super) base_work: Option<Work>,
    /// How much work it did in the scaled run
    #[arg(long, value_name = "UNITS")]
    pub(super) scaled_work: Option<Work>,
    /// How long the base run took by the wall clock
    #[arg(long, value_name = "S", value_parser = inputs::positive)]
    pub(super) base_seconds: Option<f64>,
    /// How long the scaled run took
    #[arg(long, value_name = "S", value_parser = inputs::positive)]
    pub(super) scaled_seconds: Option<f64>,
    /// How many samples of the base profile are a second of processor time, if it counts samples
    #[arg(long, value_name = "HZ", value_parser = inputs::positive)]
    pub(super) base_frequency: Option<f64>,
    /// How many samples of the scaled profile are a second of processor time
    #[arg(long, value_name = "HZ", value_parser = inputs::positive)]
    pub(super) scaled_frequency: Option<f64>,
    /// The clock of the cores, by which the cycles of both profiles become time
    #[arg(long, value_name = "GHZ", value_parser = inputs::positive)]
    pub(super) clock: Option<f64>,
}

/// Rows of each table, if nothing is said.
pub(super) const ROWS: usize = 12;

/// How to show the result.
#[derive(Debug, Args)]
pub(crate) struct ResultOptions {
    /// Show so many rows of each table [default: 12]
    #[arg(long, value_name = "ROWS")]
    pub(super) top: Option<usize>,
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a report, in the format that the file's ending asks for. It is .html, .svg, .csv,
    /// .json, .md or .folded; may be given for several files
    #[arg(long, short, value_name = "FILE")]
    pub(super) output: Vec<PathBuf>,
}

/// Compares the profiles of two paths, each a profile or a folder of such.
pub(super) fn compare_files(
    base_path: &Path,
    scaled_path: &Path,
    facts: &RunFacts,
    reading: &Reading,
    shown: &ResultOptions,
) -> Result<(), Failure> {
    let files = files(shown)?;
    let base = inputs::GivenFacts {
        cores: facts.base_cores,
        work: facts.base_work,
        seconds: facts.base_seconds,
        frequency: facts.base_frequency,
        clock_ghz: facts.clock,
    };
    let scaled = inputs::GivenFacts {
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
    show(&comparison, &title, shown, &files)
}

/// What a file is to hold.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FileContent {
    Report(kilocore_show::Format),
    Folded,
}

/// The files that are wanted. Refuses those that cannot be written before any work is done.
pub(crate) fn files(shown: &ResultOptions) -> Result<Vec<(PathBuf, FileContent)>, Failure> {
    let of = |path: &PathBuf| {
        let is_folded =
            path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("folded"));
        if is_folded {
            output::check_folder(path)?;
            return Ok((path.clone(), FileContent::Folded));
        }
        let format = output::format_of(path)?;
        Ok((path.clone(), FileContent::Report(format)))
    };
    shown.output.iter().map(of).collect()
}

/// Writes the files and prints the table or the document.
pub(crate) fn show(
    comparison: &Comparison,
    title: &str,
    shown: &ResultOptions,
    files: &[(PathBuf, FileContent)],
) -> Result<(), Failure> {
    let report =
        LocateReport { generated: output::generated(), title: title.to_owned(), comparison };
    for (path, content) in files {
        let text = match content {
            FileContent::Folded => folded(comparison),
            FileContent::Report(format) => report.render(*format)?,
        };
        output::write(path, &text)?;
    }
    if shown.json {
        return output::json(&ComparisonDocument::of(comparison));
    }
    output::print(&locate_table(comparison, shown.top.unwrap_or(ROWS), output::width()));
    Ok(())
}
