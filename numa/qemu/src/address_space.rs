//! What happens to the program's memory, as records. A change gets its number when it is told.

use std::fs;
use std::sync::{Mutex, PoisonError};

use kilocore_references::record::Record;
use kilocore_references::{Backing, Callers, Mapping, Move, PageNumber, Region};

use crate::maps;

/// Where the heap ends, as an address, once the program has asked.
static HEAP_END: Mutex<Option<u64>> = Mutex::new(None);

/// What was there when the program began. A page of its stack is known.
pub(crate) fn at_first(in_stack: u64) -> impl Iterator<Item = Record> {
    maps::all().into_iter().map(move |mut mapping| {
        if mapping.region.contains(PageNumber(in_stack)) {
            mapping.backing = Backing::Stack;
        }
        Record::Mapped(0, Box::new(mapping))
    })
}

/// Memory was mapped at an address, of so many bytes, by a call with these flags and this file.
pub(crate) fn mapped(at: (u64, u64), flags: u64, file: u64, callers: Callers) -> Record {
    let backing = if flags & libc::MAP_ANONYMOUS as u64 != 0 {
        Backing::Anonymous
    } else {
        let name = fs::read_link(format!("/proc/self/fd/{}", file as i32));
        name.map_or(Backing::Unknown, |name| Backing::File(name.to_string_lossy().into()))
    };
    let shared = flags & 0xf != libc::MAP_PRIVATE as u64;
    let region = Region::of_bytes(at.0, at.1);
    Record::Mapped(0, Box::new(Mapping { region, backing, shared, callers }))
}

/// Memory is given back.
pub(crate) fn unmapped(at: u64, bytes: u64) -> Record {
    Record::Unmapped(0, Region::of_bytes(at, bytes))
}

/// What is in memory is given back.
pub(crate) fn discarded(at: u64, bytes: u64) -> Record {
    Record::Discarded(0, Region::of_bytes(at, bytes))
}

/// Memory moved, or became larger or smaller where it was. Both are given as addresses and bytes.
pub(crate) fn moved(from: (u64, u64), to: (u64, u64)) -> Record {
    let (from, to) = (Region::of_bytes(from.0, from.1), Region::of_bytes(to.0, to.1));
    Record::Moved(0, Box::new(Move { from, to }))
}

/// The heap ends at this address now. Returns how it changed.
pub(crate) fn heap_ends(end: u64) -> Option<Record> {
    let before = HEAP_END.lock().unwrap_or_else(PoisonError::into_inner).replace(end)?;
    let pages = |address: u64| address.div_ceil(PageNumber::BYTES);
    let (first, last) = (pages(before.min(end)), pages(before.max(end)));
    let region = Region { first: PageNumber(first), pages: last - first };
    if region.pages == 0 {
        return None;
    }
    Some(if end > before {
        Record::Mapped(
            0,
            Box::new(Mapping {
                region,
                backing: Backing::Heap,
                shared: false,
                callers: Callers::default(),
            }),
        )
    } else {
        Record::Unmapped(0, region)
    })
}
