//! Tables of figures.

use crate::terminal::columns::{Align, Column};
use crate::text::{printable, printable_document};
use crate::{Mark, markdown, terminal};

/// Figures in rows, in words ready to be shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// What a document that has this table in it calls it, among the tables of its study: `rates-8`.
    /// Letters, digits and hyphens. Empty if none asks for it.
    pub name: String,
    /// The title, which stands above the table.
    pub title: String,
    /// Where all figures come from; none if the title says it, as of a table with figures of two kinds.
    pub mark: Option<Mark>,
    /// What the rows are of.
    pub front: &'static str,
    /// What the columns are of.
    pub headings: Headings,
    /// What is in front of each row, and its figures. If there is none, the sentences stand alone.
    pub rows: Vec<(String, Vec<String>)>,
    /// What there is to say about it.
    pub below: Vec<String>,
}

/// What the columns of a table are of, without the one in front.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headings(Vec<String>);

impl std::ops::Deref for Headings {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl<const COLUMNS: usize> From<[&str; COLUMNS]> for Headings {
    fn from(headings: [&str; COLUMNS]) -> Self {
        headings.into_iter().collect()
    }
}

impl<T: Into<String>> FromIterator<T> for Headings {
    fn from_iter<I: IntoIterator<Item = T>>(headings: I) -> Self {
        Self(headings.into_iter().map(Into::into).collect())
    }
}

impl Table {
    /// Returns what stands above, with where the figures come from: `rates (simulated on machine m)`.
    #[must_use]
    pub fn title_with_mark(&self) -> String {
        let mark = self.mark.as_ref().map(|mark| format!(" ({})", mark.plain()));
        self.title.clone() + &mark.unwrap_or_default()
    }

    /// Returns the table for a terminal that is so many characters wide. What would move its cursor, in
    /// names and sentences from elsewhere, is replaced.
    #[must_use]
    pub fn plain(&self, width: u16) -> String {
        let mut text = String::new();
        if !self.rows.is_empty() {
            let row = |(front, figures): &(String, Vec<String>)| {
                (printable(front), figures.iter().map(|figure| printable(figure)).collect())
            };
            let rows: Vec<(String, Vec<String>)> = self.rows.iter().map(row).collect();
            let table = terminal::figures_table(self.front, &self.headings, &rows, width);
            text = format!("{}\n{table}", printable(&self.title_with_mark()));
        }
        for sentence in &self.below {
            text += &printable_document(sentence);
            text.push('\n');
        }
        text
    }

    /// Returns the rows as a table in Markdown, ending in a line end; nothing if there are none.
    #[must_use]
    pub fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let column = |(index, heading): (usize, &String)| {
            Column::new(heading, Align::Right, &self.rows, |row| {
                row.1.get(index).cloned().unwrap_or_default()
            })
        };
        let front = Column::new(self.front, Align::Left, &self.rows, |row| row.0.clone());
        let figures = self.headings.iter().enumerate().map(column);
        markdown::of_columns(&std::iter::once(front).chain(figures).collect::<Vec<_>>()) + "\n"
    }
}
