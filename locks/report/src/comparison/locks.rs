//! Locks of two profiles, found again by where they are made.
//!
//! Addresses, numbers and lines of the source differ between two builds of a program. So a lock is known by its
//! program, its family and the functions through which it was made. Where functions have no names, only a program that
//! was not built anew has the same locks.

use std::collections::BTreeMap;

use kilocore_lock_profile::{Caller, Frame, Lock, Process, Profile};
use kilocore_show::text::printable;
use serde::Serialize;

use super::recorded::{LockUse, Per};

/// The locks of one place, before and after.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct LockChange {
    /// Where they are waited for longest or, if that is not known, made.
    pub(super) place: String,
    pub(super) family: &'static str,
    pub(super) executable: String,
    /// Absent if there were none.
    pub(super) before: Option<LockUse>,
    /// Absent if there are none any more.
    pub(super) after: Option<LockUse>,
}

impl LockChange {
    /// How much more or less of the threads' time it takes.
    fn size(&self) -> f64 {
        let time = |used: Option<LockUse>| used.map_or(0.0, LockUse::time_ns);
        (time(self.after) - time(self.before)).abs()
    }
}

/// What tells the locks of a place from others.
type Key = (String, &'static str, Vec<String>);

/// The locks of a place in one profile.
#[derive(Debug, Default)]
struct Place<'a> {
    used: LockUse,
    site: &'a [Frame],
    longest: Option<&'a Caller>,
}

/// All locks of both profiles; those that changed most come first.
pub(super) fn lock_changes(before: &Profile, after: &Profile, per: Per) -> Vec<LockChange> {
    let (first, mut second) = (places(before, per), places(after, per));
    let gone = first.into_iter().map(|(key, place)| {
        let now = second.remove(&key);
        let name = name(now.as_ref().unwrap_or(&place));
        change(key, name, Some(place.used), now.map(|place| place.used))
    });
    let mut changes: Vec<LockChange> = gone.collect();
    changes.extend(second.into_iter().map(|(key, place)| {
        let name = name(&place);
        change(key, name, None, Some(place.used))
    }));
    changes.sort_by(|one, other| other.size().total_cmp(&one.size()));
    changes
}

fn change(
    (executable, family, _): Key,
    place: String,
    before: Option<LockUse>,
    after: Option<LockUse>,
) -> LockChange {
    LockChange { place, family, executable, before, after }
}

fn places(profile: &Profile, per: Per) -> BTreeMap<Key, Place<'_>> {
    let mut places: BTreeMap<Key, Place<'_>> = BTreeMap::new();
    let Some(run) = profile.runs.first() else { return places };
    for process in &run.processes {
        for lock in &process.locks {
            let place = places.entry(key(process, lock)).or_default();
            place.used.add(lock);
            place.site = &lock.site;
            let callers = place.longest.into_iter().chain(&lock.callers);
            place.longest = callers.max_by(|one, other| one.waited.total_cmp(&other.waited));
        }
    }
    let units = per.in_run(run);
    places.values_mut().for_each(|place| place.used = place.used.divided_by(units));
    places
}

fn key(process: &Process, lock: &Lock) -> Key {
    let file = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let frame = |frame: &Frame| match &*frame.function {
        "" => format!("{}+{:#x}", file(&frame.module), frame.offset),
        function => format!("{function} in {}", file(&frame.module)),
    };
    let site = lock.site.iter().map(frame).collect();
    (file(&process.executable), crate::terminal::profile::kind(lock.family), site)
}

fn name(place: &Place<'_>) -> String {
    let made = || kilocore_forecast::place_of(place.site);
    printable(&place.longest.map_or_else(made, |caller| kilocore_forecast::taker_of(&caller.site)))
}
