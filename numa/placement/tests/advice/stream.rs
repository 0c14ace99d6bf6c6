//! Streams made up by hand.

use kilocore_placement::advice::{Advice, Adviser, MappingAdvice, Thresholds};
use kilocore_placement::{Options, PolicyParameters};
use kilocore_references::{
    Backing, Block, Burst, Callers, Event, EventKind, Instructions, Mapping, PageNumber, Region,
    ThreadId,
};

/// An adviser on the paper's machine, and a few words to feed it with.
pub(crate) struct Stream(pub(crate) Adviser);

impl Stream {
    /// For as many nodes, each with a processor. Thread `n` is on node `n`, as long as there are as many.
    pub(crate) fn on(nodes: u32) -> Self {
        let adviser = Adviser::new(&Options::lee_and_cho(nodes), &PolicyParameters::default());
        Self(adviser.expect("a sensible machine"))
    }

    pub(crate) fn take(&mut self, thread: u32, kind: EventKind) {
        self.0.take(&Event { at: Instructions(0), thread: ThreadId(thread), kind });
    }

    pub(crate) fn map(&mut self, first: u64, pages: u64, backing: Backing) {
        let region = region(first, pages);
        self.take(
            0,
            EventKind::Mapped(Box::new(Mapping {
                region,
                backing,
                shared: false,
                callers: Callers::default(),
            })),
        );
    }

    /// Memory without a file that these callers map.
    pub(crate) fn map_from(&mut self, first: u64, pages: u64, callers: &[u64]) {
        let region = region(first, pages);
        let (backing, callers) = (Backing::Anonymous, Callers::new(callers));
        self.take(
            0,
            EventKind::Mapped(Box::new(Mapping { region, backing, shared: false, callers })),
        );
    }

    pub(crate) fn allocate(&mut self, address: u64, bytes: u64, callers: &[u64]) {
        let callers = Callers::new(callers);
        self.take(0, EventKind::Allocated(Box::new(Block { address, bytes, callers })));
    }

    pub(crate) fn free(&mut self, address: u64) {
        self.take(0, EventKind::Freed(address));
    }

    pub(crate) fn unmap(&mut self, first: u64, pages: u64) {
        self.take(0, EventKind::Unmapped(region(first, pages)));
    }

    pub(crate) fn refer(&mut self, thread: u32, page: u64, reads: u32, writes: u32) {
        self.take(thread, EventKind::Burst(Burst { page: PageNumber(page), reads, writes }));
    }

    /// What is advised if ten references are enough.
    pub(crate) fn advice(self) -> Advice {
        self.0.advice(&Thresholds { least_references: 10, ..Thresholds::default() })
    }
}

pub(crate) fn region(first: u64, pages: u64) -> Region {
    Region { first: PageNumber(first), pages }
}

/// The row that is called so.
pub(crate) fn named<'a>(advice: &'a Advice, name: &str) -> &'a MappingAdvice {
    let found = advice.mappings.iter().find(|mapping| mapping.kind.to_string() == name);
    found.unwrap_or_else(|| {
        let names: Vec<String> = advice.mappings.iter().map(|it| it.kind.to_string()).collect();
        panic!("no {name} in {names:?}")
    })
}
