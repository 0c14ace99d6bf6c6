//! Markdown: tables, and documents of which a part is written anew.
//!
//! A document has its tables between marks, `<!-- NAME -->` and `<!-- end -->`, which no reader sees. What
//! makes the figures writes what stands between them ([`Marked`]); all else in the document is
//! a person's. A study's Markdown has such marks, too, so a document can take its tables over
//! ([`take_over`]).
//!
//! Every report as a whole is a [`Document`].

mod document;
mod marked;
mod prose;
mod studies;

pub use document::Document;
pub use marked::{Marked, MarkedError};
pub use prose::prose;
pub use studies::take_over;

use crate::terminal::columns::{Align, Column};
use crate::text::printable;

/// Returns a table of these columns, without a line end behind it. Bars and line ends in cells are escaped.
#[must_use]
pub fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = |align: &Align| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "--:".to_owned(),
    };
    let mut lines = vec![
        line(&mut columns.iter().map(|(heading, _)| cell(heading))),
        line(&mut columns.iter().map(|(_, align)| rule(align))),
    ];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(|text| cell(text)))));
    lines.join("\n")
}

fn cell(text: &str) -> String {
    printable(text).replace('|', "\\|")
}

/// Returns a table of these columns, whose cells are shown as [`prose`], without a line end behind it.
#[must_use]
pub fn of_columns(columns: &[Column]) -> String {
    let headings: Vec<_> = columns.iter().map(|column| (&*column.heading, column.align)).collect();
    let rows = columns.first().map_or(0, |column| column.cells.len());
    let row = |row: usize| columns.iter().map(|column| prose(&column.cells[row])).collect();
    table(&headings, &(0..rows).map(row).collect::<Vec<_>>())
}

/// Returns a name as code.
#[must_use]
pub fn code(name: &str) -> String {
    let name = printable(name);
    // A longer fence than any that is in it.
    match name.split(|c| c != '`').map(str::len).max().unwrap_or(0) {
        0 => format!("`{name}`"),
        longest => {
            let fence = "`".repeat(longest + 1);
            format!("{fence} {name} {fence}")
        }
    }
}

/// Returns a text with the marks of its name around it.
#[must_use]
pub fn marked(name: &str, text: &str) -> String {
    format!("{}{}\n{END}\n", mark(name), text.trim_end())
}

const END: &str = "<!-- end -->";

fn mark(name: &str) -> String {
    format!("<!-- {name} -->\n")
}

#[cfg(test)]
mod tests {
    use super::{code, table};
    use crate::terminal::columns::Align;

    #[test]
    fn cells_are_aligned_and_their_bars_and_line_ends_escaped() {
        let columns = [("a", Align::Left), ("b", Align::Right)];
        let text = table(&columns, &[vec!["x|y".to_owned(), "1\n2".to_owned()]]);
        assert_eq!(text, "| a | b |\n| --- | --: |\n| x\\|y | 1\u{fffd}2 |");
        assert_eq!(code("t"), "`t`");
    }
}
