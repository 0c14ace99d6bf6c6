//! The page of what a program's references cost.

use kilocore_published::numa::Setting;
use kilocore_report::{Assumption, Host, LinesReport, ReportError, Table};

use crate::output;

/// The page, about a machine of this name.
pub(super) fn page(
    title: String,
    machine: String,
    setting: &Setting,
    tables: Vec<Table>,
) -> Result<String, ReportError> {
    let options = &setting.options;
    let assumptions = setting.parameters().into_iter().map(|parameter| Assumption {
        name: parameter.name.to_owned(),
        value: parameter.value,
        source: parameter.source.to_owned(),
    });
    let report = LinesReport {
        generated: output::generated(),
        kind: "A program's references, simulated",
        title,
        host: Host::Real {
            name: machine,
            title: format!("{} processors on {} memory nodes", options.processors(), options.nodes),
            facts: Vec::new(),
        },
        charts: Vec::new(),
        tables,
        assumptions: assumptions.collect(),
    };
    report.html()
}
