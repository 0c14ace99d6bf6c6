//! A profile for the terminal: what was measured, without a forecast.

use kilocore_profile::{Family, Frame, Histogram, Process, Profile};

use super::columns::{Align, table, text_of};
use super::{NARROWEST, Style, wrapped};
use crate::number;
use crate::text::{printable, shortened};

/// Places beyond these, where a process makes locks, are counted and not listed.
const MOST_PLACES: usize = 12;

/// The locks and condition variables of the run that counts, process by process.
#[must_use]
pub fn profile_table(profile: &Profile, style: impl Into<Style>) -> String {
    let style = style.into();
    let width = style.width.max(NARROWEST);
    let Some(run) = profile.runs.first() else { return String::from("The profile is empty.\n") };
    let host = &profile.host;
    let mut parts = vec![wrapped(
        &format!(
            "Measured on {} with {} cores: {} from start to end.",
            printable(&host.processor),
            run.cores,
            number::nanoseconds(run.wall_ns)
        ),
        width,
    )];
    for process in &run.processes {
        parts.push(process_part(process, width));
    }
    if run.processes.is_empty() {
        parts.push("The program took no lock.".to_owned());
    }
    style.shown(parts.join("\n\n") + "\n")
}

fn process_part(process: &Process, width: u16) -> String {
    let threads = &process.threads;
    let heading = format!(
        "{} (process {}): {} threads, {} at a time; {} of processor time",
        printable(&process.executable),
        process.pid,
        number::count(threads.started),
        number::count(threads.peak),
        number::nanoseconds(threads.cpu_ns)
    );
    let places = places(process);
    let mut text = wrapped(&heading, width) + "\n" + &lock_rows(&places, width);
    let more = places.len().saturating_sub(MOST_PLACES);
    if more > 0 {
        text.push_str(&format!("and {} more places\n", number::count(more as u64)));
    }
    if !process.conditions.is_empty() {
        text.push_str(&condition_rows(process, width));
    }
    text.trim_end().to_owned()
}

/// Locks that are made at the same place, taken together.
struct Place<'a> {
    family: Family,
    site: &'a [Frame],
    locks: u64,
    exclusive: Use,
    shared: Use,
}

/// How locks were used in one mode.
#[derive(Default)]
struct Use {
    taken: u64,
    contended: u64,
    failed: u64,
    hold: Histogram,
    wait: Histogram,
}

impl Use {
    fn add(&mut self, [taken, contended, failed]: [u64; 3], hold: &Histogram, wait: &Histogram) {
        self.taken += taken;
        self.contended += contended;
        self.failed += failed;
        self.hold.merge(hold);
        self.wait.merge(wait);
    }
}

/// The places at which a process makes locks, that of the most taken ones first.
fn places(process: &Process) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    for lock in &process.locks {
        let known = places.iter().position(|p| p.family == lock.family && p.site == lock.site);
        let index = known.unwrap_or_else(|| {
            let (exclusive, shared) = (Use::default(), Use::default());
            places.push(Place {
                family: lock.family,
                site: &lock.site,
                locks: 0,
                exclusive,
                shared,
            });
            places.len() - 1
        });
        let place = &mut places[index];
        place.locks += lock.instances;
        let counts = [lock.acquisitions, lock.contended, lock.failed_tries];
        place.exclusive.add(counts, &lock.hold, &lock.wait);
        if let Some(read) = &lock.read {
            let counts = [read.acquisitions, read.contended, read.failed_tries];
            place.shared.add(counts, &read.hold, &read.wait);
        }
    }
    places.sort_by_key(|place| std::cmp::Reverse(place.exclusive.taken + place.shared.taken));
    places
}

fn lock_rows(places: &[Place<'_>], width: u16) -> String {
    let headings = [
        ("lock", Align::Left),
        ("made at", Align::Left),
        ("taken", Align::Right),
        ("waited", Align::Right),
        ("hold", Align::Right),
        ("wait", Align::Right),
        ("failed tries", Align::Right),
    ];
    let mut table = table(width, &headings);
    for place in places.iter().take(MOST_PLACES) {
        if place.shared.taken == 0 || place.exclusive.taken > 0 {
            table.add_row(row(place, kind(place.family), &place.exclusive));
        }
        if place.shared.taken > 0 {
            table.add_row(row(place, "shared", &place.shared));
        }
    }
    text_of(&table)
}

/// Room for a call site.
const SITE_WIDTH: usize = 36;

fn row(place: &Place<'_>, kind: &str, used: &Use) -> [String; 7] {
    let share = used.contended as f64 / used.taken.max(1) as f64;
    let site = place.site.first().map_or_else(|| "an unknown place".to_owned(), Frame::to_string);
    let kind = match place.locks {
        0 | 1 => kind.to_owned(),
        locks => format!("{kind} × {}", number::count(locks)),
    };
    let time = |histogram: &Histogram| match histogram.count {
        0 => String::new(),
        _ => number::nanoseconds(histogram.mean_ns()),
    };
    [
        kind,
        shortened(&printable(&site), SITE_WIDTH),
        number::count(used.taken),
        number::percent(share),
        time(&used.hold),
        time(&used.wait),
        match used.failed {
            0 => String::new(),
            failed => number::count(failed),
        },
    ]
}

fn kind(family: Family) -> &'static str {
    match family {
        Family::Mutex => "mutex",
        Family::ReadWrite => "read-write",
        Family::Spin => "spin",
    }
}

fn condition_rows(process: &Process, width: u16) -> String {
    let headings = [
        ("condition variable", Align::Left),
        ("waits", Align::Right),
        ("mean", Align::Right),
        ("timed out", Align::Right),
        ("signals", Align::Right),
        ("broadcasts", Align::Right),
    ];
    let mut table = table(width, &headings);
    for condition in process.conditions.iter().take(MOST_PLACES) {
        let site = condition.site.first().map_or_else(String::new, ToString::to_string);
        table.add_row([
            shortened(&printable(&site), SITE_WIDTH),
            number::count(condition.wait.count),
            number::nanoseconds(condition.wait.mean_ns()),
            number::count(condition.timed_out),
            number::count(condition.signals),
            number::count(condition.broadcasts),
        ]);
    }
    format!("\n{}", text_of(&table))
}
