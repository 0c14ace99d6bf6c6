//! The events of a packet, as columns, because like packs well with like.
//!
//! * **What happens**, a byte each: the kind, whether the thread is that of the event before (bit 6),
//!   and whether the clock is (bit 7).
//! * **Threads**, where they differ from the one before.
//! * **Clocks**, as differences to the one before, where there are any.
//! * **Pages** of bursts, as differences to the page of the burst before.
//! * **Loads**, **stores** and **instructions**.
//! * **Places**: all that is said of mappings and blocks, with names as they are. Callers are differences to
//!   the ones before.
//!
//! Each packet begins anew, so that it can be read without those before it.

use crate::{
    Backing, Block, Burst, Callers, Event, EventKind, Instructions, Mapping, Move, PageNumber,
    Region, ThreadId,
};
use kilocore_trace_file::{NoNumber, fold, put, unfold};

/// No packet has more events.
pub(crate) const MOST_EVENTS: usize = 1 << 16;
/// No packet unpacks to more bytes. A mapping takes most: a name, and a few numbers.
pub(crate) const MOST_BYTES: usize = 64 << 20;
/// No name is longer.
pub(crate) const LONGEST_NAME: usize = 1 << 12;

const SAME_THREAD: u8 = 1 << 6;
const SAME_CLOCK: u8 = 1 << 7;

const STARTED: u8 = 0;
const BURST: u8 = 1;
const QUANTUM: u8 = 2;
const MAPPED: u8 = 3;
const UNMAPPED: u8 = 4;
const MOVED: u8 = 5;
const FORKED: u8 = 6;
const REPLACED: u8 = 7;
const ENDED: u8 = 8;
const DISCARDED: u8 = 9;
const ALLOCATED: u8 = 10;
const FREED: u8 = 11;

/// Anonymous memory with callers behind it, beside the other kinds of memory.
const CALLED: u64 = 5;

/// The columns, as they are written.
#[derive(Debug, Default)]
struct Columns {
    whats: Vec<u8>,
    threads: Vec<u8>,
    clocks: Vec<u8>,
    pages: Vec<u8>,
    reads: Vec<u8>,
    writes: Vec<u8>,
    instructions: Vec<u8>,
    places: Vec<u8>,
}

/// What each event is compared with.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    thread: ThreadId,
    at: Instructions,
    page: PageNumber,
}

/// Appends the columns of some events.
pub(crate) fn encode(events: &[Event], to: &mut Vec<u8>) {
    let (mut columns, mut before) = (Columns::default(), Before::default());
    for event in events {
        columns.push(event, &mut before);
    }
    let Columns { whats, threads, clocks, pages, reads, writes, instructions, places } = columns;
    for column in [whats, threads, clocks, pages, reads, writes, instructions, places] {
        put(to, column.len() as u64);
        to.extend(column);
    }
}

impl Columns {
    fn push(&mut self, event: &Event, before: &mut Before) {
        let code = self.push_kind(&event.kind, before);
        let mut flags = 0;
        if event.thread == before.thread {
            flags |= SAME_THREAD;
        } else {
            put(&mut self.threads, event.thread.0.into());
        }
        if event.at == before.at {
            flags |= SAME_CLOCK;
        } else {
            put(&mut self.clocks, fold(event.at.0.wrapping_sub(before.at.0) as i64));
        }
        (before.thread, before.at) = (event.thread, event.at);
        self.whats.push(code | flags);
    }

    fn push_kind(&mut self, kind: &EventKind, before: &mut Before) -> u8 {
        match kind {
            EventKind::Started => STARTED,
            EventKind::Burst(Burst { page, reads, writes }) => {
                let difference = page.0.wrapping_sub(before.page.0) as i64;
                put(&mut self.pages, fold(difference));
                put(&mut self.reads, (*reads).into());
                put(&mut self.writes, (*writes).into());
                before.page = *page;
                BURST
            }
            EventKind::Quantum { instructions } => {
                put(&mut self.instructions, (*instructions).into());
                QUANTUM
            }
            EventKind::Mapped(mapping) => {
                self.push_mapping(mapping);
                MAPPED
            }
            EventKind::Unmapped(region) => {
                self.push_region(*region);
                UNMAPPED
            }
            EventKind::Discarded(region) => {
                self.push_region(*region);
                DISCARDED
            }
            EventKind::Moved(it) => {
                self.push_region(it.from);
                self.push_region(it.to);
                MOVED
            }
            EventKind::Allocated(block) => {
                put(&mut self.places, block.address);
                put(&mut self.places, block.bytes);
                self.push_callers(&block.callers);
                ALLOCATED
            }
            EventKind::Freed(address) => {
                put(&mut self.places, *address);
                FREED
            }
            EventKind::Forked => FORKED,
            EventKind::Replaced => REPLACED,
            EventKind::Ended => ENDED,
        }
    }

    fn push_callers(&mut self, callers: &Callers) {
        let addresses = callers.addresses();
        put(&mut self.places, addresses.len() as u64);
        let mut before = 0_u64;
        for &address in addresses {
            put(&mut self.places, fold(address.wrapping_sub(before) as i64));
            before = address;
        }
    }

    fn push_region(&mut self, region: Region) {
        put(&mut self.places, region.first.0);
        put(&mut self.places, region.pages);
    }

    fn push_mapping(&mut self, mapping: &Mapping) {
        self.push_region(mapping.region);
        let (code, name) = match &mapping.backing {
            Backing::Anonymous if !mapping.callers.is_empty() => (CALLED, None),
            Backing::Anonymous => (0, None),
            Backing::Heap => (1, None),
            Backing::Stack => (2, None),
            Backing::File(name) => (3, Some(name)),
            Backing::Unknown => (4, None),
        };
        put(&mut self.places, code << 1 | u64::from(mapping.shared));
        if let Some(name) = name {
            put(&mut self.places, name.len() as u64);
            self.places.extend(name.as_bytes());
        }
        if code == CALLED {
            self.push_callers(&mapping.callers);
        }
    }
}

/// Columns that are none: what is wrong, and with which event, counted from 0.
#[derive(Debug)]
pub(crate) struct Malformed {
    pub(crate) event: usize,
    pub(crate) what: &'static str,
}

/// The columns, as they are read.
#[derive(Debug)]
struct Cursors<'a> {
    whats: &'a [u8],
    threads: &'a [u8],
    clocks: &'a [u8],
    pages: &'a [u8],
    reads: &'a [u8],
    writes: &'a [u8],
    instructions: &'a [u8],
    places: &'a [u8],
}

/// Appends the so many events of a packet.
pub(crate) fn decode(raw: &[u8], count: usize, to: &mut Vec<Event>) -> Result<(), Malformed> {
    let mut cursors = Cursors::new(raw).ok_or(Malformed { event: 0, what: NO_COLUMNS })?;
    if cursors.whats.len() != count {
        return Err(Malformed { event: 0, what: "the packet has another number of events" });
    }
    let mut before = Before::default();
    for event in 0..count {
        to.push(cursors.take(&mut before).map_err(|what| Malformed { event, what })?);
    }
    if cursors.is_empty() { Ok(()) } else { Err(Malformed { event: count, what: NO_COLUMNS }) }
}

const NO_COLUMNS: &str = "the packet's columns do not fill it";
const NO_NUMBER: &str = "a number of the event is none, or too large";

/// Takes a number from the front of a column.
fn take(column: &mut &[u8]) -> Result<u64, &'static str> {
    kilocore_trace_file::take(column).map_err(|NoNumber| NO_NUMBER)
}

impl<'a> Cursors<'a> {
    fn new(mut raw: &'a [u8]) -> Option<Self> {
        let mut columns = [&raw[..0]; 8];
        for column in &mut columns {
            let length = usize::try_from(take(&mut raw).ok()?).ok()?;
            (*column, raw) = raw.split_at_checked(length)?;
        }
        let [whats, threads, clocks, pages, reads, writes, instructions, places] = columns;
        let cursors = Self { whats, threads, clocks, pages, reads, writes, instructions, places };
        raw.is_empty().then_some(cursors)
    }

    fn is_empty(&self) -> bool {
        let Self { whats, threads, clocks, pages, reads, writes, instructions, places } = self;
        [whats, threads, clocks, pages, reads, writes, instructions, places]
            .iter()
            .all(|column| column.is_empty())
    }

    fn take(&mut self, before: &mut Before) -> Result<Event, &'static str> {
        let (&code, rest) = self.whats.split_first().ok_or(NO_COLUMNS)?;
        self.whats = rest;
        if code & SAME_THREAD == 0 {
            before.thread = ThreadId(number(&mut self.threads)?);
        }
        if code & SAME_CLOCK == 0 {
            let difference = unfold(take(&mut self.clocks)?);
            before.at = Instructions(before.at.0.wrapping_add(difference as u64));
        }
        let kind = self.take_kind(code & !(SAME_THREAD | SAME_CLOCK), before)?;
        Ok(Event { at: before.at, thread: before.thread, kind })
    }

    fn take_kind(&mut self, code: u8, before: &mut Before) -> Result<EventKind, &'static str> {
        Ok(match code {
            STARTED => EventKind::Started,
            BURST => {
                let difference = unfold(take(&mut self.pages)?);
                let page = PageNumber(before.page.0.wrapping_add(difference as u64));
                if page.0 >= PageNumber::END {
                    return Err("the page is beyond the last that there can be");
                }
                before.page = page;
                let (reads, writes) = (number(&mut self.reads)?, number(&mut self.writes)?);
                EventKind::Burst(Burst { page, reads, writes })
            }
            QUANTUM => EventKind::Quantum { instructions: number(&mut self.instructions)? },
            MAPPED => EventKind::Mapped(Box::new(self.take_mapping()?)),
            UNMAPPED => EventKind::Unmapped(self.take_region()?),
            DISCARDED => EventKind::Discarded(self.take_region()?),
            MOVED => EventKind::Moved(Box::new(Move {
                from: self.take_region()?,
                to: self.take_region()?,
            })),
            ALLOCATED => EventKind::Allocated(Box::new(self.take_block()?)),
            FREED => EventKind::Freed(take(&mut self.places)?),
            FORKED => EventKind::Forked,
            REPLACED => EventKind::Replaced,
            ENDED => EventKind::Ended,
            _ => return Err("the event is of no kind that there is"),
        })
    }

    fn take_region(&mut self) -> Result<Region, &'static str> {
        let (first, pages) = (take(&mut self.places)?, take(&mut self.places)?);
        match first.checked_add(pages) {
            Some(end) if end <= PageNumber::END => Ok(Region { first: PageNumber(first), pages }),
            _ => Err("the region is beyond the last page that there can be"),
        }
    }

    fn take_block(&mut self) -> Result<Block, &'static str> {
        let (address, bytes) = (take(&mut self.places)?, take(&mut self.places)?);
        if address.checked_add(bytes).is_none() {
            return Err("the block is beyond the last address that there can be");
        }
        Ok(Block { address, bytes, callers: self.take_callers()? })
    }

    fn take_callers(&mut self) -> Result<Callers, &'static str> {
        let count = take(&mut self.places)?;
        if count > Callers::MOST as u64 {
            return Err("there are more callers than are kept");
        }
        let mut address = 0_u64;
        let mut addresses = Vec::with_capacity(count as usize);
        for _ in 0..count {
            address = address.wrapping_add(unfold(take(&mut self.places)?) as u64);
            addresses.push(address);
        }
        Ok(Callers::new(&addresses))
    }

    fn take_mapping(&mut self) -> Result<Mapping, &'static str> {
        let region = self.take_region()?;
        let code = take(&mut self.places)?;
        let backing = match code >> 1 {
            0 => Backing::Anonymous,
            1 => Backing::Heap,
            2 => Backing::Stack,
            3 => {
                let length = take(&mut self.places)?;
                if length > LONGEST_NAME as u64 {
                    return Err("the name is longer than there are");
                }
                let (name, rest) =
                    self.places.split_at_checked(length as usize).ok_or(NO_COLUMNS)?;
                self.places = rest;
                Backing::File(str::from_utf8(name).map_err(|_| "the name is no text")?.into())
            }
            4 => Backing::Unknown,
            CALLED => Backing::Anonymous,
            _ => return Err("the mapping is of no kind that there is"),
        };
        let is_called = code >> 1 == CALLED;
        let callers = if is_called { self.take_callers()? } else { Callers::default() };
        Ok(Mapping { region, backing, shared: code & 1 != 0, callers })
    }
}

/// Takes a number of 32 bits.
fn number(column: &mut &[u8]) -> Result<u32, &'static str> {
    u32::try_from(take(column)?).map_err(|_| NO_NUMBER)
}
