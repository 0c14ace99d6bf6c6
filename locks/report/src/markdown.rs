//! The reports in Markdown: what a terminal shows, with every lock and every column.

use kilocore_forecast::ForecastPoint;
use kilocore_show::curve_set::CurveSet;
use kilocore_show::markdown::{Document, code};
use kilocore_show::terminal::columns::{Align, Column};

use crate::fit_words::{command, sentences};
use crate::measured_words;
use crate::terminal::{fit, forecast, measured};
use crate::what_if::WhatIfTable;
use crate::without_curve::without_curve;
use crate::{CurvesReport, FitReport, ForecastReport};

/// A forecast: the verdict, how sure it is, the command to type, the curves, and the program's own
/// locks.
pub(crate) fn of_forecast(report: &ForecastReport<'_>) -> String {
    let forecast = report.forecast;
    let (machine, advice) = (&forecast.machine, &forecast.recommendation);
    let subject = format!(
        "Forecast of {}, on {}: {}",
        code(&forecast.command.join(" ")),
        machine.name,
        machine.title
    );
    let title = format!("Forecast for {}", machine.name);
    let mut document = Document::new(&title, &subject, &report.generated);
    document.heading(&advice.headline);
    document.paragraph(&advice.confidence);
    if let Some(command) = &advice.command {
        document.command(command);
    }
    if let Some(here) = &forecast.measured {
        if !here.points.is_empty() {
            document.columns(&measured_words::title(here), &measured::columns(&here.points));
        }
        measured_words::note(here).iter().for_each(|note| document.paragraph(note));
    }
    let set = CurveSet::new(&forecast.curves, Some(forecast.today), advice.shown());
    curves(&mut document, &forecast::throughput_title(&report.simulated()), &set);
    without_curve(forecast).iter().for_each(|others| document.paragraph(others));
    if !forecast.locks.is_empty() {
        let rows: Vec<_> =
            forecast.locks.iter().flat_map(|lock| forecast::rows_of(lock, code)).collect();
        let mut columns = forecast::lock_columns(&rows);
        columns.insert(0, Column::new("where", Align::Left, &rows, |row| row.place.clone()));
        document.columns(&forecast::locks_title(&forecast.locks, true), &columns);
    }
    if let Some(table) = WhatIfTable::new(forecast) {
        let title = format!("{} ({})", table.heading(), report.simulated().plain());
        document.columns(&title, &table.columns(code));
        document.paragraph(&table.note(code));
    }
    document.list("What there is to know", &advice.text);
    document.list("What the forecast assumes", &forecast.assumptions);
    document.finish()
}

/// Curves alone.
pub(crate) fn of_curves(report: &CurvesReport<'_>) -> String {
    let machine = report.machine;
    let subject = format!("Throughput of locks, on {}: {}", machine.name, machine.title);
    let title = format!("Locks on {}", machine.name);
    let mut document = Document::new(&title, &subject, &report.generated);
    document.paragraph(&format!("The workload: {}.", report.workload));
    let set = CurveSet::new(report.curves, None, None);
    curves(&mut document, &forecast::throughput_title(&report.simulated()), &set);
    document.finish()
}

fn curves(document: &mut Document, title: &str, set: &CurveSet<'_, ForecastPoint>) {
    let rows = forecast::all_rows(set);
    if rows.is_empty() {
        return;
    }
    let columns = forecast::curve_columns(set, &rows);
    document.columns(title, &columns);
    document.paragraph(&forecast::curve_notes(set, &rows, &columns));
}

/// A fit: the advice, what the workload looks like, the forecast, and the universal scalability law
/// beside it.
pub(crate) fn of_fit(report: &FitReport<'_>) -> String {
    let (outlook, machine) = (report.outlook, report.machine);
    let subject =
        format!("Forecast from measured throughputs, on {}: {}", machine.name, machine.title);
    let title = format!("Fit on {}", machine.name);
    let mut document = Document::new(&title, &subject, &report.generated);
    document.paragraph(&sentences(outlook).join(" "));
    document.command(&command(outlook));
    document.columns(fit::PARAMETERS, &fit::parameters(outlook));
    document.columns(&fit::throughput_title(report), &fit::forecast_columns(report));
    document.paragraph(&fit::notes(report));
    if !outlook.usl.is_empty() {
        document.columns(fit::LAWS, &fit::laws(outlook));
    }
    document.finish()
}
