//! A study in Markdown, to be put into an issue or into a document with marks.

use std::fmt::Write;

use super::About;
use crate::markdown;
use crate::terminal::columns::Align;
use crate::text::printable;
use crate::{Parameter, Table};

/// Each table with a name has it as a mark, so that documents may take it over.
pub(super) fn markdown(about: &About, tables: &[Table]) -> String {
    let (name, title) = about.host.name_and_title();
    let mut text = format!("# {}\n\n", printable(&about.title));
    // Writing into a string cannot fail.
    let _ = writeln!(
        text,
        "{}, on {}: {}. Made by {} with `{}`.",
        about.kind,
        printable(name),
        printable(title),
        about.generated.by,
        printable(&about.generated.command),
    );
    for table in tables {
        text.push('\n');
        if !table.rows.is_empty() {
            let _ = writeln!(text, "**{}**\n", printable(&table.title_with_mark()));
            let rows = table.markdown();
            text +=
                &if table.name.is_empty() { rows } else { markdown::marked(&table.name, &rows) };
            text.push('\n');
        }
        for sentence in &table.below {
            let _ = writeln!(text, "{}  ", printable(&sentence.replace('\n', " ")));
        }
    }
    if !about.parameters.is_empty() {
        let columns = [("parameter", Align::Left), ("value", Align::Left), ("source", Align::Left)];
        let row = |Parameter { name, value, source }: &Parameter| {
            vec![name.clone(), value.clone(), source.clone()]
        };
        let rows: Vec<_> = about.parameters.iter().map(row).collect();
        let _ = write!(text, "\n## What was simulated\n\n{}\n", markdown::table(&columns, &rows));
    }
    text
}
