//! What a trace amounts to, in figures.
//!
//! All counts are of pages, not of blocks, unless their name says otherwise: a block of 512 pages
//! that goes back in parts then counts the same as one that goes back whole.

mod histogram;
mod levels;

use std::collections::HashMap;

use serde::Serialize;

use crate::{Cpu, Event, EventKind, Nanoseconds, Page, Thread};
use histogram::Histogram;
use levels::Levels;

pub use histogram::LifetimeBin;
pub use levels::Moment;

/// A private cache of 256 KiB holds so many pages of 4 KiB.
const PRIVATE: u64 = 64;
/// A shared cache of 8 MiB holds so many.
const SHARED: u64 = 2048;

/// What a trace amounts to.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Summary {
    /// How many events there are.
    pub events: u64,
    /// The time of the last.
    pub last_at: Nanoseconds,
    /// How many blocks were allocated.
    pub blocks_allocated: u64,
    /// The same, by order: the first is of single pages. It ends with the highest order that occurs.
    pub blocks_by_order: Vec<u64>,
    /// How many pages were allocated.
    pub allocated: u64,
    /// How many of these were to be filled with zeroes.
    pub zeroed: u64,
    /// How many of these are memory of the program, or hold parts of files.
    pub movable: u64,
    /// Where the pages went back.
    pub releases: Releases,
    /// How long released pages had been held.
    pub lifetimes: Vec<LifetimeBin>,
    /// The time that so many in a hundred of the released pages were held at most. A time is up to a
    /// ninth more than the exact one.
    pub lifetime_percentiles: Vec<(u8, Nanoseconds)>,
    /// Where allocated pages came from.
    pub reuse: Reuse,
    /// How many pages were held at the end.
    pub held_at_end: u64,
    /// How many pages were held at most.
    pub held_at_most: u64,
    /// How many pages were held, over time, in steps of equal length.
    pub held: Vec<Moment>,
}

/// Where pages went back, beside where they had been allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Releases {
    /// How many pages went back.
    pub pages: u64,
    /// How many of these went back on another cpu.
    pub on_other_cpu: u64,
    /// How many were released by another thread of the program.
    pub by_other_thread: u64,
    /// How many were released by somebody else than the program.
    pub from_outside: u64,
}

/// Where allocated pages came from, as far as the trace shows. The distance of a page is how many
/// other pages its cpu allocated since the page went back: so many may be in the cpu's caches in its
/// place. This is the work of the allocator under which the trace was recorded, and not a property
/// of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Reuse {
    /// Pages that the program had released earlier in the trace.
    pub pages: u64,
    /// Of these, the pages that another cpu had released.
    pub from_other_cpu: u64,
    /// Of those from the same cpu, the pages with a distance below 64: 256 KiB, as a private cache
    /// holds.
    pub within_64: u64,
    /// Of those from the same cpu, the pages with a distance below 2048: 8 MiB, as a shared cache
    /// holds.
    pub within_2048: u64,
}

/// A page's last allocation or release.
#[derive(Debug, Clone, Copy)]
struct Last {
    at: Nanoseconds,
    cpu: Cpu,
    thread: Thread,
    /// How many pages the cpu had allocated then.
    count: u64,
}

/// A summary as it grows, event by event.
#[derive(Debug, Default)]
struct Sum {
    summary: Summary,
    lifetimes: Histogram,
    levels: Levels,
    /// The pages that are held, and those that went back.
    held: HashMap<Page, Last>,
    free: HashMap<Page, Last>,
    /// How many pages each cpu has allocated.
    counts: HashMap<Cpu, u64>,
}

impl Summary {
    /// Adds up events that keep the promises of traces.
    ///
    /// # Errors
    /// The first error among the events.
    pub fn of<E>(events: impl IntoIterator<Item = Result<Event, E>>) -> Result<Self, E> {
        let mut sum = Sum::default();
        for event in events {
            sum.add(event?);
        }
        Ok(sum.finish())
    }
}

impl Sum {
    fn add(&mut self, event: Event) {
        self.levels.until(event.at, self.held.len() as u64);
        let (first, order) = event.kind.block();
        let pages = (first.0..first.0 + order.pages()).map(Page);
        let summary = &mut self.summary;
        summary.events += 1;
        summary.last_at = event.at;
        match event.kind {
            EventKind::Allocate { zeroed, movable, .. } => {
                let count = u64::from(order.pages());
                summary.blocks_allocated += 1;
                let by_order = &mut summary.blocks_by_order;
                let index = usize::from(order.number());
                by_order.resize(by_order.len().max(index + 1), 0);
                by_order[index] += 1;
                summary.allocated += count;
                summary.zeroed += if zeroed { count } else { 0 };
                summary.movable += if movable { count } else { 0 };
                pages.for_each(|page| self.allocate(page, &event));
            }
            EventKind::Release { .. } => pages.for_each(|page| self.release(page, &event)),
        }
        self.summary.held_at_most = self.summary.held_at_most.max(self.held.len() as u64);
    }

    fn allocate(&mut self, page: Page, event: &Event) {
        let count = self.counts.entry(event.cpu).or_default();
        if let Some(released) = self.free.remove(&page) {
            let reuse = &mut self.summary.reuse;
            reuse.pages += 1;
            if released.cpu == event.cpu {
                let distance = *count - released.count;
                reuse.within_64 += u64::from(distance < PRIVATE);
                reuse.within_2048 += u64::from(distance < SHARED);
            } else {
                reuse.from_other_cpu += 1;
            }
        }
        *count += 1;
        self.held.insert(page, last(event, *count));
    }

    fn release(&mut self, page: Page, event: &Event) {
        let releases = &mut self.summary.releases;
        releases.pages += 1;
        if let Some(allocated) = self.held.remove(&page) {
            self.lifetimes.add(event.at.0.saturating_sub(allocated.at.0));
            releases.on_other_cpu += u64::from(allocated.cpu != event.cpu);
            if event.thread == Thread::OUTSIDE {
                releases.from_outside += 1;
            } else {
                releases.by_other_thread += u64::from(allocated.thread != event.thread);
            }
        }
        let count = self.counts.get(&event.cpu).copied().unwrap_or(0);
        self.free.insert(page, last(event, count));
    }

    fn finish(mut self) -> Summary {
        let held = self.held.len() as u64;
        Summary {
            lifetimes: self.lifetimes.decades(),
            lifetime_percentiles: [10, 25, 50, 75, 90, 99]
                .into_iter()
                .filter_map(|percent| Some((percent, self.lifetimes.percentile(percent)?)))
                .collect(),
            held: self.levels.finish(self.summary.last_at, held),
            held_at_end: held,
            ..self.summary
        }
    }
}

fn last(event: &Event, count: u64) -> Last {
    Last { at: event.at, cpu: event.cpu, thread: event.thread, count }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Order;

    fn event(at: u64, cpu: u32, thread: u32, kind: EventKind) -> Event {
        Event { at: Nanoseconds(at), cpu: Cpu(cpu), thread: Thread(thread), kind }
    }

    fn allocate(page: u32, order: u8, zeroed: bool) -> EventKind {
        let order = Order::new(order).expect("an order");
        EventKind::Allocate { page: Page(page), order, zeroed, movable: !zeroed }
    }

    fn release(page: u32) -> EventKind {
        EventKind::Release { page: Page(page), order: Order::SINGLE }
    }

    #[test]
    fn pages_are_counted_where_they_come_from_and_go_to() {
        let events = [
            event(0, 0, 1, allocate(8, 2, true)),
            event(1_000, 0, 1, release(8)),
            event(5_000, 1, 1, release(9)),
            event(70_000, 1, 2, release(10)),
            event(800_000, 0, 0, release(11)),
            event(900_000, 0, 2, allocate(8, 0, false)),
            event(900_001, 0, 2, allocate(9, 0, false)),
        ];
        let summary = Summary::of(events.map(Ok::<_, ()>)).expect("no errors");
        assert_eq!((summary.events, summary.blocks_allocated, summary.allocated), (7, 3, 6));
        assert_eq!((summary.zeroed, summary.movable), (4, 2));
        assert_eq!(summary.blocks_by_order, [2, 0, 1]);
        let Releases { pages, on_other_cpu, by_other_thread, from_outside } = summary.releases;
        assert_eq!((pages, on_other_cpu, by_other_thread, from_outside), (4, 2, 1, 1));
        let reuse = summary.reuse;
        assert_eq!((reuse.pages, reuse.from_other_cpu, reuse.within_64), (2, 1, 1));
        assert_eq!((summary.held_at_most, summary.held_at_end), (4, 2));
        let bins: Vec<_> = summary.lifetimes.iter().map(|bin| (bin.from.0, bin.pages)).collect();
        assert_eq!(bins, [(0, 0), (1_000, 2), (10_000, 1), (100_000, 1)]);
        assert!(summary.held.len() > 1 && summary.held.iter().all(|moment| moment.held <= 4));
    }

    #[test]
    fn nothing_amounts_to_nothing() {
        let none: [Result<Event, ()>; 0] = [];
        let summary = Summary::of(none).expect("no errors");
        assert_eq!(summary, Summary { held: summary.held.clone(), ..Summary::default() });
    }
}
