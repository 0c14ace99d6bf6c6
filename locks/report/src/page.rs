//! The HTML page.

use askama::Template;
use kilocore_figures::Shape;
use kilocore_forecast::ForecastPoint;
use kilocore_show::chart::{Chart, LARGE, SMALL};
use kilocore_show::curve_set::CurveSet;
use kilocore_show::drawn::{Drawn, Role};
use kilocore_show::page_parts::{Foot, Head, shape_sign, sparkline};
use kilocore_show::scale::Growth;
use kilocore_show::text::{printable, printable_document};
use kilocore_show::{Generated, Machine, Mark, Provenance, ReportError, number};

use crate::locks::{about, second_choice};
use crate::measured_page::MeasuredTable;
use crate::program::{self, ConditionRow, LockRow};
use crate::quantities::{ENERGY, THROUGHPUT, WAITING};
use crate::source::CurveReport;
use crate::waits_parts::{WAITS_STYLE, Waits};
use crate::what_if::WhatIfTable;
use crate::without_curve::without_curve;
use crate::{CurvesReport, ForecastReport};
use kilocore_show::described;

/// The page's content, ready for the template.
#[derive(Debug, Template)]
#[template(path = "report.html")]
struct Page<'a> {
    title: String,
    /// The program, or the workload in words.
    subject: String,
    machine_name: &'a str,
    machine_title: &'a str,
    generated: &'a Generated,
    advice: Option<Advice<'a>>,
    measured_here: Option<MeasuredTable>,
    tiles: Vec<Tile>,
    linear: Chart,
    logarithmic: Chart,
    waiting: Chart,
    energy: Chart,
    locks: Vec<Algorithm<'a>>,
    /// In the order of the report, for the legend and the table of points.
    curves: Vec<Drawn<'a, ForecastPoint>>,
    most_cores: u32,
    /// Whether every point has as many threads as cores.
    thread_per_core: bool,
    /// Which curves are of read-write locks.
    second_choice: Option<String>,
    /// What is said of locks without a curve.
    without_curve: Option<String>,
    what_if: Option<WhatIfTable<'a>>,
    program: Option<Program>,
    waits: Option<Waits>,
    machine: Option<Machine>,
    assumptions: &'a [String],
    simulated: Mark,
}

/// The advice, as the page shows it.
#[derive(Debug)]
struct Advice<'a> {
    headline: &'a str,
    confidence: &'a str,
    sentences: &'a [String],
    command: Option<&'a str>,
}

/// A figure worth seeing first.
#[derive(Debug)]
struct Tile {
    label: String,
    figure: String,
    note: String,
    mark: Mark,
}

/// A row of the table of lock algorithms.
#[derive(Debug)]
struct Algorithm<'a> {
    drawn: Drawn<'a, ForecastPoint>,
    /// What the algorithm is; empty if the registry does not know it.
    about: &'static str,
    sparkline: String,
    /// Throughput at the end against today's; not finite without a today.
    against_today: f64,
}

/// The program under study.
#[derive(Debug)]
struct Program {
    facts: Vec<String>,
    locks: Vec<LockRow>,
    conditions: Vec<ConditionRow>,
    measured: Mark,
}

/// The page of a forecast.
pub(crate) fn forecast(report: &ForecastReport<'_>) -> Result<String, ReportError> {
    let forecast = report.forecast;
    let recommendation = &forecast.recommendation;
    let command = forecast.command.join(" ");
    let set = CurveSet::new(&forecast.curves, Some(forecast.today), recommendation.shown());
    let program = Program {
        facts: program::facts(report),
        locks: forecast.locks.iter().map(LockRow::new).collect(),
        conditions: report.profile.map(program::conditions).unwrap_or_default(),
        measured: report.measured(),
    };
    let mut page = Page::new(report.into(), &set, &report.generated)?;
    page.title = format!("{command} on {}", forecast.machine.name);
    page.subject = command;
    page.machine_title = &forecast.machine.title;
    page.advice = Some(Advice {
        headline: &recommendation.headline,
        confidence: &recommendation.confidence,
        sentences: &recommendation.text,
        command: recommendation.command.as_deref(),
    });
    page.what_if = WhatIfTable::new(forecast);
    page.without_curve = without_curve(forecast);
    let here = forecast.measured.as_ref();
    page.measured_here = here.map(|here| MeasuredTable::new(here, report.measured()));
    page.program = Some(program);
    let times = report.profile.and_then(|profile| profile.runs.first()?.checked_times());
    page.waits = times.map(|times| Waits::new(&times, report.measured()));
    page.machine = report.machine.map(described);
    page.assumptions = &forecast.assumptions;
    page.finish()
}

/// The page of curves alone.
pub(crate) fn curves(report: &CurvesReport<'_>) -> Result<String, ReportError> {
    let set = CurveSet::new(report.curves, None, None);
    let mut page = Page::new(report.into(), &set, &report.generated)?;
    page.title = format!("Locks on {}", report.machine.name);
    page.subject = report.workload.clone();
    page.machine_title = &report.machine.title;
    page.machine = Some(described(report.machine));
    page.finish()
}

impl<'a> Page<'a> {
    /// What both kinds of page share.
    fn new(
        document: CurveReport<'a>,
        set: &CurveSet<'a, ForecastPoint>,
        generated: &'a Generated,
    ) -> Result<Self, ReportError> {
        if set.curves.is_empty() {
            return Err(ReportError::NoCurves);
        }
        let chart =
            |id, quantity, growth, size| Chart::of_curves(id, set, &quantity, growth, size, None);
        let simulated = document.simulated();
        let mut points = set.curves.iter().flat_map(|drawn| &drawn.curve.points);
        Ok(Self {
            title: String::new(),
            subject: String::new(),
            machine_name: document.machine_name(),
            machine_title: "",
            generated,
            advice: None,
            measured_here: None,
            tiles: tiles(set, &simulated),
            linear: chart("linear", THROUGHPUT, Growth::Linear, LARGE),
            logarithmic: chart("log", THROUGHPUT, Growth::Logarithmic, LARGE),
            waiting: chart("waiting", WAITING, Growth::Linear, SMALL),
            energy: chart("energy", ENERGY, Growth::Linear, SMALL),
            locks: algorithms(set),
            curves: set.curves.clone(),
            most_cores: set.most_cores(),
            without_curve: None,
            what_if: None,
            second_choice: second_choice(set),
            thread_per_core: points.all(|p| p.point.threads == p.point.cores),
            program: None,
            waits: None,
            machine: None,
            assumptions: &[],
            simulated,
        })
    }

    fn head(&self) -> Head<'_> {
        Head::of_curves(&self.title, &self.curves)
    }

    fn foot(&self) -> Foot<'_> {
        Foot { generated: self.generated }
    }

    /// Whether some locks are hidden until they are asked for.
    fn some_hidden(&self) -> bool {
        self.curves.iter().any(|drawn| !drawn.shown)
    }

    /// The page as text.
    fn finish(&self) -> Result<String, ReportError> {
        Ok(printable_document(&self.render()?))
    }
}

/// Today's lock, and the one to take or else the best.
fn tiles(set: &CurveSet<'_, ForecastPoint>, simulated: &Mark) -> Vec<Tile> {
    let tile = |label: String, drawn: &Drawn<'_, ForecastPoint>| {
        let curve = drawn.curve;
        let end = &curve.end().point;
        Tile {
            label,
            figure: format!("{} on {} cores", number::per_second(end.throughput_per_s), end.cores),
            note: match curve.shape {
                Shape::Scales => "still rising there".to_owned(),
                _ if curve.peak_cores == end.cores => {
                    "as many as it gets, no longer rising".to_owned()
                }
                Shape::Flattens | Shape::Collapses => format!(
                    "{} of its peak of {} on {} cores",
                    number::percent(curve.end_share),
                    number::per_second(curve.peak),
                    curve.peak_cores,
                ),
            },
            mark: Mark::new(simulated.kind, ""),
        }
    };
    let mut tiles = Vec::new();
    if let Some(today) = set.today() {
        tiles.push(tile(format!("Today’s lock: {}", today.curve.lock), today));
    }
    let recommended = set.curves.iter().find(|d| d.role == Role::Recommended);
    match (recommended, set.best_first().first()) {
        (Some(drawn), _) => tiles.push(tile(format!("Recommended: {}", drawn.curve.lock), drawn)),
        // Where the advice recommends none, a card must not.
        (None, Some(best)) if set.today().is_none() && set.curves.len() > 1 => {
            tiles.push(tile(format!("Best at the end: {}", best.curve.lock), best));
        }
        _ => {}
    }
    tiles
}

/// The rows of the table of algorithms, the best first.
fn algorithms<'a>(set: &CurveSet<'a, ForecastPoint>) -> Vec<Algorithm<'a>> {
    let today = set.today().map_or(f64::NAN, |d| d.curve.end().point.throughput_per_s);
    let row = |drawn: Drawn<'a, ForecastPoint>| Algorithm {
        about: about(drawn.curve.lock),
        sparkline: sparkline(drawn.curve, set.most_cores(), set.highest()),
        against_today: drawn.curve.end().point.throughput_per_s / today,
        drawn,
    };
    set.best_first().into_iter().map(row).collect()
}

/// The mark of figures that the profile leaves a range for.
fn inferred() -> Mark {
    Mark::new(Provenance::Estimated, "from the two measured runs")
}
