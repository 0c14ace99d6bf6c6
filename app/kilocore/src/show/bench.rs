//! A saved run of benchmarks, again.

use std::path::Path;

use crate::compare::bench::read;
use kilocore_command_line::Failure;
use kilocore_command_line::reports::Reports;

/// Prints a run, and writes reports of it.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let files = reports.files()?;
    let document = read(file)?;
    reports.deliver_study(&files, &document)
}
