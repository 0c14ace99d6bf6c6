//! A fit for the terminal: the advice, what the workload looks like, the forecast, and the
//! universal scalability law beside it.

use kilocore_forecast::fit::{LockLaw, Outlook, OutlookCurve};
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, Column, fit, table_of};
use kilocore_show::terminal::{NARROWEST, Style, sparkline, wrapped};

use crate::FitReport;
use crate::fit_words::{both_names, command, degree, law_peak, sentences};

/// Forecasts from measured throughputs, at most `width` columns wide.
#[must_use]
pub fn fit_table(report: &FitReport<'_>, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let outlook = report.outlook;
    let mut parts = vec![
        wrapped(&sentences(outlook).join(" "), width),
        format!("    {}", command(outlook)),
        format!("{PARAMETERS}\n{}", table_of(&parameters(outlook), width).trim_end()),
        format!("{}\n{}", throughput_title(report), forecasts(report, width)),
    ];
    if !outlook.usl.is_empty() {
        let laws = table_of(&laws(outlook), width);
        parts.push(format!("{}\n{}", wrapped(LAWS, width), laws.trim_end()));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// What stands above the parameters.
pub(crate) const PARAMETERS: &str =
    "What the workload looks like (estimated from the measurements)";
/// What stands above the universal scalability laws.
pub(crate) const LAWS: &str = "For comparison: the universal scalability law, fitted to each \
                               measured lock alone; it knows neither the lock nor the machine";

/// What stands above the forecasts.
pub(crate) fn throughput_title(report: &FitReport<'_>) -> String {
    let mark = report.simulated();
    format!("Throughput by lock, in the unit of the measurements ({})", mark.plain())
}

/// The columns of the table of parameters.
pub(crate) fn parameters(outlook: &Outlook) -> Vec<Column> {
    let pinned = &outlook.pinned;
    vec![
        Column::new("parameter", Align::Left, pinned, |p| p.parameter.to_owned()),
        Column::new("median", Align::Right, pinned, |p| number::figure(p.median)),
        Column::new("nine in ten between", Align::Right, pinned, |p| {
            format!("{} and {}", number::figure(p.low), number::figure(p.high))
        }),
        Column::new("pinned down", Align::Left, pinned, |p| degree(p).to_owned()),
    ]
}

/// Columns that are left out where there is no room for all, the first of them first.
const DISPENSABLE: [&str; 4] = ["measured", "falls from", "curve", "shape"];

/// All names of the lock of a curve.
fn names(curve: &OutlookCurve) -> String {
    let end = curve.end();
    both_names(end.lock, (end.name != end.lock).then_some(end.name))
}

fn forecasts(report: &FitReport<'_>, width: u16) -> String {
    let mut columns = forecast_columns(report);
    fit(&mut columns, &DISPENSABLE, width.into());
    table_of(&columns, width) + &wrapped(&notes(report), width)
}

/// The curves, the best at the end first.
fn best_first<'a>(report: &FitReport<'a>) -> Vec<&'a OutlookCurve> {
    let mut rows: Vec<&OutlookCurve> = report.curves.iter().collect();
    rows.sort_by(|a, b| b.end().throughput.total_cmp(&a.end().throughput));
    rows
}

/// The cores at the end of the best curve.
fn most_cores(best_first: &[&OutlookCurve]) -> u32 {
    best_first.first().map_or(0, |row| row.end().cores)
}

/// What the columns of the table of forecasts say.
pub(crate) fn notes(report: &FitReport<'_>) -> String {
    let rows = best_first(report);
    let read_off = rows.iter().any(|row| row.points.iter().any(|point| point.interpolated));
    let read_off = match read_off {
        true => {
            "; where a curve runs straight it is read off between simulated points (--thorough simulates all)"
        }
        false => "",
    };
    format!(
        "● recommended; curve: all on one scale; band: on {} cores; falls from: cores \
         from which a tenth of the peak is lost{read_off}",
        most_cores(&rows)
    )
}

/// All columns of the table of forecasts, the best lock at the end first.
pub(crate) fn forecast_columns(report: &FitReport<'_>) -> Vec<Column> {
    let rows = best_first(report);
    let most = most_cores(&rows);
    let recommended = report.recommended();
    let highest = rows.iter().map(|row| row.peak).fold(0.0, f64::max);
    vec![
        Column::new("lock", Align::Left, &rows, |row| {
            let mark = if row.end().name == recommended { " ●" } else { "" };
            names(row) + mark
        }),
        Column::new("curve", Align::Left, &rows, |row| sparkline(row, highest)),
        Column::new("shape", Align::Left, &rows, |row| row.shape.name().to_owned()),
        Column::new("peak", Align::Right, &rows, |row| number::figure(row.peak)),
        Column::new("at", Align::Right, &rows, |row| row.peak_cores.to_string()),
        Column::new("falls from", Align::Right, &rows, |row| {
            row.collapse_cores.map_or(String::new(), |cores| cores.to_string())
        }),
        Column::new(&format!("on {most}"), Align::Right, &rows, |row| {
            number::figure(row.end().throughput)
        }),
        Column::new("band", Align::Right, &rows, |row| {
            format!("{} to {}", number::figure(row.end().low), number::figure(row.end().high))
        }),
        Column::new("measured", Align::Right, &rows, |row| {
            let on = row.points.iter().filter(|point| point.given.is_some());
            let on: Vec<String> = on.map(|point| point.cores.to_string()).collect();
            match on.as_slice() {
                [] => String::new(),
                [first, .., last] if on.len() > 3 => format!("on {first} to {last}"),
                _ => format!("on {}", on.join(", ")),
            }
        }),
    ]
}

/// The columns of the table of laws.
pub(crate) fn laws(outlook: &Outlook) -> Vec<Column> {
    let laws = &outlook.usl;
    let end = |law: &LockLaw| law.points.last().map_or(f64::NAN, |point| point.throughput);
    let most = laws.iter().filter_map(|law| law.points.last()).map(|point| point.cores).max();
    vec![
        Column::new("lock", Align::Left, laws, |law| both_names(law.lock, law.alias.as_deref())),
        Column::new("λ", Align::Right, laws, |law| number::figure(law.law.lambda)),
        Column::new("σ", Align::Right, laws, |law| number::figure(law.law.sigma)),
        Column::new("κ", Align::Right, laws, |law| number::figure(law.law.kappa)),
        Column::new("peak at", Align::Right, laws, law_peak),
        Column::new(&format!("on {}", most.unwrap_or(0)), Align::Right, laws, |law| {
            number::figure(end(law))
        }),
    ]
}
