//! What can go wrong with a report.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a report could not be made or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The ending of the path names no format.
    #[error(
        "{}: a report is written by the ending of its name, and {}; end it in {}",
        path.display(),
        path.extension().map_or_else(
            || "this one has none".to_owned(),
            |ending| format!("`.{}` is not one of them", ending.to_string_lossy()),
        ),
        crate::Format::endings()
    )]
    Ending {
        /// The path asked for.
        path: PathBuf,
    },
    /// The file could not be written. What was there before is still there.
    #[error(
        "{}: cannot write the report: {cause}; choose a directory that exists and may be written to",
        path.display()
    )]
    Write {
        /// The path asked for.
        path: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// There is nothing to draw.
    #[error("the report has no curves: simulate at least one lock")]
    NoCurves,
    /// The profile does not say where the threads' time went.
    #[error(
        "the profile does not say where the threads' time went: record the program with \
         `--recorder watch`"
    )]
    NoTimes,
    /// A template could not be filled in.
    #[error("cannot lay out the report: {0}")]
    Layout(#[from] askama::Error),
    /// A row of the table could not be encoded.
    #[error("cannot encode the report as CSV: {0}")]
    Csv(#[from] ::csv::Error),
    /// The document could not be encoded.
    #[error("cannot encode the report as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
