//! Tables for the terminal.
//!
//! Plain text, so that the same serves a terminal, a pipe and a log. Every function takes a
//! [`Style`]: the columns that it may use (below [`NARROWEST`] it uses that), and whether it may
//! go beyond ASCII. A width alone does for one.

pub mod columns;
mod style;

use kilocore_figures::{Curve, CurvePoint};

use columns::{Align, Column, fix, table, table_of, text_of, wrapped_width};

use crate::Machine;
use crate::text::printable;

pub use style::{Style, ascii};

/// The least width that tables are laid out for, in columns.
pub const NARROWEST: u16 = 40;

/// Figures in rows: a name or number in front, and a figure under each heading. Columns that have
/// no room stand below the others, behind the same fronts.
#[must_use]
pub fn figures_table(
    front: &str,
    headings: &[impl AsRef<str>],
    rows: &[(String, Vec<String>)],
    style: impl Into<Style>,
) -> String {
    let style = style.into();
    let width = usize::from(style.width.max(NARROWEST));
    let fronts = || Column::new(front, Align::Left, rows, |row| row.0.clone());
    let mut blocks = vec![vec![fronts()]];
    for (index, heading) in headings.iter().map(AsRef::as_ref).enumerate() {
        let column = Column::new(heading, Align::Right, rows, |row| {
            row.1.get(index).cloned().unwrap_or_default()
        });
        let block = blocks.last_mut().expect("there is a first block");
        block.push(column);
        // What is in front may take two lines, rather than that a table is divided.
        if block.len() > 2 && wrapped_width(block, width * 2 / 5) > width {
            let column = block.pop().into_iter();
            blocks.push([fronts()].into_iter().chain(column).collect());
        }
    }
    let tables: Vec<String> = blocks.iter().map(|block| table_of(block, width as u16)).collect();
    style.shown(tables.join("\n"))
}

/// Words in rows below headings.
#[must_use]
pub fn words_table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
    style: impl Into<Style>,
) -> String {
    let style = style.into();
    let headings = headings.map(|name| (name, Align::Left));
    let mut table = table(style.width.max(NARROWEST), &headings);
    for row in rows {
        table.add_row(row.iter().map(|word| printable(word)));
    }
    style.shown(text_of(&table))
}

/// A machine in full: every figure and where it comes from.
#[must_use]
pub fn machine_table(machine: &Machine, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let mut parts = vec![wrapped(
        &format!("{}: {}", printable(&machine.name), printable(&machine.title)),
        width,
    )];
    for group in &machine.groups {
        let headings = [("", Align::Left), ("", Align::Right), ("", Align::Left)];
        let mut table = table(width, &headings);
        table.set_header::<[&str; 0]>([]);
        for row in &group.rows {
            table.add_row([row.name.to_owned(), row.value.clone(), row.mark.plain()]);
        }
        // Fixed, so that the tables of all groups line up.
        fix(&mut table, 0, FIGURE_NAME_WIDTH);
        fix(&mut table, 1, FIGURE_VALUE_WIDTH);
        parts.push(format!("{}\n{}", group.title, text_of(&table).trim_end()));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// Room for the longest name of a figure.
const FIGURE_NAME_WIDTH: u16 = 34;
/// Room for a figure and its unit; the line of counts is broken.
const FIGURE_VALUE_WIDTH: u16 = 13;

/// The bars of a sparkline, from the lowest to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The most bars of a curve; of more points every second, third… is shown.
const LONGEST_SPARKLINE: usize = 16;

/// A curve in a word: a bar for each point, on a scale that ends at `highest`.
pub fn sparkline<P: CurvePoint>(curve: &Curve<P>, highest: f64) -> String {
    let bar = |rate: f64| {
        let height = (rate / highest * BARS.len() as f64).ceil() as usize;
        BARS[height.clamp(1, BARS.len()) - 1]
    };
    // Counted from the end, which must be among those shown.
    let step = curve.points.len().div_ceil(LONGEST_SPARKLINE).max(1);
    let bars: Vec<char> =
        curve.points.iter().rev().step_by(step).map(|p| bar(p.throughput())).collect();
    bars.into_iter().rev().collect()
}

/// A blank at which no line is broken.
pub const NO_BREAK: char = '\u{a0}';

/// A point of a list, its lines after the first indented.
pub fn bullet(text: &str, width: u16) -> String {
    format!("- {}", wrapped(text, width - 2).replace('\n', "\n  "))
}

/// Text in lines of at most `width` columns, broken at blanks, but not at those that hold a figure
/// and its unit together.
pub fn wrapped(text: &str, width: u16) -> String {
    let mut lines: Vec<String> = Vec::new();
    let breaks = |c: char| c.is_whitespace() && c != NO_BREAK;
    for word in printable(text).split(breaks).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= usize::from(width) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n").replace(NO_BREAK, " ")
}

#[cfg(test)]
mod tests {
    use super::figures_table;

    #[test]
    fn columns_without_room_stand_below_behind_the_same_fronts() {
        let headings =
            ["a-long-heading-of-22-c", "another-heading-of-25-cha", "third-heading-of-24-char"];
        let rows = [("1".to_owned(), vec!["10".to_owned(), "20".to_owned(), "30".to_owned()])];
        let wide = figures_table("cores", &headings, &rows, 100);
        assert_eq!(wide.lines().count(), 2, "{wide}");
        let narrow = figures_table("cores", &headings, &rows, 60);
        let lines: Vec<&str> = narrow.lines().collect();
        assert_eq!(lines.len(), 5, "{narrow}");
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{narrow}");
        assert!(lines[0].contains(headings[1]) && !lines[0].contains(headings[2]), "{narrow}");
        assert!(lines[3].starts_with("cores") && lines[3].contains(headings[2]), "{narrow}");
        assert!(lines[4].starts_with('1') && lines[4].ends_with("30"), "{narrow}");
    }
}
