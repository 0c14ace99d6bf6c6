//! Finding the table of a page in Markdown.

use super::error::ReadError;

/// The table of a text that has one under Markdown's line of dashes, `|---|:-:|`, and how many lines stand
/// before it. None if there is no such line.
pub(super) fn table(text: &str) -> Result<Option<(u64, &str)>, ReadError> {
    let mut found: Option<Block> = None;
    let mut block: Option<Block> = None;
    let mut at = 0;
    for (line, content) in (0..).zip(text.split_inclusive('\n')) {
        if !content.contains('|') {
            block = None;
        } else if let Some(inside) = &mut block {
            inside.is_table |= is_rule(content);
            inside.end = at + content.len();
            match &found {
                Some(first) if inside.is_table && first.line != inside.line => {
                    let (first, second) = (first.line + 1, inside.line + 1);
                    return Err(ReadError::SeveralTables { first, second });
                }
                _ if inside.is_table => found = Some(*inside),
                _ => {}
            }
        } else {
            block = Some(Block { line, start: at, end: at + content.len(), is_table: false });
        }
        at += content.len();
    }
    Ok(found.map(|block| (block.line, &text[block.start..block.end])))
}

/// Lines with bars in them, one below the other.
#[derive(Debug, Clone, Copy)]
struct Block {
    /// The lines before it.
    line: u64,
    /// Where it is in the text.
    start: usize,
    end: usize,
    /// Whether dashes stand below its first line or a later one.
    is_table: bool,
}

/// Whether a line is the one below the names: dashes between bars, perhaps with colons.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('|')
        && line.contains("--")
        && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn a_table_is_found_among_other_text() {
        let page =
            "# Results\n\nSome a | b.\n\n| n | t |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n\nDone.\n";
        let found = Some((4, "| n | t |\n|---|--:|\n| 1 | 2 |\n| 3 | 4 |\n"));
        assert_eq!(table(page).unwrap(), found);
        assert_eq!(table("n | t\n--- | ---\n1 | 2").unwrap(), Some((0, "n | t\n--- | ---\n1 | 2")));
        for none in ["", "a,b\n1,2\n", "a\n---\nb\n", "|---|\n| 1 |\n"] {
            assert_eq!(table(none).unwrap(), None, "{none}");
        }
    }

    #[test]
    fn of_two_tables_none_is_chosen() {
        let page = "a | b\n--|--\n1 | 2\n\nc | d\n--|--\n";
        let error = table(page).expect_err("refused").to_string();
        assert!(error.contains("line 1") && error.contains("line 5"), "{error}");
    }
}
