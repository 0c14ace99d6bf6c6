//! Forecasts from a trace of references: which memory of a program should lie elsewhere, or have copies.

mod machine;

use std::path::Path;

use kilocore_placement::advice::{Adviser, Results};
use kilocore_references::Reader;

pub(super) use self::machine::Nodes;
use kilocore_command_line::reports::Reports;
use kilocore_command_line::{Failure, output};

/// Says which memory would gain by being moved, interleaved or replicated on a machine.
pub(super) fn forecast(
    trace: &Path,
    machine: Option<&str>,
    nodes: &Nodes,
    reports: &Reports,
) -> Result<(), Failure> {
    let files = reports.files_without_charts("advice")?;
    let (machine, setting) = nodes.setting(machine)?;
    let mut adviser = Adviser::new(&setting.options, &setting.policies)?;
    let mut reader = Reader::open(trace)?;
    for event in reader.by_ref() {
        adviser.take(&event?);
    }
    let thresholds = machine::thresholds(&machine);
    let advice = adviser.advice(&thresholds);
    let generated = output::generated();
    let results = Results::new(machine, setting, &reader, thresholds, advice, generated);
    reports.deliver_study(&files, &results)
}
