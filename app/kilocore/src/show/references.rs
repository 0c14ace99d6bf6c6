//! Summarizing a trace of references.

use std::path::Path;

use kilocore_references::{About, Contents, Ending, Reader};
use kilocore_show::{Provenance, Table, number};
use serde::Serialize;

use kilocore_command_line::Failure;
use kilocore_command_line::reports::{self, Reports};

/// A trace in figures.
#[derive(Debug, Serialize)]
struct ReferencesDocument<'a> {
    provenance: Provenance,
    trace: &'a About,
    contents: &'a Contents,
}

/// Prints what a trace has in it.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let mut reader = Reader::open(file)?;
    for event in reader.by_ref() {
        event?;
    }
    let about = reader.about();
    let contents = reader.contents().copied().unwrap_or_default();
    let document =
        ReferencesDocument { provenance: Provenance::Measured, trace: about, contents: &contents };
    reports.print(document, || reports::in_words(&[table(about, &contents)]))
}

fn table(about: &About, contents: &Contents) -> Table {
    let row = |name: &str, value: String| (name.to_owned(), vec![value]);
    let ending = match contents.ending {
        Ending::Exited(status) => format!("with status {status}"),
        Ending::Killed(signal) => format!("by signal {signal}"),
        Ending::Replaced => "as another program took its place".to_owned(),
        Ending::Stopped => "unknown: the recording was stopped".to_owned(),
    };
    let references = contents.reads + contents.writes;
    let per_burst = references as f64 / contents.bursts.max(1) as f64;
    Table {
        title: format!("{} (measured {})", about.command.join(" "), about.recorded_at),
        front: "",
        headings: [""].into(),
        rows: vec![
            row("threads", number::count(contents.threads.into())),
            row("threads not recorded", number::count(contents.threads_unrecorded)),
            row("instructions", number::count(contents.instructions.0)),
            row("instructions of a quantum", number::count(about.quantum.into())),
            row("reads", number::count(contents.reads)),
            row("writes", number::count(contents.writes)),
            row("references of a burst", number::figure(per_burst)),
            row("events", number::count(contents.events)),
            row("ended", ending),
        ],
        below: vec![format!("Not in it: {}.", about.not_covered.join("; "))],
        ..Table::default()
    }
}
