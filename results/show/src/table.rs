//! Tables of figures.

use crate::terminal;
use crate::text::{printable, printable_document};

/// Figures in rows, in words ready to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// What stands above: says where the figures come from.
    pub title: String,
    /// What the rows are of.
    pub front: &'static str,
    /// What the columns are of.
    pub headings: Vec<&'static str>,
    /// What is in front of each row, and its figures. If there is none, the sentences stand alone.
    pub rows: Vec<(String, Vec<String>)>,
    /// What there is to say about it.
    pub below: Vec<String>,
}

impl Table {
    /// The table for a terminal that is so many characters wide. What would move its cursor, in
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
            text = format!("{}\n{table}", printable(&self.title));
        }
        for sentence in &self.below {
            text += &printable_document(sentence);
            text.push('\n');
        }
        text
    }
}
