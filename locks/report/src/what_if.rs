//! What changes of the program would bring, as a table.

use kilocore_forecast::{Change, Forecast, READ_ONLY, WhatIf};
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, Column, table_of, total_width};
use kilocore_show::terminal::wrapped;
use kilocore_show::text::{printable, shortened_apart};

/// The least room for a place.
const LEAST_PLACE: usize = 24;

/// The table of a forecast, if changes were tried.
#[derive(Debug)]
pub(crate) struct WhatIfTable<'a> {
    forecast: &'a Forecast,
    rows: &'a [WhatIf],
}

impl<'a> WhatIfTable<'a> {
    pub(crate) fn new(forecast: &'a Forecast) -> Option<Self> {
        let rows = &forecast.what_if[..];
        (!rows.is_empty()).then_some(Self { forecast, rows })
    }

    /// What stands above it.
    pub(crate) fn heading(&self) -> String {
        let cores = self.rows[0].cores;
        format!("What if its source were changed: throughput on {cores} cores against today's")
    }

    /// What the columns say, and what is assumed.
    pub(crate) fn note(&self, name: fn(&str) -> String) -> String {
        let has = |wanted: fn(Change) -> bool| self.rows.iter().any(|row| wanted(row.change));
        let mut notes = vec!["In brackets: what the profile and chance leave open".to_owned()];
        if let Some(row) = self.of_the_only_lock() {
            notes.push(format!("it: the lock {}", self.place(row, name)));
        }
        if has(|change| matches!(change, Change::Split(_))) {
            notes.push("parts of a lock are taken to be used equally".to_owned());
        }
        if has(|change| change == Change::ReadersShare) {
            notes.push(format!(
                "that {} of the acquisitions only read is an example: no profile shows it",
                number::percent(READ_ONLY)
            ));
        }
        if let Some(lock) = self.forecast.recommendation.lock {
            let gain = number::multiple(self.forecast.recommendation.gain);
            notes.push(format!("for comparison, {lock} without a change of the source: {gain}"));
        }
        notes.join("; ")
    }

    /// A row of the only lock that is changed, if there is but one.
    fn of_the_only_lock(&self) -> Option<&WhatIf> {
        let mut of_locks = self.rows.iter().filter(|row| row.lock.is_some());
        let first = of_locks.next()?;
        of_locks.all(|row| row.lock == first.lock).then_some(first)
    }

    /// Whether rows are of several locks, so that each has to say of which.
    pub(crate) fn of_several_locks(&self) -> bool {
        self.rows.iter().any(|row| row.lock.is_some()) && self.of_the_only_lock().is_none()
    }

    /// Where the changed lock is, as `name` writes names from the program.
    fn place(&self, row: &WhatIf, name: fn(&str) -> String) -> String {
        let lock = row.lock.and_then(|lock| self.forecast.locks.get(lock));
        lock.map_or_else(String::new, |lock| match lock.acquired_at.first() {
            Some(at) => format!("acquired at {}", name(&at.place)),
            None => format!("made at {}", name(&lock.place)),
        })
    }

    /// The rows for a page: the change, the gain with its band, and the place of the lock.
    pub(crate) fn rows(&self) -> Vec<[String; 3]> {
        let cells = |row: &WhatIf| [words(row.change), gain(row), self.place(row, printable)];
        self.rows.iter().map(cells).collect()
    }

    /// All columns, with places in full.
    pub(crate) fn columns(&self, name: fn(&str) -> String) -> Vec<Column> {
        let mut columns = self.figures();
        if self.of_several_locks() {
            let place = |row: &WhatIf| self.place(row, name);
            columns.push(Column::new("of the lock", Align::Left, self.rows, place));
        }
        columns
    }

    fn figures(&self) -> Vec<Column> {
        vec![
            Column::new("change", Align::Left, self.rows, |row| words(row.change)),
            Column::new("×", Align::Right, self.rows, gain),
        ]
    }

    /// The table for a terminal.
    pub(crate) fn text(&self, title: &str, width: u16) -> String {
        let mut columns = self.figures();
        let room = usize::from(width).saturating_sub(total_width(&columns) + 2);
        let places: Vec<String> = self.rows.iter().map(|row| self.place(row, printable)).collect();
        if self.of_several_locks() && room >= LEAST_PLACE {
            let places: Vec<&str> = places.iter().map(String::as_str).collect();
            let places = shortened_apart(&places, room);
            columns.push(Column::new("of the lock", Align::Left, &places, Clone::clone));
        }
        let table = table_of(&columns, width);
        format!("{}\n{}{}", wrapped(title, width), table, wrapped(&self.note(printable), width))
    }
}

/// The gain with its band.
fn gain(row: &WhatIf) -> String {
    let [gain, low, high] = [row.gain.gain, row.gain.low, row.gain.high].map(number::times);
    format!("{gain} ({low}–{high})")
}

/// What is changed.
fn words(change: Change) -> String {
    match change {
        Change::HalfAsLong => "half as much done under it".to_owned(),
        Change::HalfBefore => "half of the work done before it".to_owned(),
        Change::Split(parts) => format!("split into {parts}"),
        Change::ReadersShare => "readers share it".to_owned(),
        Change::PerThread => "one for each thread, added up".to_owned(),
        Change::HalfTheBarriers => "half as many barriers".to_owned(),
        Change::HalfTheSerialPart => "serial part half as long".to_owned(),
    }
}
