//! Where the threads' time went, for the terminal.

use kilocore_figures::Nanoseconds;
use kilocore_lock_profile::{RoleTimes, ThreadTimes};
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, Column, fit, table_of};
use kilocore_show::terminal::{NARROWEST, NO_BREAK, Style, bullet, figures_table, wrapped};
use kilocore_show::text::{shortened, shortened_apart};

use crate::waits_words::{
    activities, coverage, duration, findings, kernel_locks, party, role_by_id, role_name,
    roles_in_order, share_or_nothing, word,
};

/// Roles beyond these are counted and not listed.
const MOST_ROLES: usize = 16;
/// Words and edges beyond these are counted and not listed.
const MOST_WAITS: usize = 8;
/// Room for the name of a role.
const ROLE_WIDTH: usize = 26;
/// Room for a lock of the kernel with its place.
const KERNEL_WIDTH: usize = 60;
/// Room for the name of a word.
const WORD_WIDTH: usize = 36;

/// Where the threads' time went: what was found, how much is known, a row for each role of thread,
/// the words that they waited for, and who waited for whom.
#[must_use]
pub fn times_table(times: &ThreadTimes, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let whole = |text: &str| text.replace(" %", &format!("{NO_BREAK}%"));
    let said: Vec<String> =
        findings(times).iter().map(|text| bullet(&whole(text), width)).collect();
    let mut parts = vec![format!("Where the threads' time went\n{}", said.join("\n"))];
    parts.push(wrapped(&whole(&coverage(times).join(" ")), width));
    if !times.roles.is_empty() {
        let title = "Shares of the threads' time by what they do (measured)";
        parts.push(format!("{}\n{}", wrapped(title, width), roles(times, style)));
    }
    if !times.words.is_empty() {
        parts.push(format!("What they waited for (measured)\n{}", words(times, width)));
    }
    if !times.kernel_locks.is_empty() {
        let title = "The kernel's own locks that they waited for (measured)";
        parts.push(format!("{}\n{}", wrapped(title, width), in_kernel(times, width)));
    }
    if !times.edges.is_empty() {
        parts.push(format!("Who waited for whom (measured)\n{}", edges(times, width)));
    }
    style.shown(parts.join("\n\n") + "\n")
}

/// How many rows are not listed.
fn more(all: usize, shown: usize, of_what: &str) -> String {
    match all.saturating_sub(shown) {
        0 => String::new(),
        hidden => format!("\n… and {} more {of_what}", number::count(hidden as u64)),
    }
}

fn roles(times: &ThreadTimes, style: Style) -> String {
    let shown: Vec<&RoleTimes> = roles_in_order(times).into_iter().take(MOST_ROLES).collect();
    let names: Vec<String> = shown.iter().map(|role| role_name(times, role)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let activities = activities(times);
    let mut headings = vec!["threads"];
    headings.extend(activities.iter().map(|(_, name)| *name));
    if !times.ranking.is_empty() {
        headings.push("waited for");
    }
    let row = |(role, name): (&&RoleTimes, String)| {
        let whole = role.times.present();
        let done = role.times.named();
        let mut cells = vec![number::count(role.threads)];
        cells.extend(
            activities.iter().map(|&(place, _)| share_or_nothing(done[place].1.share_of(whole))),
        );
        let rank = times.ranking.iter().find(|one| one.role == role.id);
        cells.push(rank.map_or_else(String::new, |rank| share_or_nothing(rank.score)));
        (name, cells)
    };
    let rows: Vec<_> = shown.iter().zip(shortened_apart(&names, ROLE_WIDTH)).map(row).collect();
    let table = figures_table("role", &headings, &rows, style);
    let below = if times.ranking.is_empty() {
        String::new()
    } else {
        let text = "waited for: the share of all waits that were for this role in the end";
        format!("\n{}", wrapped(text, style.width.max(NARROWEST)))
    };
    table.trim_end().to_owned() + &more(times.roles.len(), shown.len(), "roles") + &below
}

fn words(times: &ThreadTimes, width: u16) -> String {
    let shown = &times.words[..times.words.len().min(MOST_WAITS)];
    let names: Vec<String> = shown.iter().map(|one| word(times, one.id)).collect();
    let rows: Vec<Waits> = shown.iter().map(|one| (one.threads, one.count, one.waited)).collect();
    waits_table(times, ("what", &names, WORD_WIDTH), &rows, width)
        + &more(times.words.len(), shown.len(), "words")
}

fn in_kernel(times: &ThreadTimes, width: u16) -> String {
    let shown: Vec<_> = kernel_locks(times).take(MOST_WAITS).collect();
    let rows: Vec<Waits> =
        shown.iter().map(|(one, _)| (one.threads, one.count, one.waited)).collect();
    let names: Vec<String> = shown.into_iter().map(|(_, name)| name).collect();
    let below = "of all time: until the thread had the lock, also while it had no core";
    format!(
        "{}{}\n{}",
        waits_table(times, ("lock", &names, KERNEL_WIDTH), &rows, width),
        more(times.kernel_locks.len(), rows.len(), "places"),
        wrapped(below, width)
    )
}

/// How many threads waited for something, how often, and for how long.
type Waits = (u64, u64, Nanoseconds);

/// A row for each thing that threads waited for. The second parameter is the heading, the names,
/// and the room for these.
fn waits_table(
    times: &ThreadTimes,
    (heading, names, room): (&'static str, &[String], usize),
    rows: &[Waits],
    width: u16,
) -> String {
    let whole = times.total().present();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows: Vec<(Waits, String)> =
        rows.iter().copied().zip(shortened_apart(&names, room)).collect();
    let mut columns = vec![
        Column::new(heading, Align::Left, &rows, |(_, name)| name.clone()),
        Column::new("threads", Align::Right, &rows, |((threads, ..), _)| number::count(*threads)),
        Column::new("waits", Align::Right, &rows, |((_, count, _), _)| number::count(*count)),
        Column::new("mean", Align::Right, &rows, |((_, count, waited), _)| {
            number::nanoseconds(waited.0 as f64 / (*count).max(1) as f64)
        }),
        Column::new("of all time", Align::Right, &rows, |((.., waited), _)| {
            number::percent(waited.share_of(whole))
        }),
    ];
    fit(&mut columns, &["mean", "threads"], width.into());
    table_of(&columns, width).trim_end().to_owned()
}

fn edges(times: &ThreadTimes, width: u16) -> String {
    let shown = &times.edges[..times.edges.len().min(MOST_WAITS)];
    let mut columns = vec![
        Column::new("role", Align::Left, shown, |edge| {
            shortened(&role_by_id(times, edge.from), ROLE_WIDTH)
        }),
        Column::new("waited for", Align::Left, shown, |edge| {
            shortened(&party(times, edge.to), ROLE_WIDTH)
        }),
        Column::new("at", Align::Left, shown, |edge| {
            shortened(&word(times, edge.word), WORD_WIDTH)
        }),
        Column::new("directly", Align::Right, shown, |edge| duration(edge.direct)),
        Column::new("in all", Align::Right, shown, |edge| duration(edge.in_all)),
    ];
    fit(&mut columns, &["at", "directly"], width.into());
    let below = "in all: with those who waited for the waiting threads meanwhile";
    format!(
        "{}{}\n{}",
        table_of(&columns, width).trim_end(),
        more(times.edges.len(), shown.len(), "waits"),
        wrapped(below, width)
    )
}
