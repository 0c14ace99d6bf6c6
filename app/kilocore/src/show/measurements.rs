//! What a table of measured throughputs says.

use kilocore_figures::Provenance;
use std::collections::BTreeSet;
use std::path::Path;

use kilocore_forecast::fit::{LeftOut, Measurement, Measurements};
use kilocore_show::number;
use serde::Serialize;

use kilocore_command_line::Failure;
use kilocore_command_line::output;
use kilocore_command_line::reports::Reports;

/// The table as it is understood.
#[derive(Debug, Serialize)]
struct MeasurementsDocument<'a> {
    schema: &'static str,
    provenance: Provenance,
    points: Vec<Point<'a>>,
    left_out: &'a [LeftOut],
}

/// A measured throughput, as a document has it.
#[derive(Debug, Serialize)]
struct Point<'a> {
    lock: &'a str,
    cores: u32,
    throughput: f64,
}

/// Prints what was measured, and what was left out.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let measurements =
        Measurements::read(file).map_err(|error| Failure::from(error).about(file))?;
    let points = measurements.points.iter().map(|measured| Point {
        lock: measured.name(),
        cores: measured.cores,
        throughput: measured.throughput,
    });
    let document = MeasurementsDocument {
        schema: "kilocore-measurements-summary/1",
        provenance: Provenance::Measured,
        points: points.collect(),
        left_out: &measurements.left_out,
    };
    reports.print(&document, || in_words(file, &measurements))
}

/// A row for each lock, a column for each number of cores.
fn in_words(file: &Path, measurements: &Measurements) -> String {
    let points = &measurements.points;
    let names: BTreeSet<&str> = points.iter().map(Measurement::name).collect();
    let cores: BTreeSet<u32> = points.iter().map(|point| point.cores).collect();
    let throughput = |name: &str, cores: u32| {
        let found = points.iter().find(|point| point.name() == name && point.cores == cores);
        found.map_or_else(|| number::NONE.to_owned(), |point| number::figure(point.throughput))
    };
    let row = |&name: &&str| {
        (name.to_owned(), cores.iter().map(|&cores| throughput(name, cores)).collect())
    };
    let headings: Vec<String> = cores.iter().map(|cores| format!("on {cores}")).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let rows: Vec<(String, Vec<String>)> = names.iter().map(row).collect();
    let mut text = format!(
        "{}: throughput by numbers of cores, in the unit of the measurements (measured)\n{}",
        file.display(),
        kilocore_show::terminal::figures_table("lock", &headings, &rows, output::width())
    );
    for left_out in &measurements.left_out {
        text.push_str(&format!("left out: {left_out}\n"));
    }
    kilocore_show::printable_document(&text)
}
