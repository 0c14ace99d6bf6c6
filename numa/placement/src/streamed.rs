//! Memories that see the references of a program that runs elsewhere.
//!
//! A stream ([`kilocore_references`]) says which thread referred to which page of the program's address
//! space. All memories see the same references in the same order, so that policies are compared on the
//! same string. What a reference costs does not change the order, unlike in [`Driven`](crate::Driven)
//! simulations.
//!
//! * **Threads are dealt to nodes in turn**, as a system that spreads load does, and to the processors of
//!   a node in turn.
//! * **Each processor has a clock**, which its references let run on. The clock of a thread that begins
//!   or has waited is set to the latest of all.
//! * **Pages that were unmapped are forgotten**, and their numbers are used again. So the memory that this
//!   takes grows with what the program has mapped at a time, not with how long it runs.

use std::collections::BTreeMap;

use kilocore_platform::Cycles;
use kilocore_references::{Event, EventKind, PageNumber, Region, ThreadId};
use thiserror::Error;

use crate::driven::PageSize;
use crate::memory::Memory;
use crate::observer::{Observer, Reference};
use crate::policy::{At, Burst};
use crate::units::{Node, Page, Processor};

/// Pages that are smaller than those that a stream knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("pages of {0} bytes: a stream of references knows none below 4096")]
pub struct StreamedError(u64);

/// See the [module](self). What each reference costs is told to an observer, if there is one.
#[derive(Debug)]
pub struct Streamed<O = ()> {
    memories: Vec<Clocked>,
    observer: O,
    pages: AddressSpace,
    /// Where the merged clock should be for each thread if it has not waited.
    expected: BTreeMap<ThreadId, u64>,
    /// Each thread so far has a lower number.
    threads: u32,
    nodes: u32,
    per_node: u32,
}

/// A memory, and the clocks of its processors.
#[derive(Debug)]
struct Clocked {
    memory: Memory,
    clocks: Vec<Cycles>,
}

/// The page size of streams, as a power of two.
const STREAM_SHIFT: u32 = PageNumber::BYTES.trailing_zeros();

impl Streamed {
    /// For memories that have met no page and have the same processors and nodes.
    ///
    /// # Errors
    /// [`StreamedError`] if pages are smaller than those of the stream.
    ///
    /// # Panics
    /// If there are no memories, or they differ in their processors or nodes.
    pub fn new(memories: Vec<Memory>, size: PageSize) -> Result<Self, StreamedError> {
        Self::observed(memories, size, ())
    }
}

impl<O: Observer> Streamed<O> {
    /// The same, for somebody who wants to know what each reference costs.
    ///
    /// # Errors
    /// As [`new`](Streamed::new) does.
    ///
    /// # Panics
    /// As [`new`](Streamed::new) does.
    pub fn observed(
        memories: Vec<Memory>,
        size: PageSize,
        observer: O,
    ) -> Result<Self, StreamedError> {
        if size.bytes() < PageNumber::BYTES {
            return Err(StreamedError(size.bytes()));
        }
        let shape = |memory: &Memory| {
            let options = memory.machine().options();
            (options.nodes, options.processors_per_node)
        };
        let (nodes, per_node) = shape(memories.first().expect("there are memories"));
        assert!(
            memories.iter().all(|memory| shape(memory) == (nodes, per_node)),
            "machines differ"
        );
        let clocks = vec![Cycles(0); (nodes * per_node) as usize];
        let clocked = |memory| Clocked { memory, clocks: clocks.clone() };
        Ok(Self {
            memories: memories.into_iter().map(clocked).collect(),
            observer,
            pages: AddressSpace::new(size),
            expected: BTreeMap::new(),
            threads: 0,
            nodes,
            per_node,
        })
    }

    /// Takes the next event of the stream.
    pub fn take(&mut self, event: &Event) {
        let (node, processor) = self.place_of(event.thread);
        self.threads = self.threads.max(event.thread.0.saturating_add(1));
        match &event.kind {
            EventKind::Burst(burst) => {
                let page = self.pages.page(burst.page);
                let at = At { processor, node, page };
                let number = burst.page;
                let burst = Burst { reads: burst.reads, writes: burst.writes };
                self.observer.refers(&Reference { thread: event.thread, number, at, burst });
                for (index, Clocked { memory, clocks }) in self.memories.iter_mut().enumerate() {
                    let clock = &mut clocks[processor.index()];
                    let cost = memory.refer(*clock, processor, page, burst);
                    *clock += cost;
                    self.observer.served(index, memory, cost);
                }
            }
            EventKind::Quantum { instructions } => {
                let expected = self.expected.entry(event.thread).or_default();
                let has_waited = event.at.0 > *expected;
                *expected = event.at.after(*instructions).0;
                if has_waited {
                    self.catch_up(processor);
                }
            }
            EventKind::Started => self.catch_up(processor),
            EventKind::Mapped(mapping) => self.forget(mapping.region),
            EventKind::Unmapped(region) | EventKind::Discarded(region) => self.forget(*region),
            EventKind::Moved(moved) => {
                self.forget(moved.to);
                let kept = moved.from.pages.min(moved.to.pages);
                self.pages.rename(Region { pages: kept, ..moved.from }, moved.to.first);
                self.forget(moved.from);
            }
            _ => {}
        }
    }

    /// The memories, in the order in which they came.
    #[must_use]
    pub fn memories(&self) -> impl ExactSizeIterator<Item = &Memory> {
        self.memories.iter().map(|clocked| &clocked.memory)
    }

    /// Who is told of each reference.
    #[must_use]
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// The same, to be told more.
    pub fn observer_mut(&mut self) -> &mut O {
        &mut self.observer
    }

    /// The same, with what it has learned. The memories are gone.
    #[must_use]
    pub fn into_observer(self) -> O {
        self.observer
    }

    /// How many threads there were.
    #[must_use]
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Where a thread runs.
    fn place_of(&self, ThreadId(thread): ThreadId) -> (Node, Processor) {
        let node = thread % self.nodes;
        let processor = node * self.per_node + thread / self.nodes % self.per_node;
        (Node(node as u8), Processor(processor))
    }

    fn catch_up(&mut self, processor: Processor) {
        for Clocked { clocks, .. } in &mut self.memories {
            let latest = clocks.iter().copied().max().unwrap_or_default();
            clocks[processor.index()] = latest;
        }
    }

    fn forget(&mut self, region: Region) {
        for page in self.pages.remove(region) {
            self.observer.forgets(page);
            for Clocked { memory, .. } in &mut self.memories {
                memory.forget(page);
            }
        }
    }
}

/// Which page of the memories is where in the program's address space.
#[derive(Debug)]
struct AddressSpace {
    /// How many pages of the stream are in one, as a power of two.
    shift: u32,
    pages: BTreeMap<u64, Page>,
    /// The pages that were looked up last, each in the place that its number modulo [`RECENT`]
    /// gives.
    recent: Vec<(u64, Page)>,
    next: u32,
    /// Numbers of pages that are gone.
    free: Vec<Page>,
}

const RECENT: u64 = 4096;
const NO_LOOKUP: (u64, Page) = (u64::MAX, Page(0));

impl AddressSpace {
    fn new(size: PageSize) -> Self {
        Self {
            shift: size.bytes().trailing_zeros() - STREAM_SHIFT,
            pages: BTreeMap::new(),
            recent: vec![NO_LOOKUP; RECENT as usize],
            next: 0,
            free: Vec::new(),
        }
    }

    #[inline]
    fn page(&mut self, number: PageNumber) -> Page {
        let key = number.0 >> self.shift;
        let (recent, page) = self.recent[(key % RECENT) as usize];
        if recent == key { page } else { self.look_up(key) }
    }

    #[cold]
    fn look_up(&mut self, key: u64) -> Page {
        let page = *self.pages.entry(key).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.next += 1;
                Page(self.next - 1)
            })
        });
        self.recent[(key % RECENT) as usize] = (key, page);
        page
    }

    /// The keys of pages that lie in a region as a whole.
    fn within(&self, region: Region) -> std::ops::Range<u64> {
        let first = region.first.0.div_ceil(1 << self.shift);
        first..(region.end() >> self.shift).max(first)
    }

    /// Takes pages out. Returns them.
    fn remove(&mut self, region: Region) -> Vec<Page> {
        let keys: Vec<u64> = self.pages.range(self.within(region)).map(|(&key, _)| key).collect();
        let gone: Vec<Page> = keys.iter().filter_map(|key| self.take_out(*key)).collect();
        self.free.extend(&gone);
        gone
    }

    fn take_out(&mut self, key: u64) -> Option<Page> {
        let recent = &mut self.recent[(key % RECENT) as usize];
        if recent.0 == key {
            *recent = NO_LOOKUP;
        }
        self.pages.remove(&key)
    }

    /// Lets pages lie elsewhere from now on, where none are.
    fn rename(&mut self, from: Region, to: PageNumber) {
        let keys: Vec<u64> = self.pages.range(self.within(from)).map(|(&key, _)| key).collect();
        let target = to.0 >> self.shift;
        let start = from.first.0 >> self.shift;
        for key in keys {
            if let Some(page) = self.take_out(key) {
                self.pages.insert(key - start + target, page);
            }
        }
    }
}
