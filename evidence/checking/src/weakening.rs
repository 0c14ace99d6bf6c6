//! Weakens one ordering of the shipped source at run time.
//!
//! On an [`Altered`](crate::Altered) platform, each operation knows where in the source it is
//! called, and asks this module which ordering to use. The environment says which ordering is
//! weakened. So one build is enough to try all orderings, each in a process of its own. The program
//! in `evidence/weaken` does that.
//!
//! | variable | meaning |
//! | --- | --- |
//! | [`WEAKEN`] | `FILE:LINE:COLUMN:OPERAND=ORDER`: the call at this place gets this ordering |
//! | [`SEEN`] | a file to which the places of all calls that were made are appended |
//! | [`SUBJECT`] | the only subject that is to be checked |
//!
//! A line of [`SEEN`] has the subject, a tab and the place: `mcs`, tab,
//! `libs/locks/src/mcs.rs:65:14`.
//!
//! A check may go through several algorithms, one after the other. It then names each of them as a
//! [subject](begin).

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::panic::Location;
use std::sync::{Mutex, OnceLock};

use kilocore_platform::Ordering;

/// Names the ordering that is weakened.
pub const WEAKEN: &str = "KILOCORE_WEAKEN";
/// Names the file to which the places of calls are appended.
pub const SEEN: &str = "KILOCORE_ORDERINGS_SEEN";
/// Names the only subject that is checked.
pub const SUBJECT: &str = "KILOCORE_CHECK_ONLY";

/// A place in the source, and the ordering that replaces the one there.
#[derive(Debug, PartialEq, Eq)]
struct Weakening {
    file: String,
    line: u32,
    column: u32,
    operand: usize,
    order: Ordering,
}

thread_local! {
    // A checker runs all its threads on one thread of the operating system, so a thread-local is
    // enough.
    static NOW: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Begins a subject. Returns whether it has to be checked.
#[must_use]
pub fn begin(subject: &str) -> bool {
    NOW.with_borrow_mut(|now| subject.clone_into(now));
    static ONLY: OnceLock<Option<String>> = OnceLock::new();
    let only = ONLY.get_or_init(|| std::env::var(SUBJECT).ok());
    only.as_deref().is_none_or(|only| only == subject)
}

/// Returns the ordering to use for a call. The call is at `place`, and in the source its ordering
/// number `operand` is `order`.
pub(crate) fn order(
    place: &'static Location<'static>,
    operand: usize,
    order: Ordering,
) -> Ordering {
    note(place);
    match chosen() {
        Some(chosen) if chosen.is_of(place, operand) => chosen.order,
        _ => order,
    }
}

fn chosen() -> Option<&'static Weakening> {
    static CHOSEN: OnceLock<Option<Weakening>> = OnceLock::new();
    let read = || {
        let text = std::env::var(WEAKEN).ok()?;
        Some(Weakening::parse(&text).unwrap_or_else(|| panic!("{WEAKEN}: no ordering: {text}")))
    };
    CHOSEN.get_or_init(read).as_ref()
}

impl Weakening {
    /// Reads the value of [`WEAKEN`], such as `libs/locks/src/tas.rs:47:9:1=Relaxed`.
    fn parse(text: &str) -> Option<Self> {
        let (place, order) = text.split_once('=')?;
        let mut parts = place.rsplitn(4, ':');
        let operand = parts.next()?.parse().ok()?;
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        let file = parts.next()?.to_owned();
        let order = match order {
            "Relaxed" => Ordering::Relaxed,
            "Release" => Ordering::Release,
            "Acquire" => Ordering::Acquire,
            "AcqRel" => Ordering::AcqRel,
            _ => return None,
        };
        Some(Self { file, line, column, operand, order })
    }

    fn is_of(&self, place: &Location<'_>, operand: usize) -> bool {
        self.line == place.line()
            && self.column == place.column()
            && self.operand == operand
            && self.file == place.file()
    }
}

/// The places that were seen so far, so that each is written once for each subject.
struct Seen {
    places: HashSet<(String, &'static Location<'static>)>,
    file: File,
}

fn note(place: &'static Location<'static>) {
    static ALL: OnceLock<Option<Mutex<Seen>>> = OnceLock::new();
    let open = || {
        let path = std::env::var_os(SEEN)?;
        let file = OpenOptions::new().create(true).append(true).open(path).expect(SEEN);
        Some(Mutex::new(Seen { places: HashSet::new(), file }))
    };
    let Some(all) = ALL.get_or_init(open) else { return };
    let Seen { places, file } = &mut *all.lock().unwrap();
    let subject = NOW.with_borrow(Clone::clone);
    if places.insert((subject.clone(), place)) {
        let (name, line, column) = (place.file(), place.line(), place.column());
        // In one piece, because several threads of a test program may write.
        let text = format!("{subject}\t{name}:{line}:{column}\n");
        file.write_all(text.as_bytes()).expect(SEEN);
    }
}

#[cfg(test)]
mod tests {
    use super::{Ordering, Weakening};

    #[test]
    fn a_place_and_an_ordering_are_read() {
        let read = Weakening::parse("libs/locks/src/tas.rs:47:9:1=Relaxed").unwrap();
        let file = "libs/locks/src/tas.rs".to_owned();
        let order = Ordering::Relaxed;
        assert_eq!(read, Weakening { file, line: 47, column: 9, operand: 1, order });
        for text in ["", "a:1:2=Relaxed", "a:1:2:0=Weak", "a:1:2:0"] {
            assert_eq!(Weakening::parse(text), None, "{text}");
        }
    }
}
