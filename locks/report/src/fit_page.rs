//! The page of a fit.

use askama::Template;
use kilocore_forecast::fit::{Outlook, OutlookPoint};
use kilocore_show::chart::{Chart, LARGE};
use kilocore_show::curve_set::{CurveSet, Given};
use kilocore_show::drawn::Drawn;
use kilocore_show::page_parts::{Foot, Head, shape_sign, sparkline};
use kilocore_show::scale::Growth;
use kilocore_show::text::printable_document;
use kilocore_show::{Generated, Machine, Mark, Provenance, ReportError, number};

use crate::FitReport;
use crate::fit_words::{self, both_names, command, degree, sentences};
use crate::locks;
use crate::quantities::FITTED;
use kilocore_show::described;

/// The page's content, ready for the template.
#[derive(Debug, Template)]
#[template(path = "fit.html")]
struct FitPage<'a> {
    title: String,
    machine_name: &'a str,
    machine_title: &'a str,
    generated: &'a Generated,
    outlook: &'a Outlook,
    sentences: Vec<String>,
    command: String,
    linear: Chart,
    logarithmic: Chart,
    /// In the order of the report.
    curves: Vec<Drawn<'a, OutlookPoint>>,
    /// The best at the end first.
    rows: Vec<CurveRow<'a>>,
    most_cores: u32,
    machine: Machine,
    simulated: Mark,
    estimated: Mark,
}

impl FitPage<'_> {
    fn head(&self) -> Head<'_> {
        Head::of_curves(&self.title, &self.curves)
    }

    fn foot(&self) -> Foot<'_> {
        Foot { generated: self.generated }
    }
}

/// A curve in the table.
#[derive(Debug)]
struct CurveRow<'a> {
    drawn: Drawn<'a, OutlookPoint>,
    sparkline: String,
}

impl CurveRow<'_> {
    fn name(&self) -> String {
        let first = self.drawn.curve.end();
        both_names(first.lock, (first.name != first.lock).then_some(first.name))
    }

    /// What the lock is.
    fn about(&self) -> &'static str {
        locks::about(self.drawn.curve.end().lock)
    }
}

/// The curves of a fit, the recommended one in its role, with what was measured beside them.
pub(crate) fn curve_set<'a>(report: &FitReport<'a>) -> CurveSet<'a, OutlookPoint> {
    let mut set = CurveSet::new(report.curves, None, Some(report.recommended()));
    for (index, curve) in report.curves.iter().enumerate() {
        let given = curve.points.iter().filter_map(|point| {
            Some(Given { index, cores: point.cores, throughput: point.given? })
        });
        set.given.extend(given);
    }
    // What was measured is shown, however many curves that makes.
    for drawn in &mut set.curves {
        drawn.shown |= set.given.iter().any(|given| given.index == drawn.style.index);
    }
    set
}

/// The page of a fit: one file that needs no other.
pub(crate) fn page(report: &FitReport<'_>) -> Result<String, ReportError> {
    let set = curve_set(report);
    if set.curves.is_empty() {
        return Err(ReportError::NoCurves);
    }
    let chart = |id, growth| Chart::of_curves(id, &set, &FITTED, growth, LARGE, None);
    let page = FitPage {
        title: format!("Fit on {}", report.machine.name),
        machine_name: &report.machine.name,
        machine_title: &report.machine.title,
        generated: &report.generated,
        outlook: report.outlook,
        sentences: sentences(report.outlook),
        command: command(report.outlook),
        linear: chart("linear", Growth::Linear),
        logarithmic: chart("log", Growth::Logarithmic),
        rows: set
            .best_first()
            .into_iter()
            .map(|drawn| CurveRow {
                sparkline: sparkline(drawn.curve, set.most_cores(), set.highest()),
                drawn,
            })
            .collect(),
        curves: set.curves.clone(),
        most_cores: set.most_cores(),
        machine: described(report.machine),
        simulated: report.simulated(),
        estimated: Mark::new(Provenance::Estimated, "from the measurements"),
    };
    Ok(printable_document(&page.render()?))
}
