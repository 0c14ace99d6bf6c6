//! The page of an experiment that is not about locks.

use askama::Template;
use kilocore_machine::Description;
use kilocore_predict::ForecastPoint;

use crate::chart::Chart;
use crate::drawn::Drawn;
use crate::figures::{self, Group};
use crate::page_parts::{CHART_STYLE, PAGE_STYLE, SCRIPT};
use crate::text::{printable, printable_document};
use crate::{Generated, Lines, ReportError, terminal};

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

/// Something that was assumed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// What it is.
    pub name: String,
    /// Its value, with its unit.
    pub value: String,
    /// Where it comes from.
    pub source: String,
}

/// What an experiment was made on.
#[derive(Debug, Clone)]
pub enum Host<'a> {
    /// A machine that was simulated.
    Machine(&'a Description),
    /// A real one.
    Real {
        /// Its name.
        name: String,
        /// What it is.
        title: String,
        /// What is known of it: what, and its value.
        facts: Vec<(&'static str, String)>,
    },
}

/// An experiment for a page.
#[derive(Debug, Clone)]
pub struct LinesReport<'a> {
    /// By whom, how and when.
    pub generated: Generated,
    /// What kind of thing it is, in a few words.
    pub kind: &'static str,
    /// What it is of.
    pub title: String,
    /// The machine.
    pub host: Host<'a>,
    /// What is shown first; small ones stand in pairs.
    pub charts: Vec<Lines>,
    /// What comes after.
    pub tables: Vec<Table>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
}

/// The page's content, ready for the template.
#[derive(Debug, Template)]
#[template(path = "lines.html")]
struct LinesPage<'a> {
    title: &'a str,
    machine_name: &'a str,
    machine_title: &'a str,
    generated: &'a Generated,
    report: &'a LinesReport<'a>,
    charts: Vec<Chart>,
    pairs: Vec<Chart>,
    facts: &'a [(&'static str, String)],
    machine: Vec<Group>,
    /// Lines cannot be hidden.
    curves: [Drawn<'a, ForecastPoint>; 0],
}

impl LinesReport<'_> {
    /// The page: one file that needs no other.
    ///
    /// # Errors
    /// [`ReportError::NoCurves`] if a chart has no point, [`ReportError::Layout`] if the template
    /// cannot be filled in.
    pub fn html(&self) -> Result<String, ReportError> {
        if self.charts.iter().any(Lines::is_empty) {
            return Err(ReportError::NoCurves);
        }
        let (machine_name, machine_title, facts, machine) = match &self.host {
            Host::Machine(machine) => {
                (&machine.name, &machine.title, &[][..], figures::groups(machine))
            }
            Host::Real { name, title, facts } => (name, title, &facts[..], Vec::new()),
        };
        let charts = |small: bool| -> Vec<Chart> {
            let of_size = self.charts.iter().enumerate().filter(|(_, lines)| lines.small == small);
            of_size.map(|(i, lines)| Chart::of_lines(lines, format!("chart{i}"))).collect()
        };
        let page = LinesPage {
            title: &self.title,
            machine_name,
            machine_title,
            generated: &self.generated,
            report: self,
            charts: charts(false),
            pairs: charts(true),
            facts,
            machine,
            curves: [],
        };
        Ok(printable_document(&page.render()?))
    }
}
