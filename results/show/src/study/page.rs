//! The page of a study.

use askama::Template;

use super::{About, Host, Study};
use crate::chart::Chart;
use crate::page_parts::{Foot, Head};
use crate::text::printable_document;
use crate::{Lines, Machine, Points, ReportError, Table};

/// The page's content, ready for the template.
#[derive(Debug, Template)]
#[template(path = "study.html")]
struct Page<'a> {
    about: &'a About,
    machine_name: &'a str,
    machine_title: &'a str,
    answer: Vec<String>,
    charts: Vec<Chart>,
    pairs: Vec<Chart>,
    tables: Vec<Table>,
    points: Points,
    facts: &'a [(&'static str, String)],
    machine: Option<&'a Machine>,
}

impl<'a> Page<'a> {
    fn head(&self) -> Head<'a> {
        Head::new(&self.about.title)
    }

    fn foot(&self) -> Foot<'a> {
        Foot { generated: &self.about.generated }
    }
}

pub(super) fn html(study: &impl Study) -> Result<String, ReportError> {
    let lines = study.charts();
    if lines.iter().any(Lines::is_empty) {
        return Err(ReportError::NoCurves);
    }
    let about = study.about();
    let (machine_name, machine_title) = about.host.name_and_title();
    let (facts, machine) = match &about.host {
        Host::Machine(machine) => (&[][..], Some(machine)),
        Host::Real { facts, .. } => (&facts[..], None),
    };
    let charts = |small: bool| -> Vec<Chart> {
        let of_size = lines.iter().enumerate().filter(|(_, lines)| lines.small == small);
        of_size.map(|(i, lines)| Chart::of_lines(lines, format!("chart{i}"))).collect()
    };
    let page = Page {
        about: &about,
        machine_name,
        machine_title,
        answer: study.answer(),
        charts: charts(false),
        pairs: charts(true),
        tables: study.tables(),
        points: study.points(),
        facts,
        machine,
    };
    Ok(printable_document(&page.render()?))
}
