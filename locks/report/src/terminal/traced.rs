//! What a trace under QEMU counted, for the terminal: a row for each place where locks were traced, and
//! for each other word that several threads used as a lock.

use kilocore_lock_profile::{Process, Profile, Trace, Traced};
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, Column, fit, table_of, total_width};
use kilocore_show::terminal::{bullet, wrapped};
use kilocore_show::text::{printable, shortened_apart};

/// Rows beyond these are counted and not shown.
const MOST_ROWS: usize = 12;
/// The least room for a place, where a third of the width is not less.
const LEAST_PLACE: usize = 36;
/// Columns that are left out where there is no room, the first of them first.
const DISPENSABLE: [&str; 6] = ["threads", "instructions", "taken", "words", "handovers", "read"];

struct TracedRow {
    place: String,
    traced: Traced,
}

/// The part of a profile that was traced, if any was.
pub(super) fn traced_part(profile: &Profile, width: u16) -> Option<String> {
    let trace = profile.trace.as_ref()?;
    let processes = profile.runs.first().map_or(&[][..], |run| &run.processes);
    let mut rows = locks(processes);
    rows.extend(words(trace));
    rows.sort_by_key(|row| std::cmp::Reverse((row.traced.handovers, row.traced.acquisitions)));
    let title = "Lines of data that move with locks, for each handover (counted under QEMU, in a run of \
                 its own; the lock's own line comes on top)";
    if rows.is_empty() {
        return Some(format!(
            "{}\nNo word was handed from thread to thread.",
            wrapped(title, width)
        ));
    }
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    let mut text = format!("{}\n{}", wrapped(title, width), table(&rows, width).trim_end());
    let mut notes = vec![
        "in turn: how many of them had to come one after the other; the others came meanwhile"
            .to_owned(),
    ];
    if rows.iter().any(|row| row.traced.lacks_lines()) {
        notes.push("*: more lines than are followed, so that there are too few here".to_owned());
    }
    if more > 0 {
        notes.push(format!("{} more are in the profile", number::count(more as u64)));
    }
    if trace.words_left_out > 0 {
        let left_out = number::count(trace.words_left_out);
        notes.push(format!("{left_out} more words, taken less often, are left out"));
    }
    for note in notes {
        text += &format!("\n{}", bullet(&note, width));
    }
    Some(text)
}

/// The traced locks, those that share a sum once.
fn locks(processes: &[Process]) -> Vec<TracedRow> {
    let mut rows: Vec<TracedRow> = Vec::new();
    for lock in processes.iter().flat_map(|process| &process.locks) {
        let Some(traced) = lock.traced else { continue };
        let taken = lock.callers.first().map_or(&lock.site, |caller| &caller.site);
        let place = printable(&kilocore_forecast::taker_of(taken));
        if !rows.iter().any(|row| row.traced == traced) {
            rows.push(TracedRow { place, traced });
        }
    }
    rows
}

/// The words that went from thread to thread.
fn words(trace: &Trace) -> impl Iterator<Item = TracedRow> {
    trace.words.iter().filter(|word| word.traced.handovers > 0).map(|word| TracedRow {
        place: printable(&kilocore_forecast::taker_of(&word.site)),
        traced: word.traced,
    })
}

fn table(rows: &[TracedRow], width: u16) -> String {
    let number = |heading: &str, cell: &dyn Fn(&Traced) -> String| {
        Column::new(heading, Align::Right, rows, |row| cell(&row.traced))
    };
    let lines = |traced: &Traced, lines: f64| {
        format!("{}{lines:.1}", if traced.lacks_lines() { "* " } else { "" })
    };
    let mut columns = vec![
        number("words", &|traced| number::count(traced.words)),
        number("taken", &|traced| number::count(traced.acquisitions)),
        number("handovers", &|traced| number::count(traced.handovers)),
        number("threads", &|traced| number::count(traced.threads)),
        number("instructions", &|traced| number::count(traced.hold_instructions.round() as u64)),
        number("read", &|traced| lines(traced, traced.lines_read)),
        number("written", &|traced| lines(traced, traced.lines_written)),
        number("in turn", &|traced| lines(traced, traced.lines_in_turn)),
    ];
    let place = LEAST_PLACE.min(usize::from(width) / 3);
    fit(&mut columns, &DISPENSABLE, usize::from(width).saturating_sub(place + 2));
    let room = usize::from(width).saturating_sub(total_width(&columns) + 2);
    let places: Vec<&str> = rows.iter().map(|row| row.place.as_str()).collect();
    let places = shortened_apart(&places, room);
    columns.insert(0, Column::new("taken at", Align::Left, &places, Clone::clone));
    table_of(&columns, width)
}
