//! The results in files: a page, a chart, CSV and JSON.

use kilocore_show::{Host, LinesReport, Report, ReportError, Table, described, in_csv, in_json};
use serde::Serialize;

use crate::simulated::document::{Document, csv_rows};
use crate::simulated::results::Results;
use crate::simulated::tables;

impl Results<'_> {
    /// Returns the results for programs, as one JSON document.
    #[must_use]
    pub fn document(&self) -> impl Serialize {
        Document::new(self)
    }

    /// Returns the results for people.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        tables::all(self)
    }
}

impl Report for Results<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page(self).html()
    }

    fn svg(&self) -> Result<String, ReportError> {
        self.chart().svg()
    }

    fn csv(&self) -> Result<String, ReportError> {
        in_csv(csv_rows(self))
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&Document::new(self))
    }
}

/// Everything on one page.
fn page(results: &Results<'_>) -> LinesReport {
    LinesReport {
        generated: results.generated.clone(),
        kind: "A page pool, simulated",
        title: format!("Page pools under {}", results.what()),
        host: Host::Machine(described(results.machine)),
        charts: if results.cores.len() > 1 { vec![results.chart()] } else { Vec::new() },
        tables: tables::all(results),
        parameters: results.setting.parameters(),
    }
}
