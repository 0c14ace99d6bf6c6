//! The page of what a program's references cost.

use kilocore_placement::Setting;
use kilocore_show::{Host, LinesReport, ReportError, Table};

use kilocore_command_line::output;

/// The page, about a machine of this name.
pub(super) fn page(
    title: String,
    machine: String,
    setting: &Setting,
    tables: Vec<Table>,
) -> Result<String, ReportError> {
    let options = &setting.options;
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
        parameters: setting.parameters(),
    };
    report.html()
}
