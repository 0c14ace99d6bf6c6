//! Tables in Markdown.

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A table of these columns. Bars in cells are escaped.
pub(crate) fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let rule = |align: &Align| match align {
        Align::Left => "---".to_owned(),
        Align::Right => "--:".to_owned(),
    };
    let mut lines = vec![
        line(&mut columns.iter().map(|(heading, _)| (*heading).to_owned())),
        line(&mut columns.iter().map(|(_, align)| rule(align))),
    ];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(|c| c.replace('|', "\\|")))));
    lines.join("\n")
}

/// A name as code.
pub(crate) fn code(name: &str) -> String {
    format!("`{name}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_aligned_and_their_bars_escaped() {
        let text = table(
            &[("a", Align::Left), ("b", Align::Right)],
            &[vec!["x|y".to_owned(), "1".to_owned()]],
        );
        assert_eq!(text, "| a | b |\n| --- | --: |\n| x\\|y | 1 |");
        assert_eq!(code("t"), "`t`");
    }
}
