//! The chart of throughput, for a file of its own.

use askama::Template;
use kilocore_figures::CurvePoint;
use kilocore_show::chart::{Chart, Heading, LARGE};
use kilocore_show::curve_set::CurveSet;
use kilocore_show::scale::Growth;
use kilocore_show::text::{printable_document, shortened};
use kilocore_show::{Quantity, ReportError};

use crate::fit_page;
use crate::quantities::{FITTED, THROUGHPUT};
use crate::source::CurveReport;

/// The most characters of a heading that fit over a chart.
const HEADING_WIDTH: usize = 100;

/// The chart of throughput of the curves that a report shows unless it is told otherwise.
pub(crate) fn render(document: CurveReport<'_>) -> Result<String, ReportError> {
    match document {
        CurveReport::Forecast(report) => {
            let forecast = report.forecast;
            let recommended = forecast.recommendation.shown();
            let set = CurveSet::new(&forecast.curves, Some(forecast.today), recommended);
            chart(document, set, &THROUGHPUT, &forecast.command.join(" "))
        }
        CurveReport::Curves(report) => {
            let set = CurveSet::new(report.curves, None, None);
            chart(document, set, &THROUGHPUT, &report.workload)
        }
        CurveReport::Fit(report) => {
            let set = fit_page::curve_set(report);
            chart(document, set, &FITTED, "Forecast from measured throughputs")
        }
    }
}

fn chart<P: CurvePoint>(
    document: CurveReport<'_>,
    set: CurveSet<'_, P>,
    quantity: &Quantity<P>,
    title: &str,
) -> Result<String, ReportError> {
    let set = set.only_shown();
    if set.curves.is_empty() {
        return Err(ReportError::NoCurves);
    }
    let title = shortened(title, HEADING_WIDTH);
    let heading = Some(Heading { title, mark: document.simulated() });
    let chart = Chart::of_curves("chart", &set, quantity, Growth::Linear, LARGE, heading);
    Ok(printable_document(&chart.render()?))
}
