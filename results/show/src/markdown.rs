//! Markdown: tables, and documents of which a part is written anew.
//!
//! A document has its tables between marks, `<!-- NAME -->` and `<!-- end -->`, which no reader sees. What
//! makes the figures writes what stands between them ([`Marked`]); all else in the document is
//! a person's. A study's Markdown has such marks, too, so a document can take its tables over
//! ([`take_over`]).

mod document;
mod studies;

pub use document::{Marked, MarkedError};
pub use studies::take_over;

use crate::Generated;
use crate::terminal::columns::Align;
use crate::text::{printable, printable_document};

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

/// The characters of a line in [`preformatted`] tables.
pub const WIDTH: u16 = 100;

/// Returns a document of tables that are laid out as for a terminal of [`WIDTH`] characters.
#[must_use]
pub fn preformatted(title: &str, generated: &Generated, tables: &str) -> String {
    // A longer fence than any that is in it.
    let longest = tables.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "# {}\n\nMade by {} with `{}`.\n\n{fence}text\n{}\n{fence}\n",
        printable(title),
        generated.by,
        printable(&generated.command),
        printable_document(tables.trim_end()),
    )
}

/// Returns a name as code.
#[must_use]
pub fn code(name: &str) -> String {
    format!("`{name}`")
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
