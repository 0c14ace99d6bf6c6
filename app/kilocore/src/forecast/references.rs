//! Forecasts from a trace of references: which memory of a program should lie elsewhere, or have copies.

mod document;
mod machine;
mod page;
mod results;
mod tables;

use std::path::Path;

use kilocore_placement::advice::{Advice, Adviser};
use kilocore_references::{About, Ending, Reader};
use kilocore_show::{Report, ReportError, in_csv, in_json};

use self::document::{Document, csv_rows};
pub(super) use self::machine::Nodes;
use self::page::page;
use self::results::Results;
use kilocore_command_line::Failure;
use kilocore_command_line::reports::{self, Reports};

/// A stream that has ended.
struct WholeTrace {
    adviser: Adviser,
    about: About,
    ending: Ending,
    threads_unrecorded: u64,
}

/// Says which memory would gain by being moved, interleaved or replicated on a machine.
pub(super) fn forecast(
    trace: &Path,
    machine: Option<&str>,
    nodes: &Nodes,
    reports: &Reports,
) -> Result<(), Failure> {
    let files = reports.files_without_charts("advice")?;
    let (description, setting) = nodes.setting(machine)?;
    let whole = read(trace, Adviser::new(&setting.options, &setting.told)?)?;
    let thresholds = machine::thresholds(&description);
    let advice = whole.adviser.advice(&thresholds);
    let unseen = unseen(&whole.about, whole.ending, whole.threads_unrecorded, &advice);
    let results = Results { description, setting, about: whole.about, unseen, thresholds, advice };
    reports.deliver(&files, &results, Document::new(&results), || {
        reports::in_words(&tables::all(&results))
    })
}

fn read(trace: &Path, mut adviser: Adviser) -> Result<WholeTrace, Failure> {
    let mut reader = Reader::open(trace)?;
    for event in reader.by_ref() {
        adviser.take(&event?);
    }
    let contents = reader.contents().copied().unwrap_or_default();
    let about = reader.about().clone();
    let (ending, threads_unrecorded) = (contents.ending, contents.threads_unrecorded);
    Ok(WholeTrace { adviser, about, ending, threads_unrecorded })
}

/// What the figures do not cover, in words.
fn unseen(about: &About, ending: Ending, unrecorded: u64, advice: &Advice) -> Vec<String> {
    let mut unseen = Vec::new();
    if unrecorded > 0 {
        unseen.push(format!("{unrecorded} threads, as too many lived at a time"));
    }
    match ending {
        Ending::Exited(_) => {}
        Ending::Killed(signal) => {
            unseen.push(format!("the last moments of each thread, as signal {signal} ended it"));
        }
        Ending::Replaced => unseen.push("the program that was executed in its place".to_owned()),
        Ending::Stopped => unseen.push("what came after the recording was stopped".to_owned()),
    }
    if advice.forks > 0 {
        unseen.push(format!("the processes that it forked, {} times", advice.forks));
    }
    unseen.extend(about.not_covered.iter().cloned());
    unseen
}

impl Report for Results {
    fn html(&self) -> Result<String, ReportError> {
        let title = format!("Where the memory of {} should lie", self.about.command.join(" "));
        page(title, self.description.name.clone(), &self.setting, tables::all(self))
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
