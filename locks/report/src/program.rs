//! The program under study, as the page shows it: its locks, condition variables and runs.

use kilocore_forecast::{AcquiredAt, ForecastLock, LinesSource};
use kilocore_lock_profile::{Profile, Run};
use kilocore_show::number;

use crate::ForecastReport;

/// Places of acquisition of one lock that are shown.
const MOST_PLACES: usize = 3;

/// A lock of the program.
#[derive(Debug)]
pub(crate) struct LockRow {
    /// Where to look in the source for what created it or first took it.
    pub(crate) site: String,
    /// The whole call stack, innermost first; empty if there is no more to it.
    pub(crate) callers: Vec<String>,
    /// Where it is acquired, the place with the longest waits first.
    pub(crate) acquired_at: Vec<PlaceRow>,
    pub(crate) family: &'static str,
    pub(crate) instances: String,
    pub(crate) acquisitions: String,
    /// Empty if there were none.
    pub(crate) shared: String,
    pub(crate) contended: String,
    pub(crate) hold: String,
    pub(crate) wait: String,
    pub(crate) held: String,
    pub(crate) lines: String,
    pub(crate) lines_range: String,
}

impl LockRow {
    /// A lock as the forecast sees it.
    pub(crate) fn new(lock: &ForecastLock) -> Self {
        let site = lock.place.clone();
        // The whole stack, unless the place is all of it.
        let callers = if lock.site.len() > 1 { lock.site.clone() } else { Vec::new() };
        let instances = match (lock.instances, lock.effective_instances) {
            (all, effective) if all == effective => number::count(all.into()),
            (all, effective) => {
                format!("{} (like {})", number::count(all.into()), number::count(effective.into()))
            }
        };
        Self {
            site,
            callers,
            acquired_at: lock.acquired_at.iter().take(MOST_PLACES).map(PlaceRow::new).collect(),
            family: lock.family,
            instances,
            acquisitions: number::count(lock.acquisitions),
            shared: match lock.shared_acquisitions {
                0 => String::new(),
                shared => format!("{} shared", number::count(shared)),
            },
            contended: number::percent(lock.contended_share),
            hold: number::nanoseconds(lock.hold.0),
            wait: number::nanoseconds(lock.wait.0),
            held: number::percent(lock.held_share),
            lines: number::plain((lock.lines * 10.0).round() / 10.0),
            lines_range: format!(
                "{}{:.1} to {:.1}",
                match lock.lines_source {
                    LinesSource::Traced => "counted under QEMU: ",
                    LinesSource::Estimated => "",
                    LinesSource::Assumed => "assumed: ",
                },
                lock.lines_low,
                lock.lines_high
            ),
        }
    }
}

/// A place at which a lock is acquired.
#[derive(Debug)]
pub(crate) struct PlaceRow {
    pub(crate) site: String,
    /// The whole call stack, innermost first.
    pub(crate) callers: Vec<String>,
    /// How often it is acquired there, and how long that takes.
    pub(crate) figures: String,
}

impl PlaceRow {
    fn new(at: &AcquiredAt) -> Self {
        Self {
            site: at.place.clone(),
            callers: at.site.clone(),
            figures: format!(
                "acquired {} times, waited {}, {} in all",
                number::engineering(at.acquisitions as f64, ""),
                number::percent(at.contended as f64 / at.acquisitions.max(1) as f64),
                number::nanoseconds(at.waited.0)
            ),
        }
    }
}

/// A condition variable of the program.
#[derive(Debug)]
pub(crate) struct ConditionRow {
    pub(crate) site: String,
    pub(crate) callers: Vec<String>,
    pub(crate) waits: String,
    pub(crate) mean_wait: String,
    pub(crate) timed_out: String,
    pub(crate) signals: String,
    pub(crate) broadcasts: String,
}

/// The condition variables of the run that counts.
pub(crate) fn conditions(profile: &Profile) -> Vec<ConditionRow> {
    let processes = profile.runs.first().map_or(&[][..], |run| &run.processes);
    let conditions = processes.iter().flat_map(|process| &process.conditions);
    let row = |condition: &kilocore_lock_profile::Condition| {
        let (site, callers) = site(condition.site.iter().map(ToString::to_string));
        ConditionRow {
            site,
            callers,
            waits: number::count(condition.wait.count),
            mean_wait: number::nanoseconds(condition.wait.mean().0),
            timed_out: number::count(condition.timed_out),
            signals: number::count(condition.signals),
            broadcasts: number::count(condition.broadcasts),
        }
    };
    conditions.map(row).collect()
}

/// The profiled runs and what was seen in them, a sentence each.
pub(crate) fn facts(report: &ForecastReport<'_>) -> Vec<String> {
    let forecast = report.forecast;
    let mut facts = vec![format!(
        "{} threads acquired locks; between sections they computed for {} and slept for {} on average.",
        number::count(forecast.profiled_threads),
        number::nanoseconds(forecast.think.0),
        number::nanoseconds(forecast.asleep.0),
    )];
    if let Some(profile) = report.profile {
        facts.extend(profile.runs.iter().map(run));
        let processes = profile.runs.first().map_or(&[][..], |run| &run.processes);
        let unrecorded: u64 = processes.iter().map(|process| process.locks_not_recorded).sum();
        if unrecorded > 0 {
            facts.push(format!(
                "{} locks found no room in the recorder and are missing here.",
                number::count(unrecorded)
            ));
        }
    }
    facts
}

fn run(run: &Run) -> String {
    let threads: u64 = run.processes.iter().map(|process| process.threads.started).sum();
    format!(
        "On {}: {} from start to end, {} of processor time, {} threads, exit status {}.",
        match run.cores {
            1 => "one core".to_owned(),
            cores => format!("{cores} cores"),
        },
        number::nanoseconds(run.wall_time.0),
        number::nanoseconds(run.processes.iter().map(|process| process.threads.cpu_time.0).sum()),
        number::count(threads),
        run.exit_status,
    )
}

/// The innermost frame, and the others.
fn site(mut frames: impl Iterator<Item = String>) -> (String, Vec<String>) {
    let innermost = frames.next().unwrap_or_else(|| "an unknown place".to_owned());
    (innermost, frames.collect())
}
