//! What `emulate` wrote of a program.

use std::path::Path;

use kilocore_command_line::Failure;
use kilocore_command_line::reports::{self, Reports};
use kilocore_emulation::{WrittenStacks, WrittenStudy};
use serde::Deserialize;

use crate::file_kind::unreadable;

/// Prints where the time went by function, on the most cores.
pub(super) fn show_stacks(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let stacks = WrittenStacks::read(&text(file)?);
    let stacks = stacks.map_err(|error| Failure::new(error.to_string()).about(file))?;
    reports.print(&stacks, || reports::in_words(&[stacks.table()]))
}

/// Prints how the program scales.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let no_study = |error: serde_json::Error| {
        Failure::new(format!(
            "not the document of an emulated program as this Kilocore writes it: {error}; emulate the program anew"
        ))
        .about(file)
    };
    let document: serde_json::Value = serde_json::from_str(&text(file)?).map_err(no_study)?;
    let study = WrittenStudy::deserialize(&document).map_err(no_study)?;
    reports.print(&document, || reports::answered(study.answer(), &study.tables()))
}

fn text(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))
}
