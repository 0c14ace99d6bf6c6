//! What is said of runs that were known from before, and of those that will not be.

use std::time::SystemTime;

use kilocore_process::utc_date_of;

use crate::{Point, Variant};

/// When a run was emulated, if that was not now.
pub(crate) fn since(point: &Point) -> Option<String> {
    point.known_since.map(utc_date_of)
}

/// Lines about all runs of a study.
pub(crate) fn lines(variants: &[Variant]) -> Vec<String> {
    let points = || variants.iter().flat_map(|variant| variant.points.iter().map(|(_, it)| it));
    let known: Vec<SystemTime> = points().filter_map(|point| point.known_since).collect();
    let mut lines = Vec::new();
    if let (Some(&first), Some(&last)) = (known.iter().min(), known.iter().max()) {
        let (first, last) = (utc_date_of(first), utc_date_of(last));
        let when = if first == last { first } else { format!("{first} to {last}") };
        let which =
            if known.len() == points().count() { "all".to_owned() } else { which(variants) };
        lines.push(format!("known from before, emulated {when}: {which}"));
        lines.push("(the program was not run for these; --no-cache emulates it anew)".to_owned());
    }
    if let Some(why) = points().find_map(|point| point.for_once.as_ref()) {
        lines.push(format!("emulated anew each time: {why}"));
    }
    lines
}

/// On which numbers of cores they are known, for each choice of locks.
fn which(variants: &[Variant]) -> String {
    let of = |variant: &Variant| {
        let known = variant.points.iter().filter(|(_, point)| point.known_since.is_some());
        let cores: Vec<String> = known.map(|(cores, _)| cores.to_string()).collect();
        (!cores.is_empty()).then(|| format!("on {} cores{}", cores.join(", "), variant.said()))
    };
    variants.iter().filter_map(of).collect::<Vec<_>>().join("; ")
}
