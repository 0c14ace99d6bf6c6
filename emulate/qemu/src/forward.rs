//! Fast-forwarding: the program runs under QEMU, and its loads and stores are not simulated.
//!
//! Time passes with instructions and with calls of the system, and nothing waits for memory. So it is done only
//! while the program has one thread: the order of its loads and stores does not matter then, and its core is the one
//! that touches pages first. QEMU can translate all anew then, too: no thread waits inside of translated code.
//!
//! Afterwards caches are empty, and each page that the program has touched lies on the node of its core. The system
//! knows which pages these are.

use std::collections::HashSet;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use kilocore_linux::maps::Mapping;
use kilocore_qemu_plugin::api::{self, PluginId};
use kilocore_qemu_plugin::{guest_base, mappings, read};
use kilocore_sim::Guest;

use crate::guest;

/// The plugin, as QEMU knows it.
static PLUGIN: AtomicU64 = AtomicU64::new(0);

/// A word for each page of this process.
const PAGE_MAP: &str = "/proc/self/pagemap";
const WORD: u64 = size_of::<u64>() as u64;
/// The page is in memory.
const PRESENT: u64 = 1 << 63;
/// It was, and is on a disk now.
const SWAPPED: u64 = 1 << 62;
/// It is a file's, or shared with other processes.
const OF_FILE: u64 = 1 << 61;
/// Words that are read at a time.
const AT_A_TIME: usize = 1 << 13;
/// Of a mapping that is larger, in bytes, nobody touches all, and it would take seconds to look.
const MOST: u64 = 64 << 30;
/// QEMU's own mappings are above; it puts the program's at 2^38 and, as long as there is room, not far above.
const ABOVE: u64 = 1 << 45;

/// The program begins.
pub(crate) fn begin(plugin: PluginId) {
    PLUGIN.store(plugin, Ordering::Relaxed);
}

/// Whether the system says which pages were touched.
pub(crate) fn is_possible() -> bool {
    let word = |file: File| file.read_exact_at(&mut [0; WORD as usize], 0);
    if !File::open(PAGE_MAP).is_ok_and(|file| word(file).is_ok()) {
        return false;
    }
    // A large page is touched as a whole, whatever part of it the program touches.
    // SAFETY: numbers.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0 }
}

/// Loads and stores are simulated from here on. The calling thread runs.
pub(crate) fn end() {
    let (Some(thread), Ok(map)) = (guest::this_thread(), File::open(PAGE_MAP)) else { return };
    let mut own = mappings();
    own.retain(|mapping| mapping.end <= ABOVE && mapping.end - mapping.start <= MOST);
    let with_code: HashSet<&str> =
        own.iter().filter(|mapping| is_program(mapping)).filter_map(Mapping::file).collect();
    for mapping in &own {
        let is_code = mapping.file().is_some_and(|file| with_code.contains(file));
        let pages = if is_code { pages_of(mapping).collect() } else { touched(&map, mapping) };
        guest::simulate(&thread, |guest| guest.has_touched(pages));
    }
}

/// Whether a mapping is the beginning of a program or a library. That it is executed does not tell: QEMU only reads it.
fn is_program(mapping: &Mapping) -> bool {
    let mut first = [0; 4];
    let there = read(mapping.start.wrapping_add(guest_base()), &mut first).is_some();
    there && mapping.offset == 0 && first == *b"\x7fELF"
}

fn pages_of(mapping: &Mapping) -> Range<u64> {
    mapping.start / Guest::PAGE..mapping.end / Guest::PAGE
}

/// The pages of a mapping that the program has touched.
fn touched(map: &File, mapping: &Mapping) -> Vec<u64> {
    // Of a file, the system maps pages around the one that is touched, if they happen to be in memory. So of the
    // program and its libraries all pages count (see `end`), and of other files those that the program has copies of,
    // as it has written to them, and memory that it shares with its children.
    let path = &mapping.path;
    let is_memory = ["/dev/zero", "/memfd:", "/dev/shm/", "/SYSV"];
    let is_shared = mapping.shared && is_memory.iter().any(|name| path.starts_with(name));
    let counts = |word: u64| {
        let touched = word & (PRESENT | SWAPPED) != 0;
        touched && (word & OF_FILE == 0 || is_shared)
    };
    let Range { start: first, end: last } = pages_of(mapping);
    let base = guest_base() / Guest::PAGE;
    let mut pages = Vec::new();
    for begin in (first..last).step_by(AT_A_TIME) {
        let mut words = vec![[0; WORD as usize]; AT_A_TIME.min((last - begin) as usize)];
        if map.read_exact_at(words.as_flattened_mut(), (base + begin) * WORD).is_err() {
            break;
        }
        let words = words.into_iter().map(u64::from_ne_bytes);
        pages.extend((begin..).zip(words).filter(|(_, word)| counts(*word)).map(|(page, _)| page));
    }
    pages
}

/// Has QEMU throw away what it has translated, before the thread that runs executes the next block. The program has
/// one thread.
pub(crate) fn translate_anew() {
    // SAFETY: QEMU gave the number. A thread that executes the program calls this.
    unsafe { api::qemu_plugin_reset(PLUGIN.load(Ordering::Relaxed), crate::listen) };
}
