//! A saved run of benchmarks, again.

use std::path::Path;

use crate::bench::{overview, page};
use crate::compare::bench::read;
use kilocore_command_line::Failure;
use kilocore_command_line::output;
use kilocore_command_line::reports::{self, Reports};

/// Prints a run, and writes reports of it.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let files = reports.files()?;
    let document = read(file)?;
    reports::write(&files, &page::Results(&document))?;
    reports.print(&document, || overview::in_words(&document, output::width()))
}
