//! `kilocore-lab numa --trace`: what the references of a real program cost under each policy.

mod document;
mod results;
mod tables;

use std::path::Path;

use document::{Document, csv_rows};
use kilocore_command_line::reports::{ReportFile, Reports, in_words};
use kilocore_command_line::{Failure, output};
use kilocore_lab::numa::Replay;
use kilocore_references::Reader;
use kilocore_show::{Host, LinesReport, Report, ReportError, in_csv, in_json};
use results::Results;

/// Gives the references of a trace to all policies, and their outcomes out.
pub(super) fn simulate(
    trace: &Path,
    mut replay: Replay,
    machine: Option<&str>,
    reports: &Reports,
    files: &[ReportFile<'_>],
) -> Result<(), Failure> {
    let mut reader = Reader::open(trace)?;
    for event in reader.by_ref() {
        replay.take(&event?);
    }
    let outcomes = replay.outcomes();
    let results = Results {
        setting: replay.setting(),
        machine,
        about: reader.about(),
        threads: replay.threads(),
        outcomes: &outcomes,
    };
    reports.deliver(files, &results, Document::new(&results), || in_words(&tables::all(&results)))
}

impl Report for Results<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page(self).html()
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

/// Everything on one page.
fn page(results: &Results<'_>) -> LinesReport {
    let options = &results.setting.options;
    LinesReport {
        generated: output::generated(),
        kind: "A program's references, simulated",
        title: format!("Where the pages of {} lie", results.about.command.join(" ")),
        host: Host::Real {
            name: results.machine_name().to_owned(),
            title: format!("{} processors on {} memory nodes", options.processors(), options.nodes),
            facts: Vec::new(),
        },
        charts: Vec::new(),
        tables: tables::all(results),
        parameters: results.setting.parameters(),
    }
}
