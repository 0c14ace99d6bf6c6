//! Finding the table of a page in Markdown.

use super::error::ReadError;

/// The table of a text that has one under Markdown's line of dashes, `|---|:-:|`, and how many lines stand
/// before it. None if there is no such line.
pub(super) fn table(text: &str) -> Result<Option<(u64, &str)>, ReadError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let rules: Vec<usize> = (1..lines.len()).filter(|&at| is_rule(lines[at])).collect();
    let is_of_table = |line: &&&str| line.contains('|');
    let begins = |&rule: &usize| {
        let above = lines[..rule].iter().rev().take_while(is_of_table).count();
        (above > 0).then_some(rule - above)
    };
    let mut starts: Vec<usize> = rules.iter().filter_map(begins).collect();
    starts.dedup();
    match starts.as_slice() {
        [] => Ok(None),
        &[start] => {
            let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
            let length = lines[start..].iter().take_while(is_of_table).count();
            let from = bytes(&lines[..start]);
            let table = &text[from..from + bytes(&lines[start..start + length])];
            Ok(Some((start as u64, table)))
        }
        &[first, second, ..] => {
            let (first, second) = (first as u64 + 1, second as u64 + 1);
            Err(ReadError::SeveralTables { first, second })
        }
    }
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
