//! A profile for the terminal: what was measured, without a forecast.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_lock_profile::{Caller, Family, Frame, Histogram, Lock, Process, Profile, Run};
use kilocore_show::number;
use kilocore_show::terminal::columns::{Align, table, text_of};
use kilocore_show::terminal::{NARROWEST, Style, bullet, wrapped};
use kilocore_show::text::{printable, shortened_apart};

/// Places beyond these, where a process makes locks, are counted and not listed.
const MOST_PLACES: usize = 12;
/// Processes beyond these, which acquire the most locks, are summed up.
const MOST_PROCESSES: usize = 4;
/// Programs that are named in the sum.
const MOST_EXECUTABLES: usize = 3;

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
            number::nanoseconds(run.wall_time.0)
        ),
        width,
    )];
    let (mut processes, without): (Vec<&Process>, Vec<&Process>) =
        run.processes.iter().partition(|process| has_locks(process));
    processes.sort_by_key(|process| std::cmp::Reverse(acquisitions(process)));
    let (detailed, others) = processes.split_at(processes.len().min(MOST_PROCESSES));
    parts.extend(detailed.iter().map(|process| process_part(process, width)));
    if !others.is_empty() {
        let times = number::count(others.iter().map(|process| acquisitions(process)).sum());
        parts.push(wrapped(
            &in_short(others, "more ", &format!("acquired locks {times} times")),
            width,
        ));
    }
    if !without.is_empty() {
        let more = if processes.is_empty() { "" } else { "more " };
        parts.push(wrapped(&in_short(&without, more, "acquired no lock that was seen"), width));
    }
    if run.processes.is_empty() {
        parts.push(wrapped(&no_lock(run), width));
    }
    parts.extend(super::traced::traced_part(profile, width));
    let seen = kilocore_forecast::what_was_seen(profile);
    let lines: Vec<String> = seen.iter().map(|text| bullet(text, width)).collect();
    parts.push(format!("What was seen\n{}", lines.join("\n")));
    style.shown(parts.join("\n\n") + "\n")
}

/// What is said where no process was recorded: more than that there are no locks only if there was none
/// that could not be.
fn no_lock(run: &Run) -> String {
    let unrecorded = run.outside.iter().flat_map(|outside| &outside.unrecorded);
    let programs: BTreeSet<&str> = unrecorded.map(|one| &*one.executable).collect();
    if programs.is_empty() {
        return "No lock of the program was seen.".to_owned();
    }
    let more = programs.len().saturating_sub(MOST_PROCESSES);
    let named: Vec<_> = programs.iter().take(MOST_PROCESSES).map(|path| printable(path)).collect();
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "Of what could be recorded, no lock was seen. Nothing is known of the locks of {}{rest}, which \
         could not be recorded.",
        named.join(", ")
    )
}

/// Acquisitions of all locks of a process.
fn acquisitions(process: &Process) -> u64 {
    process.locks.iter().map(Lock::uses).sum()
}

/// Whether a table has something to show of a process.
fn has_locks(process: &Process) -> bool {
    !process.locks.is_empty() || !process.conditions.is_empty()
}

/// Processes in a sentence, with what they did.
fn in_short(processes: &[&Process], more: &str, did: &str) -> String {
    let mut by_executable: BTreeMap<&str, u64> = BTreeMap::new();
    for process in processes {
        *by_executable.entry(&process.executable).or_default() += 1;
    }
    let mut executables: Vec<(&str, u64)> = by_executable.into_iter().collect();
    executables.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    let named: Vec<String> = executables
        .iter()
        .take(MOST_EXECUTABLES)
        .map(|&(path, count)| match path {
            // Nobody had read its name before it ended.
            "" => format!("{} that ended too soon to be named", number::count(count)),
            _ => format!("{} of {}", number::count(count), printable(path)),
        })
        .collect();
    let rest = executables.len().saturating_sub(MOST_EXECUTABLES);
    let rest = if rest > 0 { format!(" and {rest} other programs") } else { String::new() };
    format!(
        "{} {more}{} {did}, in {} of processor time: {}{rest}.",
        number::count(processes.len() as u64),
        if processes.len() == 1 { "process" } else { "processes" },
        number::nanoseconds(processes.iter().map(|process| process.threads.cpu_time.0).sum()),
        named.join(", ")
    )
}

fn process_part(process: &Process, width: u16) -> String {
    let threads = &process.threads;
    let heading = format!(
        "{} (process {}): {} {}, {} at a time; {} of processor time",
        printable(&process.executable),
        process.pid,
        number::count(threads.started),
        if threads.started == 1 { "thread" } else { "threads" },
        number::count(threads.peak),
        number::nanoseconds(threads.cpu_time.0)
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
    /// Where they are acquired.
    callers: Vec<&'a Caller>,
    locks: u64,
    exclusive: Use,
    shared: Use,
}

impl Place<'_> {
    /// Where the locks are waited for longest or, if that is not known, made.
    fn name(&self) -> String {
        let longest = self.callers.iter().max_by(|a, b| a.waited.total_cmp(&b.waited));
        printable(&longest.map_or_else(
            || kilocore_forecast::place_of(self.site),
            |caller| kilocore_forecast::taker_of(&caller.site),
        ))
    }
}

/// How locks were used in one mode.
#[derive(Default)]
struct Use {
    acquired: u64,
    contended: u64,
    failed: u64,
    hold: Histogram,
    wait: Histogram,
}

impl Use {
    fn add(&mut self, [acquired, contended, failed]: [u64; 3], hold: &Histogram, wait: &Histogram) {
        self.acquired += acquired;
        self.contended += contended;
        self.failed += failed;
        self.hold.merge(hold);
        self.wait.merge(wait);
    }
}

/// The places at which a process makes locks, that of the most acquired ones first.
fn places(process: &Process) -> Vec<Place<'_>> {
    let mut places: Vec<Place<'_>> = Vec::new();
    for lock in &process.locks {
        let known = places.iter().position(|p| p.family == lock.family && p.site == lock.site);
        let index = known.unwrap_or_else(|| {
            let (exclusive, shared) = (Use::default(), Use::default());
            places.push(Place {
                family: lock.family,
                site: &lock.site,
                callers: Vec::new(),
                locks: 0,
                exclusive,
                shared,
            });
            places.len() - 1
        });
        let place = &mut places[index];
        place.locks += lock.instances;
        place.callers.extend(&lock.callers);
        let counts = [lock.acquisitions, lock.contended, lock.failed_tries];
        place.exclusive.add(counts, &lock.hold, &lock.wait);
        if let Some(read) = &lock.read {
            let counts = [read.acquisitions, read.contended, read.failed_tries];
            place.shared.add(counts, &read.hold, &read.wait);
        }
    }
    places.sort_by_key(|place| std::cmp::Reverse(place.exclusive.acquired + place.shared.acquired));
    places
}

fn lock_rows(places: &[Place<'_>], width: u16) -> String {
    let headings = [
        ("lock", Align::Left),
        ("acquired or made at", Align::Left),
        ("acquired", Align::Right),
        ("waited", Align::Right),
        ("hold", Align::Right),
        ("wait", Align::Right),
        ("failed tries", Align::Right),
    ];
    let mut table = table(width, &headings);
    let shown = &places[..places.len().min(MOST_PLACES)];
    let sites: Vec<String> = shown.iter().map(Place::name).collect();
    let sites: Vec<&str> = sites.iter().map(String::as_str).collect();
    for (place, site) in shown.iter().zip(shortened_apart(&sites, SITE_WIDTH)) {
        if place.shared.acquired == 0 || place.exclusive.acquired > 0 {
            table.add_row(row(place, &site, kind(place.family), &place.exclusive));
        }
        if place.shared.acquired > 0 {
            table.add_row(row(place, &site, "shared", &place.shared));
        }
    }
    text_of(&table)
}

/// Room for a call site.
const SITE_WIDTH: usize = 36;

fn row(place: &Place<'_>, site: &str, kind: &str, used: &Use) -> [String; 7] {
    let share = used.contended as f64 / used.acquired.max(1) as f64;
    let kind = match place.locks {
        0 | 1 => kind.to_owned(),
        locks => format!("{kind} × {}", number::count(locks)),
    };
    let time = |histogram: &Histogram| match histogram.count {
        0 => String::new(),
        _ => number::nanoseconds(histogram.mean().0),
    };
    [
        kind,
        site.to_owned(),
        number::count(used.acquired),
        number::percent(share),
        time(&used.hold),
        time(&used.wait),
        match used.failed {
            0 => String::new(),
            failed => number::count(failed),
        },
    ]
}

pub(crate) fn kind(family: Family) -> &'static str {
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
    let shown = &process.conditions[..process.conditions.len().min(MOST_PLACES)];
    let sites = shown.iter().map(|condition| {
        printable(&condition.site.first().map_or_else(String::new, ToString::to_string))
    });
    let sites: Vec<String> = sites.collect();
    let sites: Vec<&str> = sites.iter().map(String::as_str).collect();
    for (condition, site) in shown.iter().zip(shortened_apart(&sites, SITE_WIDTH)) {
        table.add_row([
            site,
            number::count(condition.wait.count),
            number::nanoseconds(condition.wait.mean().0),
            number::count(condition.timed_out),
            number::count(condition.signals),
            number::count(condition.broadcasts),
        ]);
    }
    format!("\n{}", text_of(&table))
}
