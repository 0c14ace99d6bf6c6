//! A comparison of two profiles as tables: for the terminal, and in Markdown.

use crate::{Amounts, Comparison, Uncertainty};
use kilocore_show::markdown::{self, Document};
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
    for (title, all) in [(CODE, code(comparison)), (FUNCTIONS, functions(comparison))] {
        parts.push(format!("{title}\n{}", listed(comparison, &all, rows, width)));
    }
    parts.push(wrapped(&about_noise(comparison), width));
    if !comparison.warnings.is_empty() {
        let lines = comparison.warnings.iter().map(|warning| bullet(&warning.to_string(), width));
        parts.push(format!("Mind\n{}", lines.collect::<Vec<_>>().join("\n")));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// What stands above the two tables.
const CODE: &str =
    "The program's own code, with what libraries and the kernel did for it (measured)";
const FUNCTIONS: &str = "Functions by their own time (measured)";

/// The same in Markdown, after what the document begins with: every column, and so many rows of each table.
pub(crate) fn markdown(comparison: &Comparison, mut document: Document, most: usize) -> String {
    document.paragraph(&sentences(comparison).join(" "));
    for (title, all) in [(CODE, code(comparison)), (FUNCTIONS, functions(comparison))] {
        let (shown, hidden) = all.split_at(all.len().min(most));
        document.columns(title, &columns(comparison, shown, markdown::code));
        if !hidden.is_empty() {
            document.paragraph(&format!("… and {} more", hidden.len()));
        }
    }
    document.paragraph(&about_noise(comparison));
    document.list("Mind", &comparison.warnings);
    document.finish()
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

fn code(comparison: &Comparison) -> Vec<TableRow> {
    comparison
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
        .collect()
}

fn functions(comparison: &Comparison) -> Vec<TableRow> {
    comparison
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
        .collect()
}

fn note(amounts: Amounts) -> &'static str {
    match (amounts.is_new(), amounts.has_vanished()) {
        (true, _) => " new",
        (_, true) => " gone",
        _ => "",
    }
}

fn listed(comparison: &Comparison, all: &[TableRow], rows: usize, width: u16) -> String {
    let (shown, hidden) = all.split_at(all.len().min(rows));
    let name = |name: &str| shortened(&printable(name), NAME_WIDTH);
    let mut columns = columns(comparison, shown, name);
    fit(&mut columns, &DISPENSABLE, width.into());
    let table = table_of(&columns, width).trim_end().to_owned();
    match hidden.len() {
        0 => table,
        hidden => format!("{table}\n… and {hidden} more"),
    }
}

/// All columns of a table of these rows, of which the names are written by `name`.
fn columns(comparison: &Comparison, rows: &[TableRow], name: fn(&str) -> String) -> Vec<Column> {
    let works = comparison.works;
    let loss = |amounts: Amounts| amounts.times().loss(works).per_unit(works);
    let whole = comparison.total_loss();
    let mut columns = vec![
        Column::new("", Align::Left, rows, |row| {
            let mark = if row.uncertainty.above_noise { "●" } else { "○" };
            format!("{mark} {}{}", name(&row.name), row.note)
        }),
        Column::new("from", Align::Left, rows, |row| shortened(&printable(&row.object), 20)),
        Column::new("base", Align::Right, rows, |row| {
            per_unit(comparison, row.amounts.times().base_per_unit(works))
        }),
        Column::new("scaled", Align::Right, rows, |row| {
            per_unit(comparison, row.amounts.times().scaled_per_unit(works))
        }),
        Column::new("loss", Align::Right, rows, |row| signed(comparison, loss(row.amounts))),
        Column::new("±", Align::Right, rows, |row| per_unit(comparison, row.uncertainty.margin)),
        Column::new("of the loss", Align::Right, rows, |row| {
            let share = row.amounts.times().loss(works).share_of(whole);
            share
                .filter(|_| whole.numerator > 0)
                .map_or_else(|| number::NONE.into(), number::percent)
        }),
    ];
    if rows.iter().any(|row| row.inclusive.is_some()) {
        columns.push(Column::new("inclusive", Align::Right, rows, |row| {
            row.inclusive.map_or_else(String::new, |amounts| signed(comparison, loss(amounts)))
        }));
    }
    columns
}
