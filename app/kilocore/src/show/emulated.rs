//! What `emulate` wrote of a program.

use std::path::Path;

use kilocore_command_line::Failure;
use kilocore_command_line::reports::{self, Reports};
use kilocore_emulation::WrittenStacks;

/// Prints where the time went by function, on the most cores.
pub(super) fn show_stacks(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let stacks = WrittenStacks::read(&text(file)?);
    let stacks = stacks.map_err(|error| Failure::new(error.to_string()).about(file))?;
    reports.print(&stacks, || reports::in_words(&[stacks.table()]))
}

fn text(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| {
        let mend = "name a file that exists and may be read";
        Failure::new(format!("cannot read {}: {error}; {mend}", file.display()))
    })
}
