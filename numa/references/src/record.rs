//! What a thread of the program writes into its ring.
//!
//! A record is a *head*, and sometimes more slots behind it. The first word of a head says what it is
//! (6 bits), how many slots follow (6 bits), and a number of 52 bits, which is a page. The second word
//! depends on the kind. Kinds that a reader does not know can be skipped, so there may be more of them
//! one day.

use crate::traced_lock::WORDS;
use crate::{
    Backing, Block, Burst, Callers, Mapping, Move, PageNumber, Region, ThreadId, TracedLock,
};

/// No record has more slots behind its head.
pub const MOST_MORE: usize = 63;

const _: () = assert!(WORDS.div_ceil(2) <= MOST_MORE, "a lock is one record");

const KIND_SHIFT: u32 = 52;
const MORE_SHIFT: u32 = 58;
const NUMBER: u64 = PageNumber::END - 1;

/// The numbers of the kinds of records.
mod kind {
    pub(super) const BURST: u64 = 1;
    pub(super) const QUANTUM: u64 = 2;
    pub(super) const EPOCH: u64 = 3;
    pub(super) const STARTED: u64 = 4;
    pub(super) const ENDED: u64 = 5;
    pub(super) const MAPPED: u64 = 6;
    pub(super) const UNMAPPED: u64 = 7;
    pub(super) const MOVED: u64 = 8;
    pub(super) const FORKED: u64 = 9;
    pub(super) const REPLACED: u64 = 10;
    pub(super) const DISCARDED: u64 = 11;
    pub(super) const LOCK: u64 = 12;
    pub(super) const LOCKS_END: u64 = 13;
    pub(super) const ALLOCATED: u64 = 14;
    pub(super) const FREED: u64 = 15;
}

const SHARED: u64 = 1 << 8;
const ANONYMOUS: u64 = 0;
const HEAP: u64 = 1;
const STACK: u64 = 2;
const FILE: u64 = 3;
const UNKNOWN: u64 = 4;
/// Anonymous memory, and who mapped it.
const CALLED: u64 = 5;

const _: () = assert!(Callers::MOST.div_ceil(2) < MOST_MORE, "callers are part of one record");

/// A record. A change of the address space has a number, counted from 1 in the order in which the
/// changes happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    /// References to a page.
    Burst(Burst),
    /// The quantum is over, after so many instructions.
    Quantum(u32),
    /// The quanta from here on have seen so many changes of the address space.
    Epoch(u64),
    /// The thread with this number begins.
    Started(ThreadId),
    /// The thread that writes into the ring ended.
    Ended,
    /// Memory was mapped, by the change with this number.
    Mapped(u64, Box<Mapping>),
    /// Memory was given back.
    Unmapped(u64, Region),
    /// What was in memory went back.
    Discarded(u64, Region),
    /// Memory moved, by the change with this number.
    Moved(u64, Box<Move>),
    /// A block was allocated.
    Allocated(u64, Box<Block>),
    /// The block at an address was freed.
    Freed(u64, u64),
    /// The thread forked a process.
    Forked,
    /// The program wants to be replaced by the one with this path, as far as it is known.
    Replaced(Box<str>),
    /// What was seen of a lock so far. It takes the place of what was told of the lock before.
    Lock(Box<TracedLock>),
    /// All locks were told. So many updates were of words that are not followed.
    LocksEnd(u64),
    /// Something that this version does not know.
    Other,
}

/// The head of a burst: the one record that is written often.
#[inline]
#[must_use]
pub const fn burst(burst: Burst) -> [u64; 2] {
    let Burst { page, reads, writes } = burst;
    [head(kind::BURST, page.0, 0), reads as u64 | (writes as u64) << 32]
}

/// The burst that a head is, if it is one.
#[inline]
#[must_use]
pub const fn as_burst([first, second]: [u64; 2]) -> Option<Burst> {
    if first >> KIND_SHIFT != kind::BURST {
        return None;
    }
    let page = PageNumber(first & NUMBER);
    Some(Burst { page, reads: second as u32, writes: (second >> 32) as u32 })
}

#[inline]
const fn head(kind: u64, number: u64, more: usize) -> u64 {
    number & NUMBER | kind << KIND_SHIFT | (more as u64) << MORE_SHIFT
}

/// How many slots are behind a head.
#[inline]
#[must_use]
pub const fn more(first_word: u64) -> usize {
    (first_word >> MORE_SHIFT) as usize
}

impl Record {
    /// Gives the slots of the record, one after the other: at most one head and [`MOST_MORE`].
    pub fn encode(&self, mut slot: impl FnMut([u64; 2])) {
        match self {
            Self::Burst(it) => slot(burst(*it)),
            Self::Quantum(instructions) => {
                slot([head(kind::QUANTUM, 0, 0), (*instructions).into()])
            }
            Self::Epoch(epoch) => slot([head(kind::EPOCH, 0, 0), *epoch]),
            Self::Started(thread) => slot([head(kind::STARTED, 0, 0), thread.0.into()]),
            Self::Ended => slot([head(kind::ENDED, 0, 0), 0]),
            Self::Forked => slot([head(kind::FORKED, 0, 0), 0]),
            Self::Replaced(path) => {
                let path = ending(path, MOST_MORE);
                slot([head(kind::REPLACED, 0, path.len().div_ceil(16)), 0]);
                encode_text(path, slot);
            }
            Self::Unmapped(number, Region { first, pages }) => {
                slot([head(kind::UNMAPPED, first.0, 1), *pages]);
                slot([*number, 0]);
            }
            Self::Discarded(number, Region { first, pages }) => {
                slot([head(kind::DISCARDED, first.0, 1), *pages]);
                slot([*number, 0]);
            }
            Self::Moved(number, it) => {
                slot([head(kind::MOVED, it.from.first.0, 2), it.from.pages]);
                slot([*number, 0]);
                slot([it.to.first.0, it.to.pages]);
            }
            Self::Mapped(number, mapping) => encode_mapped(*number, mapping, slot),
            Self::Allocated(number, block) => {
                let Block { address, bytes, callers } = &**block;
                slot([head(kind::ALLOCATED, 0, 1 + slots_of(callers)), *number]);
                slot([*address, *bytes]);
                encode_callers(callers, slot);
            }
            Self::Freed(number, address) => {
                slot([head(kind::FREED, 0, 1), *number]);
                slot([*address, 0]);
            }
            Self::Lock(lock) => encode_lock(lock, slot),
            Self::LocksEnd(not_followed) => slot([head(kind::LOCKS_END, 0, 0), *not_followed]),
            Self::Other => {}
        }
    }

    /// The same change of the address space with another number. Other records have none.
    #[must_use]
    pub fn numbered(self, number: u64) -> Self {
        match self {
            Self::Mapped(_, mapping) => Self::Mapped(number, mapping),
            Self::Unmapped(_, region) => Self::Unmapped(number, region),
            Self::Discarded(_, region) => Self::Discarded(number, region),
            Self::Moved(_, it) => Self::Moved(number, it),
            Self::Allocated(_, block) => Self::Allocated(number, block),
            Self::Freed(_, address) => Self::Freed(number, address),
            other => other,
        }
    }

    /// The record that these slots are: a head, and as many as it says behind it.
    #[must_use]
    pub fn decode(slots: &[[u64; 2]]) -> Option<Self> {
        let (&[first, second], rest) = slots.split_first()?;
        if rest.len() != more(first) {
            return None;
        }
        let page = PageNumber(first & NUMBER);
        Some(match first >> KIND_SHIFT & 63 {
            kind::BURST => Self::Burst(as_burst([first, second])?),
            kind::QUANTUM => Self::Quantum(second as u32),
            kind::EPOCH => Self::Epoch(second),
            kind::STARTED => Self::Started(ThreadId(second as u32)),
            kind::ENDED => Self::Ended,
            kind::FORKED => Self::Forked,
            kind::REPLACED => Self::Replaced(text(rest)),
            kind::UNMAPPED => Self::Unmapped(rest.first()?[0], region(page, second)?),
            kind::DISCARDED => Self::Discarded(rest.first()?[0], region(page, second)?),
            kind::MOVED => {
                let [to, pages] = *rest.get(1)?;
                let to = region(PageNumber(to), pages)?;
                Self::Moved(rest.first()?[0], Box::new(Move { from: region(page, second)?, to }))
            }
            kind::MAPPED => {
                let (&[number, flags], behind) = rest.split_first()?;
                let (backing, callers) = backing(flags & 0xff, behind)?;
                let (region, shared) = (region(page, second)?, flags & SHARED != 0);
                Self::Mapped(number, Box::new(Mapping { region, backing, shared, callers }))
            }
            kind::ALLOCATED => {
                let (&[address, bytes], callers) = rest.split_first()?;
                address.checked_add(bytes)?;
                let callers = decode_callers(callers)?;
                Self::Allocated(second, Box::new(Block { address, bytes, callers }))
            }
            kind::FREED => Self::Freed(second, rest.first()?[0]),
            kind::LOCK => Self::Lock(Box::new(lock(rest)?)),
            kind::LOCKS_END => Self::LocksEnd(second),
            _ => Self::Other,
        })
    }
}

/// Behind the head come the lock's numbers, two a slot.
fn encode_lock(lock: &TracedLock, mut slot: impl FnMut([u64; 2])) {
    slot([head(kind::LOCK, 0, WORDS.div_ceil(2)), 0]);
    for pair in lock.words().chunks(2) {
        slot([pair[0], pair.get(1).copied().unwrap_or(0)]);
    }
}

fn lock(slots: &[[u64; 2]]) -> Option<TracedLock> {
    Some(TracedLock::from_words(slots.as_flattened().first_chunk()?))
}

fn region(first: PageNumber, pages: u64) -> Option<Region> {
    let end = first.0.checked_add(pages)?;
    (end <= PageNumber::END).then_some(Region { first, pages })
}

/// How many slots callers take.
fn slots_of(callers: &Callers) -> usize {
    callers.addresses().len().div_ceil(2)
}

/// Two addresses a slot. No function returns to 0, so that fills up the last one.
fn encode_callers(callers: &Callers, mut slot: impl FnMut([u64; 2])) {
    for pair in callers.addresses().chunks(2) {
        slot([pair[0], pair.get(1).copied().unwrap_or(0)]);
    }
}

fn decode_callers(slots: &[[u64; 2]]) -> Option<Callers> {
    let addresses = slots.as_flattened();
    let addresses = addresses.strip_suffix(&[0]).unwrap_or(addresses);
    (addresses.len() <= Callers::MOST && !addresses.contains(&0)).then(|| Callers::new(addresses))
}

/// Behind the head come the number and the flags, and then the file's name, sixteen bytes a slot and
/// filled up with zeroes. A name that is too long loses its beginning. Anonymous memory has its callers
/// there.
fn encode_mapped(number: u64, mapping: &Mapping, mut slot: impl FnMut([u64; 2])) {
    let (code, name) = match &mapping.backing {
        Backing::Anonymous if !mapping.callers.is_empty() => (CALLED, ""),
        Backing::Anonymous => (ANONYMOUS, ""),
        Backing::Heap => (HEAP, ""),
        Backing::Stack => (STACK, ""),
        Backing::File(name) => (FILE, &**name),
        Backing::Unknown => (UNKNOWN, ""),
    };
    let name = ending(name, MOST_MORE - 1);
    let callers = (code == CALLED).then_some(&mapping.callers);
    let more = 1 + name.len().div_ceil(16) + callers.map_or(0, slots_of);
    slot([head(kind::MAPPED, mapping.region.first.0, more), mapping.region.pages]);
    slot([number, code | if mapping.shared { SHARED } else { 0 }]);
    match callers {
        Some(callers) => encode_callers(callers, slot),
        None => encode_text(name, slot),
    }
}

/// The end of a text that fits in so many slots.
fn ending(text: &str, slots: usize) -> &str {
    let mut characters = text.chars();
    while characters.as_str().len() > slots * 16 {
        characters.next();
    }
    characters.as_str()
}

fn encode_text(text: &str, mut slot: impl FnMut([u64; 2])) {
    for part in text.as_bytes().chunks(16) {
        let mut bytes = [0; 16];
        bytes[..part.len()].copy_from_slice(part);
        let number = u128::from_le_bytes(bytes);
        slot([number as u64, (number >> 64) as u64]);
    }
}

fn text(slots: &[[u64; 2]]) -> Box<str> {
    let bytes: Vec<u8> = slots.as_flattened().iter().flat_map(|it| it.to_le_bytes()).collect();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into()
}

fn backing(code: u64, behind: &[[u64; 2]]) -> Option<(Backing, Callers)> {
    if code == CALLED {
        return Some((Backing::Anonymous, decode_callers(behind)?));
    }
    let backing = match code {
        ANONYMOUS => Backing::Anonymous,
        HEAP => Backing::Heap,
        STACK => Backing::Stack,
        FILE => Backing::File(text(behind)),
        UNKNOWN => Backing::Unknown,
        _ => return None,
    };
    Some((backing, Callers::default()))
}
