//! The page of an experiment that is not about locks.

use askama::Template;

use crate::chart::Chart;
use crate::page_parts::{Foot, Head};
use crate::text::printable_document;
use crate::{Generated, Lines, Machine, Parameter, ReportError, Table};

/// What an experiment was made on.
#[derive(Debug, Clone)]
pub enum Host {
    /// A machine that was simulated.
    Machine(Machine),
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
pub struct LinesReport {
    /// By whom, how and when.
    pub generated: Generated,
    /// What kind of thing it is, in a few words.
    pub kind: &'static str,
    /// What it is of.
    pub title: String,
    /// The machine.
    pub host: Host,
    /// What is shown first; small ones stand in pairs.
    pub charts: Vec<Lines>,
    /// What comes after.
    pub tables: Vec<Table>,
    /// What was simulated, if anything was.
    pub parameters: Vec<Parameter>,
}

/// The page's content, ready for the template.
#[derive(Debug, Template)]
#[template(path = "lines.html")]
struct LinesPage<'a> {
    title: &'a str,
    machine_name: &'a str,
    machine_title: &'a str,
    generated: &'a Generated,
    report: &'a LinesReport,
    charts: Vec<Chart>,
    pairs: Vec<Chart>,
    facts: &'a [(&'static str, String)],
    machine: Option<&'a Machine>,
}

impl<'a> LinesPage<'a> {
    fn head(&self) -> Head<'a> {
        Head::new(self.title)
    }

    fn foot(&self) -> Foot<'a> {
        Foot { generated: self.generated }
    }
}

impl LinesReport {
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
            Host::Machine(machine) => (&machine.name, &machine.title, &[][..], Some(machine)),
            Host::Real { name, title, facts } => (name, title, &facts[..], None),
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
        };
        Ok(printable_document(&page.render()?))
    }
}
