//! Makes events of a trace of what the kernel records: by who did it, and by what the program holds.

use std::collections::HashMap;

use crate::{Cpu, Event, EventKind, Nanoseconds, Order, Page, Thread, Unseen, WriteError, Writer};

use crate::recorder::family::Family;
use crate::recorder::page_record::{Fact, PageRecord};
use crate::recorder::places::{Frame, Happened};

/// What the program holds, and the trace of it.
#[derive(Debug)]
pub(crate) struct Ledger {
    family: Family,
    /// The numbers of groups of pages, by their place in memory.
    groups: HashMap<u64, u32>,
    writer: Writer,
    unseen: Unseen,
    /// When the recording began.
    begin: u64,
    last: Nanoseconds,
    full: bool,
}

/// What comes of a recording.
#[derive(Debug)]
pub(crate) struct Balance {
    pub(crate) writer: Writer,
    pub(crate) unseen: Unseen,
    pub(crate) processes: u32,
    pub(crate) threads: u32,
}

/// Who did something, where and when.
#[derive(Debug, Clone, Copy)]
struct Doer {
    at: Nanoseconds,
    cpu: Cpu,
    thread: Thread,
}

impl Ledger {
    pub(crate) fn new(family: Family, writer: Writer) -> Self {
        let (groups, unseen) = (HashMap::new(), Unseen::default());
        Self { family, groups, writer, unseen, begin: 0, last: Nanoseconds(0), full: false }
    }

    /// From this time on, by the monotonic clock, what happens is recorded.
    pub(crate) fn begin(&mut self, at: u64) {
        self.begin = at;
    }

    /// How many events the trace has.
    pub(crate) fn events(&self) -> u64 {
        self.writer.events()
    }

    /// Whether the program used more memory than there are numbers for.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Ends the trace, and says what came of it.
    pub(crate) fn close(self) -> Balance {
        Balance {
            writer: self.writer,
            unseen: self.unseen,
            processes: self.family.processes(),
            threads: self.family.threads(),
        }
    }

    /// Enters what was seen. It is no older than what was entered before.
    pub(crate) fn enter(&mut self, seen: PageRecord) -> Result<(), WriteError> {
        let (who, happened, in_interrupt) = match seen.what {
            Fact::Started { parent, child } => {
                self.family.started(parent, child);
                return Ok(());
            }
            Fact::Block { who, happened, in_interrupt } => (who, happened, in_interrupt),
        };
        if seen.at < self.begin {
            return Ok(());
        }
        let member = self.family.member(who);
        let of_program = if in_interrupt { None } else { member };
        let thread = of_program.unwrap_or(Thread::OUTSIDE);
        // The kernel takes the time before it writes the record. If an interrupt comes between, the
        // record may arrive with those of a later round.
        self.last = self.last.max(Nanoseconds(seen.at - self.begin));
        let doer = Doer { at: self.last, cpu: Cpu(seen.cpu), thread };
        match happened {
            Happened::Allocated { frame, order, zeroed, movable } => {
                for (frame, order) in blocks(frame, order) {
                    self.vacate(doer, frame, order)?;
                    if of_program.is_some() {
                        self.allocate(doer, (frame, order), zeroed, movable)?;
                    } else if member.is_some() {
                        self.unseen.in_interrupts += 1;
                    }
                }
                Ok(())
            }
            Happened::Released { frame, order } => {
                blocks(frame, order).try_for_each(|(frame, order)| self.release(doer, frame, order))
            }
        }
    }

    fn allocate(
        &mut self,
        doer: Doer,
        (frame, order): (Frame, Order),
        zeroed: bool,
        movable: bool,
    ) -> Result<(), WriteError> {
        let Some(page) = self.number(frame) else { return Ok(()) };
        self.push(doer, EventKind::Allocate { page, order, zeroed, movable })
    }

    /// Somebody releases a block.
    fn release(&mut self, doer: Doer, frame: Frame, order: Order) -> Result<(), WriteError> {
        let page = self.known(frame);
        let held = page.map_or(0, |page| self.writer.held().of(page, order));
        match page {
            Some(page) if held > 0 => self.give_back(doer, page, order).map(drop),
            // Those of others are no concern of ours.
            _ => {
                self.unseen.released_unallocated += u64::from(doer.thread != Thread::OUTSIDE);
                Ok(())
            }
        }
    }

    /// A block is about to be allocated, so nobody holds it any more.
    fn vacate(&mut self, doer: Doer, frame: Frame, order: Order) -> Result<(), WriteError> {
        if let Some(page) = self.known(frame)
            && self.writer.held().of(page, order) > 0
        {
            let doer = Doer { thread: Thread::OUTSIDE, ..doer };
            self.unseen.releases_inferred += self.give_back(doer, page, order)?;
        }
        Ok(())
    }

    /// Releases what the program holds of a block, in blocks as large as can be. Gives their number.
    fn give_back(&mut self, doer: Doer, page: Page, order: Order) -> Result<u64, WriteError> {
        let held = self.writer.held().of(page, order);
        if held == order.pages() {
            return self.push(doer, EventKind::Release { page, order }).map(|()| 1);
        }
        let Some(half) = order.number().checked_sub(1).and_then(|half| Order::new(half).ok())
        else {
            return Ok(0);
        };
        if held == 0 {
            return Ok(0);
        }
        let first = self.give_back(doer, page, half)?;
        Ok(first + self.give_back(doer, Page(page.0 + half.pages()), half)?)
    }

    fn push(&mut self, doer: Doer, kind: EventKind) -> Result<(), WriteError> {
        let Doer { at, cpu, thread } = doer;
        self.writer.push(Event { at, cpu, thread, kind })
    }

    /// The number of a page that may be new.
    fn number(&mut self, frame: Frame) -> Option<Page> {
        let next = self.groups.len() as u32;
        let group = frame.0 / u64::from(Page::GROUP);
        if next >= Page::MOST / Page::GROUP && !self.groups.contains_key(&group) {
            self.full = true;
            return None;
        }
        self.groups.entry(group).or_insert(next);
        self.known(frame)
    }

    /// The number of a page, if it has one.
    fn known(&self, frame: Frame) -> Option<Page> {
        let group = self.groups.get(&(frame.0 / u64::from(Page::GROUP)))?;
        Some(Page(group * Page::GROUP + (frame.0 % u64::from(Page::GROUP)) as u32))
    }
}

/// A block as blocks that a trace can have. Larger pages than x86's have larger blocks.
fn blocks(frame: Frame, order: u8) -> impl Iterator<Item = (Frame, Order)> {
    // Nothing is larger than all memory; more than this would be nonsense of the kernel's.
    const MOST: u8 = 20;
    let part = Order::new(order).unwrap_or(Order::HIGHEST);
    // The kernel's blocks are aligned. Were one not, its pages are taken one by one.
    let part = if frame.0.is_multiple_of(part.pages().into()) { part } else { Order::SINGLE };
    let count = (1_u64 << order.min(MOST)) / u64::from(part.pages());
    (0..count).map(move |index| (Frame(frame.0 + index * u64::from(part.pages())), part))
}

#[cfg(test)]
mod tests;
