//! Translation buffers that count references, as the paper draws them.
//!
//! An entry has a counter of 13 bits and a bit that says whether the page is remote. References to a
//! remote page count down, those to a copy count up and stop at the largest number. A processor has
//! few entries. One that has to make room is chosen by chance, as in the MIPS R4000 with random
//! replacement, and its counter goes back to the page table, or is lost if the system does not care.

use kilocore_sim::Random;

use crate::units::Page;

/// A translation buffer for each processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TlbOptions {
    /// How many entries it has: 1 to 65,535. The R4000 has 48, of two pages each.
    pub entries: u32,
    /// How many bits a counter has: 1 to 32. The paper says 13.
    pub counter_bits: u32,
    /// Whether a counter goes back to the page table when its entry makes room. If it does not, the
    /// page table keeps what it had when the entry was loaded.
    pub writes_back: bool,
}

impl TlbOptions {
    /// The paper's: 96 pages, as the R4000's 48 entries are pairs, and 13 bits, written back.
    pub const LEE_AND_CHO: Self = Self { entries: 96, counter_bits: 13, writes_back: true };

    pub(crate) fn makes_sense(self) -> bool {
        (1..=65_535).contains(&self.entries) && (1..=32).contains(&self.counter_bits)
    }

    /// The largest number that a counter can hold.
    #[must_use]
    pub fn largest(self) -> u32 {
        u32::MAX >> (32 - self.counter_bits)
    }
}

/// The number of an entry of a translation buffer, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u16);

impl Slot {
    pub(crate) const NONE: Self = Self(u16::MAX);
}

/// The translation buffer of one processor.
#[derive(Debug)]
pub(crate) struct Tlb {
    entries: Vec<Entry>,
    capacity: usize,
    chance: Random,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    page: Page,
    counter: u32,
}

impl Tlb {
    /// An empty one. `chance` chooses who makes room.
    pub(crate) fn new(options: TlbOptions, chance: Random) -> Self {
        Self { entries: Vec::new(), capacity: options.entries as usize, chance }
    }

    /// The counter of an entry.
    pub(crate) fn counter(&self, slot: Slot) -> u32 {
        self.entries[usize::from(slot.0)].counter
    }

    /// Sets the counter of an entry.
    pub(crate) fn set_counter(&mut self, slot: Slot, counter: u32) {
        self.entries[usize::from(slot.0)].counter = counter;
    }

    /// Loads an entry. Returns its number, and the page that made room with its counter.
    pub(crate) fn load(&mut self, page: Page, counter: u32) -> (Slot, Option<(Page, u32)>) {
        let entry = Entry { page, counter };
        if self.entries.len() < self.capacity {
            self.entries.push(entry);
            return (Slot((self.entries.len() - 1) as u16), None);
        }
        let index = (self.chance.bits() % self.capacity as u64) as usize;
        let Entry { page, counter } = std::mem::replace(&mut self.entries[index], entry);
        (Slot(index as u16), Some((page, counter)))
    }
}
