//! What was measured of a program on the cores that are here, for a page.

use kilocore_forecast::MeasuredHere;
use kilocore_show::{Mark, number};

use crate::measured_words::{heading, note, speedup};

/// The table of what was measured, or why there is none.
#[derive(Debug)]
pub(crate) struct MeasuredTable {
    /// Empty if there are no rows.
    pub(crate) title: String,
    pub(crate) rows: Vec<MeasuredRow>,
    pub(crate) note: Option<String>,
    pub(crate) measured: Mark,
}

/// A number of cores.
#[derive(Debug)]
pub(crate) struct MeasuredRow {
    pub(crate) cores: u32,
    pub(crate) throughput: String,
    pub(crate) speedup: String,
    pub(crate) busy: String,
}

impl MeasuredTable {
    pub(crate) fn new(here: &MeasuredHere, measured: Mark) -> Self {
        let rows = here.points.iter().map(|point| MeasuredRow {
            cores: point.cores,
            throughput: number::per_second(point.throughput),
            speedup: speedup(point),
            busy: format!("{:.1}", point.busy_cores),
        });
        let rows: Vec<MeasuredRow> = rows.collect();
        let title = if rows.is_empty() { String::new() } else { heading(here) };
        Self { title, rows, note: note(here), measured }
    }
}
