//! What a command gives out: a table for people, one JSON document for programs, and reports in files
//! by their endings.

use std::path::{Path, PathBuf};

use clap::Args;
use kilocore_show::terminal::wrapped;
use kilocore_show::{Format, Report, Study, Table};
use serde::Serialize;

use crate::{Failure, output};

/// How a result is wanted.
#[derive(Debug, Args)]
pub struct Reports {
    /// Print one JSON document and nothing else on standard output
    #[arg(long)]
    pub json: bool,
    /// Also write a report, in the format that the file's ending asks for. It is .html, .svg,
    /// .csv, .json or .md; may be given for several files
    #[arg(long, short, value_name = "FILE")]
    pub output: Vec<PathBuf>,
}

/// A file that is wanted, and what its ending asks for.
pub type ReportFile<'a> = (&'a Path, Format);

impl Reports {
    /// Returns the files that are wanted. Those that cannot be written are refused here, before any work
    /// is done.
    ///
    /// # Errors
    /// A message about the first whose ending names no format or that has no place.
    pub fn files(&self) -> Result<Vec<ReportFile<'_>>, Failure> {
        self.output.iter().map(|path| Ok((path.as_path(), output::format_of(path)?))).collect()
    }

    /// Returns the same of a result that has no chart, so that none of the files can be an image.
    ///
    /// # Errors
    /// A message about the first that cannot be written.
    pub fn files_without_charts(&self, what: &str) -> Result<Vec<ReportFile<'_>>, Failure> {
        let files = self.files()?;
        match files.iter().find(|(_, format)| *format == Format::Svg) {
            Some((path, _)) => Err(Failure::new(format!(
                "{}: {what} has no chart; choose a file that ends in .html, .csv, .json or .md",
                path.display()
            ))),
            None => Ok(files),
        }
    }

    /// Writes a report into each file, and prints the document if that is asked for, else the text.
    ///
    /// # Errors
    /// A message about what could not be made or written.
    pub fn deliver(
        &self,
        files: &[ReportFile<'_>],
        report: &impl Report,
        document: impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        write(files, report)?;
        self.print(document, text)
    }

    /// Writes a study into each file, and prints its document if that is asked for, else its answer and
    /// its tables.
    ///
    /// # Errors
    /// A message about what could not be made or written.
    pub fn deliver_study(
        &self,
        files: &[ReportFile<'_>],
        study: &impl Study,
    ) -> Result<(), Failure> {
        self.deliver(files, study, study.document(), || {
            answered(&study.answer(), &study.terminal_tables())
        })
    }

    /// Prints the document if that is asked for, else the text, on standard output.
    ///
    /// # Errors
    /// A figure that cannot be encoded.
    pub fn print(
        &self,
        document: impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json {
            return output::json(&document);
        }
        output::print(&text());
        Ok(())
    }
}

/// Writes a report into each file.
///
/// # Errors
/// A message about the first that could not be made or written.
pub fn write(files: &[ReportFile<'_>], report: &impl Report) -> Result<(), Failure> {
    for &(path, format) in files {
        output::write(path, &report.render(format)?)?;
    }
    Ok(())
}

/// Returns paragraphs, and tables below them, as wide as the screen.
#[must_use]
pub fn answered(paragraphs: &[String], tables: &[Table]) -> String {
    let width = output::width();
    let paragraphs = paragraphs.iter().map(|text| wrapped(text, width) + "\n\n");
    paragraphs.collect::<String>() + &in_words(tables)
}

/// Returns tables below each other, as wide as the screen.
#[must_use]
pub fn in_words(tables: &[Table]) -> String {
    let width = output::width();
    tables.iter().map(|table| table.plain(width)).collect::<Vec<_>>().join("\n")
}
