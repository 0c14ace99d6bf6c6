//! Programs that run on simulated processors, with this memory in the place of caches.
//!
//! The program's addresses become pages in the order in which they are first referred to, so that
//! where the host put them does not matter.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use kilocore_platform::Cycles;
use kilocore_sim::{Reference, ReferenceKind, UncachedMemory};

use crate::memory::Memory;
use crate::policy::Burst;
use crate::units::{Page, Processor};

/// The size of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageSize(u32);

impl PageSize {
    /// Pages of 4 KiB, the usual size.
    pub const SMALL: Self = Self(12);
    /// Pages of 2 MiB, which are the large pages of x86-64.
    pub const LARGE: Self = Self(21);

    /// A size in bytes: a power of two from 64 up to 1 GiB.
    #[must_use]
    pub fn of(bytes: u64) -> Option<Self> {
        let fits = bytes.is_power_of_two() && (64..=1 << 30).contains(&bytes);
        fits.then(|| Self(bytes.trailing_zeros()))
    }

    /// The size in bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        1 << self.0
    }
}

/// The memory of a simulation ([`kilocore_sim::Simulation::replace_caches`]).
#[derive(Debug)]
pub struct Driven {
    memory: Rc<RefCell<Memory>>,
    numbers: PageNumbers,
    lookahead: Cycles,
}

impl Driven {
    /// A memory for the core `n` of a simulation to be processor `n`.
    ///
    /// `private` are the addresses that the program keeps for one processor. All pages that have any
    /// of them count as private.
    ///
    /// A processor may run ahead by half of the cheapest remote read: others could not have learned of
    /// what it did in less time.
    #[must_use]
    pub fn new(memory: Rc<RefCell<Memory>>, size: PageSize, private: &[Range<usize>]) -> Self {
        let costs = memory.borrow().machine().options().costs.clone();
        let nearest = costs.remote_read.iter().filter(|cost| **cost > costs.local).min();
        let lookahead = Cycles(nearest.map_or(0, |cost| cost.0 / 2));
        Self { memory, numbers: PageNumbers::new(size, private), lookahead }
    }
}

impl UncachedMemory for Driven {
    fn refer(&mut self, reference: Reference) -> Cycles {
        let burst = match reference.kind {
            ReferenceKind::Read => Burst::READ,
            ReferenceKind::Write => Burst::WRITE,
            ReferenceKind::ReadModifyWrite => Burst { reads: 1, writes: 1 },
        };
        let mut memory = self.memory.borrow_mut();
        let page = self.numbers.page(reference.address.get(), &mut memory);
        memory.refer(reference.now, Processor(reference.core.0), page, burst)
    }

    fn lookahead(&self) -> Cycles {
        self.lookahead
    }
}

/// Which page is at which address.
#[derive(Debug)]
struct PageNumbers {
    shift: u32,
    numbers: HashMap<usize, Page>,
    /// The last lookups, by number of the page in the address space.
    recent: Vec<(usize, Page)>,
    /// Page numbers of the address space, in ascending order.
    private: Vec<Range<usize>>,
}

const RECENT: usize = 1024;
const NO_LOOKUP: (usize, Page) = (usize::MAX, Page(0));

impl PageNumbers {
    fn new(PageSize(shift): PageSize, private: &[Range<usize>]) -> Self {
        let pages = |range: &Range<usize>| range.start >> shift..((range.end - 1) >> shift) + 1;
        let filled = private.iter().filter(|range| !range.is_empty());
        let mut private: Vec<Range<usize>> = filled.map(pages).collect();
        private.sort_by_key(|range| range.start);
        Self { shift, numbers: HashMap::new(), recent: vec![NO_LOOKUP; RECENT], private }
    }

    #[inline]
    fn page(&mut self, address: usize, memory: &mut Memory) -> Page {
        let key = address >> self.shift;
        let (recent, page) = self.recent[key % RECENT];
        if recent == key { page } else { self.look_up(key, memory) }
    }

    #[cold]
    fn look_up(&mut self, key: usize, memory: &mut Memory) -> Page {
        let next = Page(self.numbers.len() as u32);
        let page = *self.numbers.entry(key).or_insert(next);
        if page == next {
            let after = self.private.partition_point(|range| range.start <= key);
            let private = after > 0 && self.private[after - 1].contains(&key);
            if private {
                memory.set_private(page);
            }
        }
        self.recent[key % RECENT] = (key, page);
        page
    }
}
