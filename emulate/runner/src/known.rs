//! What is said of runs that were known from before, and of those that will not be.

use std::time::SystemTime;

use kilocore_process::utc_date_of;

use crate::Runs;

/// When the last of some runs was emulated, if none was now.
pub(crate) fn since(runs: &Runs) -> Option<String> {
    runs.known_since().map(utc_date_of)
}

/// Runs of a study that differ by chance only: what their locks are, and how many cores they have.
pub(crate) type Shown<'a> = (String, u32, &'a Runs);

/// Lines about all runs of a study.
pub(crate) fn lines(shown: &[Shown<'_>]) -> Vec<String> {
    let all = || shown.iter().flat_map(|(_, _, runs)| runs.all()).map(|(_, point)| point);
    let known: Vec<SystemTime> = all().filter_map(|point| point.known_since).collect();
    let mut lines = Vec::new();
    if let (Some(&first), Some(&last)) = (known.iter().min(), known.iter().max()) {
        let (first, last) = (utc_date_of(first), utc_date_of(last));
        let when = if first == last { first } else { format!("{first} to {last}") };
        let which = if known.len() == all().count() { "all".to_owned() } else { which(shown) };
        lines.push(format!("known from before, emulated {when}: {which}"));
        lines.push("(the program was not run for these; --no-cache emulates it anew)".to_owned());
    }
    if let Some(why) = all().find_map(|point| point.for_once.as_ref()) {
        lines.push(format!("emulated anew each time: {why}"));
    }
    lines
}

/// On which numbers of cores they are known, for each choice of locks.
fn which(shown: &[Shown<'_>]) -> String {
    let of = |same: &[Shown<'_>]| {
        let on = |(_, cores, runs): &Shown<'_>| {
            let (known, all) = (runs.known(), runs.all().len());
            match known {
                0 => None,
                _ if known == all => Some(cores.to_string()),
                _ => Some(format!("{cores} ({known} of {all} runs)")),
            }
        };
        let cores: Vec<String> = same.iter().filter_map(on).collect();
        let what = if cores == ["1"] { "core" } else { "cores" };
        (!cores.is_empty()).then(|| format!("on {} {what}{}", cores.join(", "), same[0].0))
    };
    let by_locks = shown.chunk_by(|(one, ..), (other, ..)| one == other);
    by_locks.filter_map(of).collect::<Vec<_>>().join("; ")
}
