//! A study in Markdown, to be put into an issue or into a document with marks.

use super::About;
use crate::markdown;
use crate::terminal::columns::Align;
use crate::text::printable;
use crate::{Parameter, Table};

/// Each table with a name has it as a mark, so that documents may take it over.
pub(super) fn markdown(about: &About, tables: &[Table]) -> String {
    let (name, title) = about.host.name_and_title();
    let mut blocks = vec![
        format!("# {}", printable(&about.title)),
        format!(
            "{}, on {}: {}. Made by {} with `{}`.",
            about.kind,
            printable(name),
            printable(title),
            about.generated.by,
            printable(&about.generated.command),
        ),
    ];
    for table in tables {
        if !table.rows.is_empty() {
            blocks.push(format!("**{}**", printable(&table.title_with_mark())));
            let rows = table.markdown();
            blocks.push(match &*table.name {
                "" => rows,
                name => markdown::marked(name, &rows),
            });
        }
        blocks.extend(table.below.iter().map(|sentence| printable(&sentence.replace('\n', " "))));
    }
    if !about.parameters.is_empty() {
        let columns = [("parameter", Align::Left), ("value", Align::Left), ("source", Align::Left)];
        let row = |Parameter { name, value, source }: &Parameter| {
            vec![name.clone(), value.clone(), source.clone()]
        };
        let rows: Vec<_> = about.parameters.iter().map(row).collect();
        blocks.push("## What was simulated".to_owned());
        blocks.push(markdown::table(&columns, &rows));
    }
    let blocks: Vec<&str> = blocks.iter().map(|block| block.trim_end()).collect();
    blocks.join("\n\n") + "\n"
}
