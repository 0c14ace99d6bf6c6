//! The reports in every format.

use kilocore_forecast::ForecastPoint;
use kilocore_show::{Generated, Provenance, Report, ReportError, in_json};
use serde::Serialize;

use crate::{
    CurvesReport, FitReport, ForecastReport, chart_file, fit_page, markdown, page, spreadsheet,
};

impl Report for ForecastReport<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page::forecast(self)
    }

    fn svg(&self) -> Result<String, ReportError> {
        chart_file::render(self.into())
    }

    fn csv(&self) -> Result<String, ReportError> {
        spreadsheet::points(self.into(), &self.forecast.curves).csv()
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(self)
    }

    fn markdown(&self) -> Result<String, ReportError> {
        Ok(markdown::of_forecast(self))
    }
}

impl Report for FitReport<'_> {
    fn html(&self) -> Result<String, ReportError> {
        fit_page::page(self)
    }

    fn svg(&self) -> Result<String, ReportError> {
        chart_file::render(self.into())
    }

    fn csv(&self) -> Result<String, ReportError> {
        spreadsheet::fit(self.outlook).csv()
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(self)
    }

    fn markdown(&self) -> Result<String, ReportError> {
        Ok(markdown::of_fit(self))
    }
}

impl Report for CurvesReport<'_> {
    fn html(&self) -> Result<String, ReportError> {
        page::curves(self)
    }

    fn svg(&self) -> Result<String, ReportError> {
        chart_file::render(self.into())
    }

    fn csv(&self) -> Result<String, ReportError> {
        spreadsheet::points(self.into(), self.curves).csv()
    }

    fn json(&self) -> Result<String, ReportError> {
        in_json(&CurvesDocument {
            provenance: self.simulated().kind,
            machine: &self.machine.name,
            workload: &self.workload,
            seed: self.seed,
            generated: &self.generated,
            points: self.curves.iter().flat_map(|curve| &curve.points).collect(),
        })
    }

    fn markdown(&self) -> Result<String, ReportError> {
        Ok(markdown::of_curves(self))
    }
}

/// The points of curves alone, as one document.
#[derive(Serialize)]
struct CurvesDocument<'a> {
    provenance: Provenance,
    machine: &'a str,
    workload: &'a str,
    seed: u64,
    generated: &'a Generated,
    points: Vec<&'a ForecastPoint>,
}
