//! Tables of aligned columns, without lines, that drop columns rather than break words.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// How many blanks stand between two columns.
const GAP: u16 = 2;

/// How a column stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the left, as text does.
    Left,
    /// To the right, as numbers do.
    Right,
}

/// A column of a table.
#[derive(Debug)]
pub struct Column {
    pub(crate) heading: String,
    pub(crate) align: Align,
    pub(crate) cells: Vec<String>,
}

impl Column {
    /// A column with a cell for each item.
    pub fn new<T>(heading: &str, align: Align, items: &[T], cell: impl Fn(&T) -> String) -> Self {
        Self { heading: heading.to_owned(), align, cells: items.iter().map(cell).collect() }
    }

    /// Whether it has this heading.
    pub fn is(&self, heading: &str) -> bool {
        self.heading == heading
    }

    /// What it takes, with the gap to the next.
    fn width(&self) -> usize {
        let texts = self.cells.iter().chain([&self.heading]);
        texts.map(|text| text.chars().count()).max().unwrap_or(0) + usize::from(GAP)
    }
}

/// What columns take together.
pub fn total_width(columns: &[Column]) -> usize {
    columns.iter().map(Column::width).sum()
}

/// What columns take together if the first one is wrapped to so many characters at most.
pub fn wrapped_width(columns: &[Column], most: usize) -> usize {
    let first = columns.first().map_or(0, Column::width);
    total_width(columns) - first + first.min(most)
}

/// Drops columns with these headings, the first of them first, until the others fit.
pub fn fit(columns: &mut Vec<Column>, dispensable: &[&str], width: usize) {
    for heading in dispensable {
        if total_width(columns) > width {
            columns.retain(|column| !column.is(heading));
        }
    }
}

/// The table of these columns, which have equally many cells.
pub fn table_of(columns: &[Column], width: u16) -> String {
    let headings: Vec<(&str, Align)> =
        columns.iter().map(|column| (column.heading.as_str(), column.align)).collect();
    let mut table = table(width, &headings);
    let most = usize::from(width);
    if total_width(columns) > most
        && let [first, others @ ..] = columns
        && let Some(room) = most.checked_sub(total_width(others)).filter(|room| *room > 0)
    {
        fix(&mut table, 0, room.min(first.width()) as u16);
    }
    for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
        table.add_row(columns.iter().map(|column| &column.cells[row]));
    }
    text_of(&table)
}

/// A table without rows; long text in it is wrapped.
pub fn table(width: u16, headings: &[(&str, Align)]) -> Table {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(headings.iter().map(|(heading, _)| heading));
    for (column, (_, align)) in table.column_iter_mut().zip(headings) {
        column.set_padding((0, GAP));
        if *align == Align::Right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Gives a column a fixed width, its gap included.
pub fn fix(table: &mut Table, column: usize, width: u16) {
    if let Some(column) = table.column_mut(column) {
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(width)));
    }
}

/// The text of a table, without blanks at the ends of lines.
pub fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
