//! A comparison of two profiles for the terminal.

use crate::{Amounts, Comparison, Uncertainty};
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, Column, fit, table_of};
use kilocore_show::terminal::{NARROWEST, Style, bullet, wrapped};
use kilocore_show::text::{printable, shortened};

use crate::words::{about_noise, per_unit, sentences, signed};

/// Columns that are left out where there is no room for all, the first of them first.
const DISPENSABLE: [&str; 4] = ["from", "inclusive", "base", "scaled"];

/// Names are shortened to this.
const NAME_WIDTH: usize = 44;

/// The answer, the functions of the program and all functions, the worst first, so many of each
/// and at most `width` columns wide.
#[must_use]
pub fn locate_table(comparison: &Comparison, rows: usize, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let mut parts = vec![wrapped(&sentences(comparison).join(" "), width)];
    parts.push(format!(
        "The program's own code, with what libraries and the kernel did for it (measured)\n{}",
        code(comparison, rows, width)
    ));
    parts.push(format!(
        "Functions by their own time (measured)\n{}",
        functions(comparison, rows, width)
    ));
    parts.push(wrapped(&about_noise(comparison), width));
    if !comparison.warnings.is_empty() {
        let lines = comparison.warnings.iter().map(|warning| bullet(&warning.to_string(), width));
        parts.push(format!("Mind\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// A row: a name, where it is from, what it took, and what else there is to say.
struct TableRow {
    name: String,
    object: String,
    amounts: Amounts,
    uncertainty: Uncertainty,
    inclusive: Option<Amounts>,
    note: &'static str,
}

fn code(comparison: &Comparison, rows: usize, width: u16) -> String {
    let all: Vec<TableRow> = comparison
        .code
        .iter()
        .map(|row| {
            let function = row.function.map(|function| comparison.tree.function(function));
            TableRow {
                name: function
                    .map_or_else(|| "(no code of the program)".to_owned(), ToString::to_string),
                object: function.map_or("", |function| function.object_name()).to_owned(),
                amounts: row.charged,
                uncertainty: row.uncertainty,
                inclusive: None,
                note: note(row.charged),
            }
        })
        .collect();
    listed(comparison, all, rows, width)
}

fn functions(comparison: &Comparison, rows: usize, width: u16) -> String {
    let all: Vec<TableRow> = comparison
        .functions
        .iter()
        .filter(|row| row.exclusive != Amounts::default())
        .map(|row| {
            let function = comparison.tree.function(row.function);
            TableRow {
                name: function.to_string(),
                object: function.object_name().to_owned(),
                amounts: row.exclusive,
                uncertainty: row.exclusive_uncertainty,
                inclusive: Some(row.inclusive),
                note: note(row.inclusive),
            }
        })
        .collect();
    listed(comparison, all, rows, width)
}

fn note(amounts: Amounts) -> &'static str {
    match (amounts.is_new(), amounts.has_vanished()) {
        (true, _) => " new",
        (_, true) => " gone",
        _ => "",
    }
}

fn listed(comparison: &Comparison, mut all: Vec<TableRow>, rows: usize, width: u16) -> String {
    let hidden = all.len().saturating_sub(rows);
    all.truncate(rows);
    let works = comparison.works;
    let loss = |amounts: Amounts| amounts.times().loss(works).per_unit(works);
    let whole = comparison.total_loss();
    let mut columns = vec![
        Column::new("", Align::Left, &all, |row| {
            let mark = if row.uncertainty.above_noise { "●" } else { "○" };
            format!("{mark} {}{}", shortened(&printable(&row.name), NAME_WIDTH), row.note)
        }),
        Column::new("from", Align::Left, &all, |row| shortened(&printable(&row.object), 20)),
        Column::new("base", Align::Right, &all, |row| {
            per_unit(comparison, row.amounts.times().base_per_unit(works))
        }),
        Column::new("scaled", Align::Right, &all, |row| {
            per_unit(comparison, row.amounts.times().scaled_per_unit(works))
        }),
        Column::new("loss", Align::Right, &all, |row| signed(comparison, loss(row.amounts))),
        Column::new("±", Align::Right, &all, |row| per_unit(comparison, row.uncertainty.margin)),
        Column::new("of the loss", Align::Right, &all, |row| {
            let share = row.amounts.times().loss(works).share_of(whole);
            share
                .filter(|_| whole.numerator > 0)
                .map_or_else(|| number::NONE.into(), number::percent)
        }),
    ];
    if all.iter().any(|row| row.inclusive.is_some()) {
        columns.push(Column::new("inclusive", Align::Right, &all, |row| {
            row.inclusive.map_or_else(String::new, |amounts| signed(comparison, loss(amounts)))
        }));
    }
    fit(&mut columns, &DISPENSABLE, width.into());
    let table = table_of(&columns, width).trim_end().to_owned();
    if hidden > 0 { format!("{table}\n… and {hidden} more") } else { table }
}
