//! What the run depends on outside of itself, so that its result can be used again.
//!
//! Calls of the system are the only way out. Those that are known to tell the same each time, or to look for a file,
//! are let pass (`repeatable.rs`); after any other one the result is for this time only. So a call that nobody has
//! thought of costs a run, and never a wrong answer.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::{Dependence, SeenFile, Unstamped};
use kilocore_linux::maps::{self, Mapping};
use kilocore_qemu_plugin::mappings;

#[derive(Debug)]
struct Known {
    files: BTreeSet<SeenFile>,
    /// Bytes of their texts.
    bytes: usize,
    also: Option<String>,
}

static KNOWN: Mutex<Known> = Mutex::new(Known { files: BTreeSet::new(), bytes: 0, also: None });
/// Whether something is known that makes the result one for this time only: what else there is does not matter then.
static IS_FOR_ONCE: AtomicBool = AtomicBool::new(false);
/// Whether the files are noted that QEMU has loaded for the program.
static HAS_BEGUN: AtomicBool = AtomicBool::new(false);

/// The most bytes of paths and texts.
const MOST_BYTES: usize = 1 << 20;

fn known() -> MutexGuard<'static, Known> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// QEMU has loaded itself and the plugin, and not yet the program.
pub(crate) fn emulator_is_loaded() {
    match maps::own() {
        Ok(own) => loaded(&own),
        Err(error) => also(format_args!("what QEMU consists of is not known: {error}")),
    }
}

/// The program calls the system: if that is the first time, QEMU has just loaded it, and its loader.
pub(crate) fn program_is_loaded() {
    if !HAS_BEGUN.swap(true, Ordering::Relaxed) {
        loaded(&mappings());
    }
}

/// These files have been mapped a moment ago.
fn loaded(all: &[Mapping]) {
    let paths: BTreeSet<&str> = all.iter().filter_map(Mapping::file).collect();
    for path in paths {
        saw(path, SeenFile::at(path, true));
    }
    if let Some(gone) = all.iter().find(|one| one.is_gone()) {
        also(format_args!("{} was removed", gone.path));
    }
}

/// The program has looked for something at a path.
pub(crate) fn saw(path: &str, seen: Result<SeenFile, Unstamped>) {
    if is_for_once() {
        return;
    }
    let seen = match seen {
        Ok(seen) => seen,
        Err(why) => return also(format_args!("{path} {why}")),
    };
    let mut known = known();
    let bytes = format!("{seen:?}").len();
    if known.files.insert(seen) {
        known.bytes += bytes;
    }
    let too_many = known.files.len() > Dependence::MOST_FILES || known.bytes > MOST_BYTES;
    drop(known);
    if too_many {
        also("it looks for too many files");
    }
}

/// The run depends on something else, or does something outside. The first that is known is told.
pub(crate) fn also(why: impl Display) {
    IS_FOR_ONCE.store(true, Ordering::Relaxed);
    let mut why = why.to_string();
    why.truncate(why.floor_char_boundary(Dependence::MOST_TEXT));
    let mut known = known();
    known.also.get_or_insert(why);
    known.files.clear();
}

/// Whether the result is for this time only, as is known already.
pub(crate) fn is_for_once() -> bool {
    IS_FOR_ONCE.load(Ordering::Relaxed)
}

/// All of it, for the report.
pub(crate) fn all() -> Dependence {
    let known = known();
    Dependence { files: known.files.iter().cloned().collect(), also: known.also.clone() }
}

/// Does something with the file of a descriptor of the program's, which stays open.
pub(crate) fn with_file<R>(descriptor: RawFd, work: impl FnOnce(&File) -> R) -> Option<R> {
    if descriptor < 0 {
        return None;
    }
    // SAFETY: a number that is no descriptor is one of no file, which the system says; and this is never closed here.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    Some(work(&file))
}
