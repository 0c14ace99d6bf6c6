//! A study: points that were simulated or measured, and every way in which they are shown.

mod page;

use serde::Serialize;

use crate::markdown::Document;
use crate::terminal::columns::{Align, Column};
use crate::{Generated, Lines, Machine, Parameter, Points, Report, ReportError, Table, in_json};

/// What a study was made on.
#[derive(Debug, Clone)]
pub enum Host {
    /// A machine that was simulated.
    Machine(Machine),
    /// A real one, or one that no machine file describes.
    Real {
        /// The name of the machine.
        name: String,
        /// What the machine is, in a few words.
        title: String,
        /// What is known of it: what, and its value.
        facts: Vec<(&'static str, String)>,
    },
}

impl Host {
    /// One of which no more is known than its name and what it is.
    #[must_use]
    pub fn named(name: &str, title: String) -> Self {
        Host::Real { name: name.to_owned(), title, facts: Vec::new() }
    }

    fn name_and_title(&self) -> (&str, &str) {
        match self {
            Host::Machine(machine) => (&machine.name, &machine.title),
            Host::Real { name, title, .. } => (name, title),
        }
    }
}

/// What a study is.
#[derive(Debug, Clone)]
pub struct About {
    /// By whom, how and when it was made.
    pub generated: Generated,
    /// What kind of thing it is, in a few words.
    pub kind: &'static str,
    /// What it is of.
    pub title: String,
    /// The machine that it was made on.
    pub host: Host,
    /// What was simulated, if anything was.
    pub parameters: Vec<Parameter>,
}

/// Points that were simulated or measured. Whoever has said what they are has a [`Report`]: a page, a
/// chart, CSV, JSON and Markdown, besides tables for a terminal.
pub trait Study {
    /// Returns what it is.
    fn about(&self) -> About;

    /// Returns what it says, in paragraphs: the first is the answer, the others explain it. It stands
    /// before everything else. None, if nothing else is said.
    fn answer(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns everything, for programs. Its JSON is what users' scripts read.
    fn document(&self) -> impl Serialize;

    /// Returns the points, for spreadsheets.
    fn points(&self) -> Points;

    /// Returns the charts of its page. The first is the one that says most; small ones stand in pairs.
    fn charts(&self) -> Vec<Lines>;

    /// Returns those of them that an image shows, below each other; the first, if nothing else is said.
    fn charts_of_image(&self) -> Vec<Lines> {
        self.charts().into_iter().take(1).collect()
    }

    /// Returns the tables, for people.
    fn tables(&self) -> Vec<Table>;

    /// Returns those of the tables that a terminal shows; all, if nothing else is said.
    fn terminal_tables(&self) -> Vec<Table> {
        self.tables()
    }
}

impl<S: Study> Report for S {
    fn html(&self) -> Result<String, ReportError> {
        page::html(self)
    }

    fn svg(&self) -> Result<String, ReportError> {
        Lines::svg_of_all(&self.charts_of_image())
    }

    fn csv(&self) -> Result<String, ReportError> {
        self.points().csv()
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&self.document())
    }

    fn markdown(&self) -> Result<String, ReportError> {
        let about = self.about();
        let (name, title) = about.host.name_and_title();
        let subject = format!("{}, on {name}: {title}", about.kind);
        let mut document = Document::new(&about.title, &subject, &about.generated);
        if let Some((answer, others)) = self.answer().split_first() {
            document.heading(answer);
            others.iter().for_each(|paragraph| document.paragraph(paragraph));
        }
        self.tables().iter().for_each(|table| document.table(table));
        if !about.parameters.is_empty() {
            let column = |heading, cell: fn(&Parameter) -> &String| {
                Column::new(heading, Align::Left, &about.parameters, |one| cell(one).clone())
            };
            document.heading("What was simulated");
            document.columns(
                "",
                &[
                    column("parameter", |one| &one.name),
                    column("value", |one| &one.value),
                    column("source", |one| &one.source),
                ],
            );
        }
        Ok(document.finish())
    }
}
