//! What was measured of a program on the cores that are here, for the terminal.

use kilocore_forecast::MeasuredHere;
use kilocore_lock_profile::ScalingPoint;
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, Column, table_of};
use kilocore_show::terminal::wrapped;

use crate::measured_words::{note, speedup, title};

/// The points, or why there are none.
pub(super) fn measured(here: &MeasuredHere, width: u16) -> Option<String> {
    let note = note(here).map(|note| wrapped(&note, width));
    let points = &here.points;
    if points.is_empty() {
        return note;
    }
    let columns = columns(points);
    let table = format!("{}\n{}", wrapped(&title(here), width), table_of(&columns, width));
    Some(table.trim_end().to_owned() + &note.map_or(String::new(), |note| format!("\n{note}")))
}

/// A row for each number of cores.
pub(crate) fn columns(points: &[ScalingPoint]) -> [Column; 4] {
    [
        Column::new("cores", Align::Right, points, |point| point.cores.to_string()),
        Column::new("throughput", Align::Right, points, |point| {
            number::per_second(point.throughput)
        }),
        Column::new("× one core", Align::Right, points, speedup),
        Column::new("busy cores", Align::Right, points, |point| format!("{:.1}", point.busy_cores)),
    ]
}
