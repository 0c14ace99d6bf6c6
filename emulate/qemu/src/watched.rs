//! Functions at whose calls something happens: where they are in the program's memory.
//!
//! The program and its libraries may be mapped anywhere, and libraries at any time. So the functions are looked for
//! when code is translated, if files have been mapped since the last time.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use kilocore_emulation_orders::Place;
use kilocore_qemu_plugin::mappings;
use kilocore_symbols::Entries;

/// Whether anything is looked for at all.
static ANY: AtomicBool = AtomicBool::new(false);
/// Whether files may have been mapped since the last time.
static CHANGED: AtomicBool = AtomicBool::new(true);
static WATCHED: Mutex<Watched> = Mutex::new(Watched { functions: Vec::new(), found: Vec::new() });

#[derive(Debug)]
struct Watched {
    functions: Vec<Function>,
    /// Where functions are, and their numbers.
    found: Vec<(u64, usize)>,
}

#[derive(Debug)]
struct Function {
    place: Place,
    name: String,
    /// Where it is in the files that were looked at, if it is there.
    entries: HashMap<String, Entries>,
}

/// The program begins. These are the functions that are looked for.
pub(crate) fn begin<'a>(places: impl Iterator<Item = &'a Place>) {
    let mut watched = watched();
    for place in places {
        if let Place::Call { function, .. } = place {
            ANY.store(true, Ordering::Relaxed);
            watched.functions.push(Function {
                place: place.clone(),
                name: function.clone(),
                entries: HashMap::new(),
            });
        }
    }
}

/// The program has mapped something.
pub(crate) fn mapped() {
    CHANGED.store(true, Ordering::Relaxed);
}

/// Whether the instruction at an address is the first one of a function that is looked for.
pub(crate) fn is_watched(address: u64) -> bool {
    if !ANY.load(Ordering::Relaxed) {
        return false;
    }
    let mut watched = watched();
    if CHANGED.swap(false, Ordering::Relaxed) {
        watched.look();
    }
    watched.found.iter().any(|(at, _)| *at == address)
}

/// Whether the function at an address is that of a place.
pub(crate) fn is_at(place: &Place, address: u64) -> bool {
    let watched = watched();
    let is_its = |number: usize| watched.functions[number].place == *place;
    watched.found.iter().any(|(at, number)| *at == address && is_its(*number))
}

fn watched() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// Looks where the functions are now.
    fn look(&mut self) {
        self.found.clear();
        for mapping in mappings() {
            let Some(path) = mapping.file() else { continue };
            for (number, function) in self.functions.iter_mut().enumerate() {
                if !function.place.is_in(path) {
                    continue;
                }
                let open = || Entries::open(Path::new(path), &function.name).unwrap_or_default();
                let entries = function.entries.entry(path.to_owned()).or_insert_with(open);
                let here = entries.in_memory(mapping.start..mapping.end, mapping.offset);
                self.found.extend(here.map(|address| (address, number)));
            }
        }
    }
}
