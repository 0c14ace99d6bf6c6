//! What a table of measured throughputs says.

use kilocore_figures::Provenance;
use std::collections::BTreeSet;
use std::path::Path;

use kilocore_forecast::fit::{LeftOut, MeasuredTable, Variant};
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
    assumed: &'a [String],
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
    let table = MeasuredTable::read(file).map_err(|error| Failure::from(error).about(file))?;
    let points = table.variants.iter().flat_map(|variant| {
        variant.points.iter().map(|measured| Point {
            lock: &variant.name,
            cores: measured.cores,
            throughput: measured.throughput,
        })
    });
    let document = MeasurementsDocument {
        schema: "kilocore-measurements-summary/1",
        provenance: table.provenance,
        points: points.collect(),
        assumed: &table.assumed,
        left_out: &table.left_out,
    };
    reports.print(&document, || in_words(file, &table))
}

/// A row for each lock or other variant, a column for each number of cores.
fn in_words(file: &Path, table: &MeasuredTable) -> String {
    let points = table.variants.iter().flat_map(|variant| &variant.points);
    let cores: BTreeSet<u32> = points.map(|point| point.cores).collect();
    let throughput = |variant: &Variant, cores: u32| {
        let found = variant.points.iter().find(|point| point.cores == cores);
        found.map_or_else(|| number::NONE.to_owned(), |point| number::figure(point.throughput))
    };
    let row = |variant: &Variant| {
        (variant.name.clone(), cores.iter().map(|&cores| throughput(variant, cores)).collect())
    };
    let headings: Vec<String> = cores.iter().map(|cores| format!("on {cores}")).collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let rows: Vec<(String, Vec<String>)> = table.variants.iter().map(row).collect();
    let mut text = format!(
        "{}: throughput by numbers of cores, in the unit of the measurements ({})\n{}",
        file.display(),
        table.provenance.name(),
        kilocore_show::terminal::figures_table("lock", &headings, &rows, output::width())
    );
    for how in &table.assumed {
        text.push_str(&format!("taken to be so: {how}\n"));
    }
    for left_out in &table.left_out {
        text.push_str(&format!("left out: {left_out}\n"));
    }
    kilocore_show::printable_document(&text)
}
