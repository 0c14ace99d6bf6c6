//! Tables for the terminal.
//!
//! Plain text, so that the same serves a terminal, a pipe and a log. Every function takes a
//! [`Style`]: the columns that it may use (below [`NARROWEST`] it uses that), and whether it may
//! go beyond ASCII. A width alone does for one.

mod columns;
mod fit;
mod locate;
mod profile;
mod style;

use kilocore_locks::LockInfo;
use kilocore_machine::Description;
use kilocore_predict::{Curve, Forecast};

use columns::{Align, Column, fit, fix, table, table_of, text_of, total_width};

use crate::curve_set::{CurveSet, Drawn, Role};
use crate::text::{printable, shortened};
use crate::{Mark, figures, number};

pub use fit::fit_table;
pub use locate::locate_table;
pub use profile::profile_table;
pub use style::Style;

/// The least width that tables are laid out for, in columns.
pub const NARROWEST: u16 = 60;

/// A forecast: the advice, the curves by lock and the program's locks, at most `width` columns
/// wide.
#[must_use]
pub fn forecast_table(forecast: &Forecast, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let recommendation = &forecast.recommendation;
    let (first, others) = recommendation.text.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
    let mut parts = vec![style.strong(&wrapped(first, width)), wrapped(&others.join(" "), width)];
    if let Some(command) = &recommendation.command {
        // Not wrapped: it is to be copied.
        parts.push(format!("    {}", printable(command)));
    }
    let mark = Mark::simulated(&forecast.machine.name, forecast.seed);
    let set = CurveSet::new(&forecast.curves, Some(forecast.today), recommendation.lock);
    if !set.curves.is_empty() {
        parts.push(format!("Throughput by lock ({})\n{}", mark.plain(), curve_rows(&set, width)));
    }
    if !forecast.locks.is_empty() {
        let assumed = forecast.locks.iter().any(|lock| lock.lines_assumed);
        parts.push(format!(
            "The program's locks (measured; lines that move: estimated{})\n{}",
            if assumed { ", or * assumed" } else { "" },
            program_locks(forecast, width)
        ));
    }
    if !forecast.assumptions.is_empty() {
        let lines = forecast.assumptions.iter().map(|assumption| bullet(assumption, width));
        let lines: Vec<String> = lines.collect();
        parts.push(format!("What the forecast assumes\n{}", lines.join("\n")));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// Curves by lock, the best at the end first.
#[must_use]
pub fn curves_table(curves: &[Curve], style: impl Into<Style>) -> String {
    let style = style.into();
    style.shown(curve_rows(&CurveSet::new(curves, None, None), style.width.max(NARROWEST)) + "\n")
}

/// Figures in rows: a name or number in front, and a figure under each heading. Columns that have
/// no room stand below the others, behind the same fronts.
#[must_use]
pub fn figures_table(
    front: &str,
    headings: &[&str],
    rows: &[(String, Vec<String>)],
    style: impl Into<Style>,
) -> String {
    let style = style.into();
    let width = usize::from(style.width.max(NARROWEST));
    let fronts = || Column::new(front, Align::Left, rows, |row| row.0.clone());
    let mut blocks = vec![vec![fronts()]];
    for (index, heading) in headings.iter().enumerate() {
        let column = Column::new(heading, Align::Right, rows, |row| {
            row.1.get(index).cloned().unwrap_or_default()
        });
        let block = blocks.last_mut().expect("there is a first block");
        block.push(column);
        if block.len() > 2 && total_width(block) > width {
            let column = block.pop().into_iter();
            blocks.push([fronts()].into_iter().chain(column).collect());
        }
    }
    let tables: Vec<String> = blocks.iter().map(|block| table_of(block, width as u16)).collect();
    style.shown(tables.join("\n"))
}

/// Words in rows below headings.
#[must_use]
pub fn words_table<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: &[[String; COLUMNS]],
    style: impl Into<Style>,
) -> String {
    let style = style.into();
    let headings = headings.map(|name| (name, Align::Left));
    let mut table = table(style.width.max(NARROWEST), &headings);
    for row in rows {
        table.add_row(row.iter().map(|word| printable(word)));
    }
    style.shown(text_of(&table))
}

/// Machines by name.
#[must_use]
pub fn machines_table(machines: &[Description], style: impl Into<Style>) -> String {
    let style = style.into();
    let headings = [("name", Align::Left), ("threads", Align::Right), ("what it is", Align::Left)];
    let mut table = table(style.width.max(NARROWEST), &headings);
    for machine in machines {
        table.add_row([
            printable(&machine.name),
            machine.hardware_threads().to_string(),
            printable(&machine.title),
        ]);
    }
    style.shown(text_of(&table))
}

/// A machine in full: every figure and where it comes from.
#[must_use]
pub fn machine_table(machine: &Description, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let mut parts = vec![wrapped(
        &format!("{}: {}", printable(&machine.name), printable(&machine.title)),
        width,
    )];
    for group in figures::groups(machine) {
        let headings = [("", Align::Left), ("", Align::Right), ("", Align::Left)];
        let mut table = table(width, &headings);
        table.set_header::<[&str; 0]>([]);
        for row in group.rows {
            table.add_row([row.name.to_owned(), row.value, row.mark.plain()]);
        }
        // Fixed, so that the tables of all groups line up.
        fix(&mut table, 0, FIGURE_NAME_WIDTH);
        fix(&mut table, 1, FIGURE_VALUE_WIDTH);
        parts.push(format!("{}\n{}", group.title, text_of(&table).trim_end()));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// Room for the longest name of a figure.
const FIGURE_NAME_WIDTH: u16 = 34;
/// Room for a figure and its unit; the line of counts is broken.
const FIGURE_VALUE_WIDTH: u16 = 13;

/// Locks by name, with what each is best and worst at.
#[must_use]
pub fn locks_table<'a>(
    locks: impl IntoIterator<Item = &'a LockInfo>,
    style: impl Into<Style>,
) -> String {
    let style = style.into();
    let headings = ["name", "what it is", "best at", "worst at"].map(|name| (name, Align::Left));
    let mut table = table(style.width.max(NARROWEST), &headings);
    for lock in locks {
        table.add_row([lock.name, lock.title, lock.best_at, lock.worst_at]);
    }
    style.shown(text_of(&table))
}

/// Columns that are left out where there is no room for all, the first of them first.
const DISPENSABLE: [&str; 4] = ["energy", "curve", "waiting", "falls from"];

fn curve_rows(set: &CurveSet<'_>, width: u16) -> String {
    let most = set.most_cores();
    let today = set.today().map(|drawn| drawn.curve.end().point.throughput_per_s);
    let mut columns = curve_columns(set, today);
    fit(&mut columns, &DISPENSABLE, width.into());
    let has = |heading| columns.iter().any(|column| column.is(heading));
    let mut notes = Vec::new();
    if has("curve") {
        notes.push("curve: each on a scale of its own".to_owned());
    }
    if has("waiting") {
        notes.push(format!("waiting (share of time) and energy (per section): on {most} cores"));
    }
    if has("falls from") {
        notes.push("falls from: cores from which a tenth of the peak is lost".to_owned());
    }
    if today.is_some() {
        notes.push("○ today's lock, ● recommended, ×: throughput against today's".to_owned());
    }
    table_of(&columns, width) + &wrapped(&notes.join("; "), width)
}

/// All columns of the table of curves.
fn curve_columns(set: &CurveSet<'_>, today: Option<f64>) -> Vec<Column> {
    let rows = set.best_first();
    let rate = |drawn: &Drawn<'_>| drawn.curve.end().point.throughput_per_s;
    let mut columns = vec![
        Column::new("lock", Align::Left, &rows, |d| match d.role {
            Role::Today => format!("{} ○", d.curve.lock),
            Role::Recommended => format!("{} ●", d.curve.lock),
            Role::Other => d.curve.lock.to_owned(),
        }),
        Column::new("curve", Align::Left, &rows, |d| sparkline(d.curve)),
        Column::new("shape", Align::Left, &rows, |d| d.curve.shape.name().to_owned()),
        Column::new("peak", Align::Right, &rows, |d| number::per_second(d.curve.peak_per_s)),
        Column::new("at", Align::Right, &rows, |d| d.curve.peak_cores.to_string()),
        Column::new("falls from", Align::Right, &rows, |d| {
            d.curve.collapse_cores.map_or(String::new(), |cores| cores.to_string())
        }),
        Column::new(&format!("on {}", set.most_cores()), Align::Right, &rows, |d| {
            number::per_second(rate(d))
        }),
    ];
    if let Some(today) = today {
        columns.push(Column::new("×", Align::Right, &rows, |d| {
            number::multiple(rate(d) / today).trim_end_matches(" ×").to_owned()
        }));
    }
    columns.push(Column::new("waiting", Align::Right, &rows, |d| {
        number::percent(d.curve.end().point.wait_share)
    }));
    columns.push(Column::new("energy", Align::Right, &rows, |d| {
        number::joules(d.curve.end().point.joules_per_op)
    }));
    columns
}

/// Columns of the table of the program's locks that are left out where there is no room.
const DISPENSABLE_OF_LOCKS: [&str; 4] = ["wait", "lines", "kind", "waited"];
/// The least room for a call site.
const LEAST_SITE: usize = 24;

fn program_locks(forecast: &Forecast, width: u16) -> String {
    let locks = &forecast.locks;
    let site = |room| {
        Column::new("where", Align::Left, locks, |lock| shortened(&printable(&lock.place), room))
    };
    let mut columns = vec![
        Column::new("kind", Align::Left, locks, |lock| lock.family.to_owned()),
        Column::new("acquired", Align::Right, locks, |lock| {
            number::engineering((lock.acquisitions + lock.shared_acquisitions) as f64, "")
        }),
        Column::new("waited", Align::Right, locks, |lock| number::percent(lock.contended_share)),
        Column::new("hold", Align::Right, locks, |lock| number::nanoseconds(lock.hold_ns)),
        Column::new("wait", Align::Right, locks, |lock| number::nanoseconds(lock.wait_ns)),
        Column::new("held", Align::Right, locks, |lock| number::percent(lock.held_share)),
        Column::new("lines", Align::Right, locks, |lock| {
            let mark = if lock.lines_assumed { "* " } else { "" };
            format!("{mark}{:.1} ({:.1}–{:.1})", lock.lines, lock.lines_low, lock.lines_high)
        }),
    ];
    let width_of_site = LEAST_SITE + 2;
    fit(&mut columns, &DISPENSABLE_OF_LOCKS, usize::from(width).saturating_sub(width_of_site));
    let room = usize::from(width).saturating_sub(total_width(&columns) + 2);
    columns.insert(0, site(room));
    table_of(&columns, width).trim_end().to_owned()
}

/// Eight heights.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The most bars of a curve; of more points every second, third… is shown.
const LONGEST_SPARKLINE: usize = 16;

/// A curve in a word: a bar for each point, on a scale of its own, to show the shape.
fn sparkline(curve: &Curve) -> String {
    let bar = |rate: f64| {
        let height = (rate / curve.peak_per_s * BARS.len() as f64).ceil() as usize;
        BARS[height.clamp(1, BARS.len()) - 1]
    };
    // Counted from the end, which must be among those shown.
    let step = curve.points.len().div_ceil(LONGEST_SPARKLINE).max(1);
    let bars: Vec<char> =
        curve.points.iter().rev().step_by(step).map(|p| bar(p.point.throughput_per_s)).collect();
    bars.into_iter().rev().collect()
}

/// A blank at which no line is broken.
const NO_BREAK: char = '\u{a0}';

/// A point of a list, its lines after the first indented.
fn bullet(text: &str, width: u16) -> String {
    format!("- {}", wrapped(text, width - 2).replace('\n', "\n  "))
}

/// Text in lines of at most `width` columns, broken at blanks, but not at those that hold a figure
/// and its unit together.
fn wrapped(text: &str, width: u16) -> String {
    let mut lines: Vec<String> = Vec::new();
    let breaks = |c: char| c.is_whitespace() && c != NO_BREAK;
    for word in printable(text).split(breaks).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= usize::from(width) => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n").replace(NO_BREAK, " ")
}
