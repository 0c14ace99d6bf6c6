//! What the program's memory is: changes of it, as records.

use std::fs;
use std::sync::Mutex;
use std::sync::PoisonError;

use kilocore_references::record::Record;
use kilocore_references::{Backing, Mapping, Move, PageNumber, Region};

use crate::maps;
use crate::thread::Thread;

/// Where the heap ends, as an address, once the program has asked.
static HEAP_END: Mutex<Option<u64>> = Mutex::new(None);

/// Changes of the address space.
pub(crate) struct AddressSpace;

impl AddressSpace {
    /// Tells of what was there when the program began. A page of its stack is known.
    pub(crate) fn tell_first(thread: &mut Thread, in_stack: u64) {
        for mut mapping in maps::new_ones() {
            if mapping.region.contains(PageNumber(in_stack)) {
                mapping.backing = Backing::Stack;
            }
            thread.change(|number| Record::Mapped(number, Box::new(mapping)));
        }
    }

    /// Memory was mapped, by a call with these flags and this file.
    pub(crate) fn map(thread: &mut Thread, at: u64, bytes: u64, flags: u64, file: u64) {
        let backing = if flags & libc::MAP_ANONYMOUS as u64 != 0 {
            Backing::Anonymous
        } else {
            let name = fs::read_link(format!("/proc/self/fd/{}", file as i32));
            name.map_or(Backing::Unknown, |name| Backing::File(name.to_string_lossy().into()))
        };
        let shared = flags & 0xf != libc::MAP_PRIVATE as u64;
        let mapping = Mapping { region: Region::of_bytes(at, bytes), backing, shared };
        thread.change(|number| Record::Mapped(number, Box::new(mapping)));
    }

    /// Memory is given back.
    pub(crate) fn unmap(thread: &mut Thread, at: u64, bytes: u64) {
        let region = Region::of_bytes(at, bytes);
        thread.change(|number| Record::Unmapped(number, region));
    }

    /// What is in memory is given back.
    pub(crate) fn discard(thread: &mut Thread, at: u64, bytes: u64) {
        let region = Region::of_bytes(at, bytes);
        thread.change(|number| Record::Discarded(number, region));
    }

    /// Memory moved, or became larger or smaller where it was.
    pub(crate) fn moved(thread: &mut Thread, from: (u64, u64), to: (u64, u64)) {
        let (from, to) = (Region::of_bytes(from.0, from.1), Region::of_bytes(to.0, to.1));
        thread.change(|number| Record::Moved(number, Box::new(Move { from, to })));
    }

    /// The heap ends here now.
    pub(crate) fn heap_ends(thread: &mut Thread, end: u64) {
        let before = HEAP_END.lock().unwrap_or_else(PoisonError::into_inner).replace(end);
        let Some(before) = before else { return };
        let pages = |address: u64| address.div_ceil(PageNumber::BYTES);
        let (first, last) = (pages(before.min(end)), pages(before.max(end)));
        if first == last {
            return;
        }
        let region = Region { first: PageNumber(first), pages: last - first };
        if end > before {
            let mapping = Mapping { region, backing: Backing::Heap, shared: false };
            thread.change(|number| Record::Mapped(number, Box::new(mapping)));
        } else {
            thread.change(|number| Record::Unmapped(number, region));
        }
    }
}
