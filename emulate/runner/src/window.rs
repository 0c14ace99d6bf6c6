//! The part of a run that is asked for: whether there can be one, and whether there was.

use std::path::{Path, PathBuf};

use kilocore_emulation_orders::{Place, Report, Seen, Window};
use kilocore_machine::names::nearest;
use kilocore_symbols::{Entries, function_names};

use crate::EmulateError;

/// What somebody types before the place where loads and stores begin to be simulated.
pub(crate) const WARM: &str = "--warm-from";
/// The same where the part begins.
pub(crate) const FROM: &str = "--from";
/// The same where it ends.
pub(crate) const UNTIL: &str = "--until";

/// A part of a program's run, with the files in which its functions are.
pub(crate) fn found(window: &Window, program: &Path) -> Result<Window, EmulateError> {
    let program = real(program);
    let mut window = window.clone();
    let options = [(WARM, &mut window.warm), (FROM, &mut window.from), (UNTIL, &mut window.until)];
    for (option, place) in options {
        let Some(place) = place else { continue };
        let typed = place.clone();
        let Place::Call { file, function, .. } = place else { continue };
        let path = match file {
            None => program.clone(),
            Some(file) if file.contains('/') => real(Path::new(file)),
            // Which one that is, the program decides.
            Some(_) => continue,
        };
        let missing = |why: String| EmulateError::NoFunction { option, place: typed, why };
        match Entries::open(&path, function) {
            Ok(entries) if !entries.is_empty() => *file = Some(path.to_string_lossy().into_owned()),
            Ok(_) => return Err(missing(none_in(&path, function))),
            Err(error) => return Err(missing(error.to_string())),
        }
    }
    Ok(window)
}

/// A file's path as the system has it among what is mapped.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// What to say of a file that has no function of a name.
fn none_in(path: &Path, function: &str) -> String {
    let names = function_names(path).unwrap_or_default();
    let near = nearest(function, names.iter().map(String::as_str));
    let part = || names.iter().find(|name| name.contains(function)).map(String::as_str);
    const OF_LIBRARY: &str = "write FILE:FUNCTION for one of a library, as in libfoo.so:solve";
    const INLINED: &str =
        "the compiler may have put it into its callers, which `__attribute__((noinline))` prevents";
    let mend = match near.or_else(part) {
        Some(near) => format!("did you mean {near}? If not, {INLINED}"),
        None if names.is_empty() => format!("it has no symbols of functions; {OF_LIBRARY}"),
        None => format!("{INLINED}; {OF_LIBRARY}"),
    };
    format!("{} has no function of that name; {mend}", path.display())
}

/// Whether a run had the part that was asked for, as somebody has typed it and as it was found.
pub(crate) fn check(typed: &Window, window: &Window, report: &Report) -> Result<(), EmulateError> {
    let Some(seen) = report.seen.filter(|_| !window.is_whole()) else { return Ok(()) };
    let Seen { from_ns, until_ns, from_times, until_times, .. } = seen;
    let missed = |option, place, why| Err(EmulateError::NotReached { option, place, why });
    let place = |typed: &Option<Place>, found: &Option<Place>| typed.clone().zip(found.clone());
    let (from, until) = (place(&typed.from, &window.from), place(&typed.until, &window.until));
    match (from, until) {
        (Some((from, _)), Some((until, _))) if from_ns.is_none() && until_ns.is_some() => {
            Err(EmulateError::Backwards { from, until })
        }
        (Some((from, found)), _) if from_ns.is_none() => {
            missed(FROM, from, never(&found, from_times, report))
        }
        (_, Some((until, found))) if until_ns.is_none() => {
            missed(UNTIL, until, never(&found, until_times, report))
        }
        _ => Ok(()),
    }
}

/// Why a place was not reached of which this has happened so often.
fn never(place: &Place, times: u32, report: &Report) -> String {
    match (place, times) {
        (Place::Call { function, .. }, 0) => {
            let Some(file) = report.files.iter().find(|file| place.is_in(&file.path)) else {
                return "no file of that name was in the program's memory when it ended".to_owned();
            };
            let path = Path::new(&file.path);
            match Entries::open(path, function) {
                Ok(none) if none.is_empty() => none_in(path, function),
                _ => "the program did not call it".to_owned(),
            }
        }
        (Place::Call { .. }, times) => format!("the program called it {}", often(times)),
        (Place::Signal { .. }, 0) => "the program did not send it to itself".to_owned(),
        (Place::Signal { .. }, times) => {
            format!("the program sent it {} to itself", often(times))
        }
        (Place::Threads, _) => {
            "the program made no threads, or they were there when it ended".to_owned()
        }
        (Place::Time(_) | Place::Start, _) => "the program ended before".to_owned(),
    }
}

fn often(times: u32) -> String {
    if times == 1 { "once".to_owned() } else { format!("{times} times") }
}
