//! A forecast for the terminal: the verdict, how sure it is, the command to type, the curves on one
//! scale, and the program's own locks.

use kilocore_forecast::{Curve, Forecast, ForecastLock, ForecastPoint, LinesSource};
use kilocore_show::alike::{Alike, MOST_SHOWN, shown};
use kilocore_show::curve_set::CurveSet;
use kilocore_show::drawn::{Drawn, Role};
use kilocore_show::terminal::columns::{Align, Column, fit, table_of, total_width};
use kilocore_show::terminal::{NARROWEST, Style, bullet, sparkline, wrapped};
use kilocore_show::text::{printable, shortened_apart};
use kilocore_show::{Mark, number};

use super::measured::measured;
use crate::locks::second_choice;
use crate::what_if::WhatIfTable;
use crate::without_curve::without_curve;

/// A forecast, at most as wide as `style` has it but for the command. All locks have a row if `all`
/// is set; else the most telling ones, those that do alike together.
#[must_use]
pub fn forecast_table(forecast: &Forecast, style: impl Into<Style>, all: bool) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let advice = &forecast.recommendation;
    let mut parts = vec![format!(
        "{}\n{}",
        style.strong(&wrapped(&advice.headline, width)),
        wrapped(&advice.confidence, width)
    )];
    if let Some(command) = &advice.command {
        // Not wrapped: it is to be copied.
        parts.push(format!("    {}", printable(command)));
    }
    parts.extend(forecast.measured.as_ref().and_then(|here| measured(here, width)));
    parts.extend(curves(forecast, width, all));
    parts.extend(own_locks(forecast, width, all));
    parts.extend(what_if(forecast, width));
    parts.extend(list("What there is to know", &advice.text, width));
    parts.extend(list("What the forecast assumes", &forecast.assumptions, width));
    style.shown(parts.join("\n\n") + "\n")
}

/// Curves by lock, the best at the end first.
#[must_use]
pub fn curves_table(curves: &[Curve], style: impl Into<Style>) -> String {
    let style = style.into();
    let set = CurveSet::new(curves, None, None);
    style.shown(curve_rows(&set, &all_rows(&set), style.width.max(NARROWEST)) + "\n")
}

/// A row for every curve, the best at the end first.
pub(crate) fn all_rows<'a>(set: &CurveSet<'a, ForecastPoint>) -> Vec<Alike<'a, ForecastPoint>> {
    set.best_first().into_iter().map(Alike::alone).collect()
}

/// What stands above the curves.
pub(crate) fn throughput_title(mark: &Mark) -> String {
    format!("Throughput by lock, sections per second ({})", mark.plain())
}

fn list(title: &str, texts: &[String], width: u16) -> Option<String> {
    let lines: Vec<String> = texts.iter().map(|text| bullet(text, width)).collect();
    (!texts.is_empty()).then(|| format!("{title}\n{}", lines.join("\n")))
}

fn what_if(forecast: &Forecast, width: u16) -> Option<String> {
    let table = WhatIfTable::new(forecast)?;
    let mark = Mark::simulated(&forecast.machine.name, forecast.seed);
    Some(table.text(&format!("{} ({})", table.heading(), mark.plain()), width))
}

fn curves(forecast: &Forecast, width: u16, all: bool) -> Option<String> {
    let recommended = forecast.recommendation.shown();
    let set = CurveSet::new(&forecast.curves, Some(forecast.today), recommended);
    let every = if all { all_rows(&set) } else { kilocore_show::alike::groups(&set.curves) };
    if every.is_empty() {
        return None;
    }
    let kept = shown(&every, if all { every.len() } else { MOST_SHOWN });
    let rows: Vec<Alike<'_, ForecastPoint>> =
        kept.iter().map(|&index| every[index].clone()).collect();
    let title = throughput_title(&Mark::simulated(&forecast.machine.name, forecast.seed));
    let mut text = format!("{}\n{}", wrapped(&title, width), curve_rows(&set, &rows, width));
    let left_out: usize =
        every.iter().map(Alike::size).sum::<usize>() - rows.iter().map(Alike::size).sum::<usize>();
    if left_out > 0 || rows.iter().any(|row| row.size() > 1) {
        let hidden = if left_out > 0 {
            format!("{left_out} more locks are left out; ")
        } else {
            String::new()
        };
        text += &format!("\n{}", wrapped(&format!("{hidden}`--all` shows every lock"), width));
    }
    if let Some(others) = without_curve(forecast) {
        text += &format!("\n{}", wrapped(&others, width));
    }
    Some(text)
}

/// Columns that are left out where there is no room for all, the first of them first.
const DISPENSABLE: [&str; 7] = ["energy", "falls from", "waiting", "at", "peak", "curve", "shape"];

fn curve_rows(
    set: &CurveSet<'_, ForecastPoint>,
    rows: &[Alike<'_, ForecastPoint>],
    width: u16,
) -> String {
    let mut columns = curve_columns(set, rows);
    fit(&mut columns, &DISPENSABLE, width.into());
    table_of(&columns, width) + &wrapped(&curve_notes(set, rows, &columns), width)
}

/// What the columns and signs of the table of curves say.
pub(crate) fn curve_notes(
    set: &CurveSet<'_, ForecastPoint>,
    rows: &[Alike<'_, ForecastPoint>],
    columns: &[Column],
) -> String {
    let has = |heading| columns.iter().any(|column| column.is(heading));
    let mut notes =
        vec!["sections: critical sections finished, by all threads together".to_owned()];
    if has("curve") {
        notes.push("curve: all on one scale, by number of cores".to_owned());
    }
    notes.extend(prefixes(rows));
    let on_most: Vec<&str> =
        [("waiting", "waiting (share of time)"), ("energy", "energy (per section)")]
            .into_iter()
            .filter_map(|(heading, words)| has(heading).then_some(words))
            .collect();
    if !on_most.is_empty() {
        notes.push(format!("{}: on {} cores", on_most.join(" and "), set.most_cores()));
    }
    if has("falls from") {
        notes.push("falls from: cores from which a tenth of the peak is lost".to_owned());
    }
    if set.today().is_some() {
        let mut signs = vec!["○ today's lock"];
        if rows.iter().any(|row| row.first().role == Role::Recommended) {
            signs.push("● recommended");
        }
        signs.push("×: throughput against today's");
        notes.push(signs.join(", "));
    }
    notes.extend(second_choice(set));
    let alike: Vec<String> = rows.iter().filter_map(Alike::others_in_words).collect();
    if !alike.is_empty() {
        notes.push(format!("+: locks that do as well within 5 %: {}", alike.join("; ")));
    }
    notes.join("; ")
}

/// What stands before `/s`, as far as it occurs.
fn prefixes(rows: &[Alike<'_, ForecastPoint>]) -> Option<String> {
    let rates = rows.iter().flat_map(|row| {
        let curve = row.first().curve;
        [curve.peak, curve.end().point.throughput_per_s].map(number::per_second)
    });
    let rates: Vec<String> = rates.collect();
    let known = [("G", "a billion"), ("M", "a million"), ("k", "a thousand")];
    let used = known
        .iter()
        .filter(|(prefix, _)| rates.iter().any(|rate| rate.contains(&format!(" {prefix}/s"))));
    let words: Vec<String> =
        used.map(|(prefix, words)| format!("{prefix}/s: {words} a second")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// All columns of the table of curves.
pub(crate) fn curve_columns(
    set: &CurveSet<'_, ForecastPoint>,
    rows: &[Alike<'_, ForecastPoint>],
) -> Vec<Column> {
    let rate = |drawn: &Drawn<'_, ForecastPoint>| drawn.curve.end().point.throughput_per_s;
    let highest = rows.iter().map(|row| row.first().curve.peak).fold(0.0, f64::max);
    let column = |heading: &str, align, cell: &dyn Fn(&Drawn<'_, ForecastPoint>) -> String| {
        Column::new(heading, align, rows, |row| cell(row.first()))
    };
    let mut columns = vec![
        Column::new("lock", Align::Left, rows, |row| {
            let sign = match row.first().role {
                Role::Today => " ○",
                Role::Recommended => " ●",
                Role::Other => "",
            };
            let others = row.size() - 1;
            let others = if others > 0 { format!(" +{others}") } else { String::new() };
            format!("{}{sign}{others}", row.first().curve.lock)
        }),
        column("curve", Align::Left, &|d| sparkline(d.curve, highest)),
        column("shape", Align::Left, &|d| d.curve.shape.name().to_owned()),
        column("peak", Align::Right, &|d| number::per_second(d.curve.peak)),
        column("at", Align::Right, &|d| d.curve.peak_cores.to_string()),
    ];
    if rows.iter().any(|row| row.first().curve.collapse_cores.is_some()) {
        columns.push(column("falls from", Align::Right, &|d| {
            d.curve.collapse_cores.map_or(String::new(), |cores| cores.to_string())
        }));
    }
    columns.push(column(&format!("on {}", set.most_cores()), Align::Right, &|d| {
        number::per_second(rate(d))
    }));
    if let Some(today) = set.today().map(rate) {
        columns.push(column("×", Align::Right, &|d| number::times(rate(d) / today)));
    }
    columns.push(column("waiting", Align::Right, &|d| {
        number::percent(d.curve.end().point.wait_share)
    }));
    columns.push(column("energy", Align::Right, &|d| {
        number::joules(d.curve.end().point.joules_per_op)
    }));
    columns
}

/// Columns of the table of the program's locks that are left out where there is no room.
const DISPENSABLE_OF_LOCKS: [&str; 5] = ["lines", "kind", "hold", "wait", "waited"];
/// The least room for a call site.
const LEAST_SITE: usize = 36;
/// Places of acquisition of one lock.
const MOST_PLACES: usize = 3;

/// A row of the table of locks: a lock with its figures, or one of its places.
#[derive(Default)]
pub(crate) struct LockRow {
    pub(crate) place: String,
    kind: &'static str,
    acquired: String,
    waited: String,
    hold: String,
    wait: String,
    held: String,
    lines: String,
}

fn own_locks(forecast: &Forecast, width: u16, all: bool) -> Option<String> {
    let kept = if all { forecast.locks.len() } else { MOST_SHOWN.min(forecast.locks.len()) };
    let (locks, left_out) = forecast.locks.split_at(kept);
    if locks.is_empty() {
        return None;
    }
    let rows: Vec<LockRow> = locks.iter().flat_map(|lock| rows_of(lock, printable)).collect();
    let mut columns = lock_columns(&rows);
    let others = usize::from(width).saturating_sub(LEAST_SITE + 2);
    fit(&mut columns, &DISPENSABLE_OF_LOCKS, others);
    let room = usize::from(width).saturating_sub(total_width(&columns) + 2);
    let places: Vec<&str> = rows.iter().map(|row| row.place.as_str()).collect();
    let places = shortened_apart(&places, room);
    columns.insert(0, Column::new("where", Align::Left, &places, Clone::clone));
    let title = locks_title(locks, columns.iter().any(|column| column.is("lines")));
    let mut text = format!("{}\n{}", wrapped(&title, width), table_of(&columns, width).trim_end());
    if !left_out.is_empty() {
        text += &format!("\n{} more; `--all` shows them", left_out.len());
    }
    Some(text)
}

/// All columns of the table of the program's locks but the first, which is the place.
pub(crate) fn lock_columns(rows: &[LockRow]) -> Vec<Column> {
    vec![
        Column::new("kind", Align::Left, rows, |row| row.kind.to_owned()),
        Column::new("acquired", Align::Right, rows, |row| row.acquired.clone()),
        Column::new("waited", Align::Right, rows, |row| row.waited.clone()),
        Column::new("hold", Align::Right, rows, |row| row.hold.clone()),
        Column::new("wait", Align::Right, rows, |row| row.wait.clone()),
        Column::new("held", Align::Right, rows, |row| row.held.clone()),
        Column::new("lines", Align::Right, rows, |row| row.lines.clone()),
    ]
}

/// What stands above the program's locks, with or without a column of the lines that move.
pub(crate) fn locks_title(locks: &[ForecastLock], with_lines: bool) -> String {
    let lines = match with_lines {
        true => format!("; lines that move: {}", sources(locks)),
        false => String::new(),
    };
    let known = locks.iter().any(|lock| !lock.acquired_at.is_empty());
    let by = if known { "where they are acquired" } else { "where they were made" };
    format!("The program's locks, by {by} (measured{lines})")
}

/// What stands before the lines of a lock.
fn mark_of(source: LinesSource) -> &'static str {
    match source {
        LinesSource::Traced => "+ ",
        LinesSource::Estimated => "",
        LinesSource::Assumed => "* ",
    }
}

/// Where the lines of these locks are known from, each with its mark.
fn sources(locks: &[ForecastLock]) -> String {
    let words = [
        (LinesSource::Estimated, "estimated"),
        (LinesSource::Traced, "traced, which is counted under QEMU"),
        (LinesSource::Assumed, "assumed"),
    ];
    let used = words.iter().filter(|(source, _)| locks.iter().any(|l| l.lines_source == *source));
    let used: Vec<String> =
        used.map(|(source, words)| format!("{}{words}", mark_of(*source))).collect();
    used.join(", or ")
}

/// A lock under the place where it is waited for longest, its other places, and where it is made. Names
/// from the program are written by `name`.
pub(crate) fn rows_of(lock: &ForecastLock, name: fn(&str) -> String) -> Vec<LockRow> {
    let mark = mark_of(lock.lines_source);
    let made = format!("made at {}", name(&lock.place));
    let mut rows = vec![LockRow {
        place: lock.acquired_at.first().map_or_else(|| made.clone(), |at| name(&at.place)),
        kind: lock.family,
        acquired: number::engineering((lock.acquisitions + lock.shared_acquisitions) as f64, ""),
        waited: number::percent(lock.contended_share),
        hold: number::nanoseconds(lock.hold.0),
        wait: number::nanoseconds(lock.wait.0),
        held: number::percent(lock.held_share),
        lines: format!("{mark}{:.1} ({:.1}–{:.1})", lock.lines, lock.lines_low, lock.lines_high),
    }];
    rows.extend(lock.acquired_at.iter().take(MOST_PLACES).skip(1).map(|at| LockRow {
        place: format!("  and {}", name(&at.place)),
        acquired: number::engineering(at.acquisitions as f64, ""),
        waited: number::percent(at.contended as f64 / at.acquisitions.max(1) as f64),
        wait: number::nanoseconds(at.waited.0 / at.contended.max(1) as f64),
        ..LockRow::default()
    }));
    let more = lock.acquired_at.len().saturating_sub(MOST_PLACES);
    if more > 0 {
        rows.push(LockRow {
            place: format!("  and {more} more {}", if more == 1 { "place" } else { "places" }),
            ..LockRow::default()
        });
    }
    if !lock.acquired_at.is_empty() {
        rows.push(LockRow { place: format!("  {made}"), ..LockRow::default() });
    }
    rows
}
