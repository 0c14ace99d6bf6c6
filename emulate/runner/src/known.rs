//! What is said of runs that were known from before, and of those that will not be.

use std::time::SystemTime;

use kilocore_process::utc_date_of;

use crate::Point;

/// When a run was emulated, if that was not now.
pub(crate) fn since(point: &Point) -> Option<String> {
    point.known_since.map(utc_date_of)
}

/// A run of a study: what its locks are, how many cores it has, and what came out.
pub(crate) type Shown<'a> = (String, u32, &'a Point);

/// Lines about all runs of a study.
pub(crate) fn lines(shown: &[Shown<'_>]) -> Vec<String> {
    let known: Vec<SystemTime> = shown.iter().filter_map(|(_, _, it)| it.known_since).collect();
    let mut lines = Vec::new();
    if let (Some(&first), Some(&last)) = (known.iter().min(), known.iter().max()) {
        let (first, last) = (utc_date_of(first), utc_date_of(last));
        let when = if first == last { first } else { format!("{first} to {last}") };
        let which = if known.len() == shown.len() { "all".to_owned() } else { which(shown) };
        lines.push(format!("known from before, emulated {when}: {which}"));
        lines.push("(the program was not run for these; --no-cache emulates it anew)".to_owned());
    }
    if let Some(why) = shown.iter().find_map(|(_, _, point)| point.for_once.as_ref()) {
        lines.push(format!("emulated anew each time: {why}"));
    }
    lines
}

/// On which numbers of cores they are known, for each choice of locks.
fn which(shown: &[Shown<'_>]) -> String {
    let of = |same: &[Shown<'_>]| {
        let known = same.iter().filter(|(_, _, point)| point.known_since.is_some());
        let cores: Vec<String> = known.map(|(_, cores, _)| cores.to_string()).collect();
        (!cores.is_empty()).then(|| format!("on {} cores{}", cores.join(", "), same[0].0))
    };
    let by_locks = shown.chunk_by(|(one, ..), (other, ..)| one == other);
    by_locks.filter_map(of).collect::<Vec<_>>().join("; ")
}
