//! Where the values come from that a thread works with while it holds something: which line had to arrive
//! for each.
//!
//! A value that was there before depends on nothing. One that is loaded depends on its line, and through
//! that on the line from which the address came. One that is made of several depends on the one at the end
//! of the longest chain; the others are forgotten. How long a chain is, is judged here as if every line
//! moved. Which do is known only when the hold is over, and then counts (`chain.rs`).
//!
//! A store gives its value to later loads of the same bytes at once, so what is spilled to the stack depends
//! on what it was.

use crate::flow::{REGISTERS, Set, Site, Step};

/// So many stored words of eight bytes are remembered: one for each value of some bits of the address.
const WORDS: usize = 128;

/// What a value depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The line that had to arrive last; the line 0 is none.
    pub(crate) line: u64,
    /// How many lines had to arrive one after the other, as if all moved.
    pub(crate) depth: u32,
}

impl Origin {
    /// The one at the end of the longer chain.
    fn or(self, other: Self) -> Self {
        if other.depth > self.depth { other } else { self }
    }
}

/// A word of eight bytes that was stored to.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    address: u64,
    /// In which round this was. Words of other rounds are none.
    round: u64,
    /// A bit for each byte that was stored.
    bytes: u8,
    origin: Origin,
}

/// The values of a thread.
#[derive(Debug)]
pub(crate) struct Values {
    /// The registers that depend on something.
    live: Set,
    registers: [Origin; REGISTERS],
    words: [Word; WORDS],
    round: u64,
    /// The clock of the instruction that was called about last.
    at: u64,
    /// What it has loaded so far.
    loaded: Origin,
}

impl Default for Values {
    fn default() -> Self {
        Self {
            live: 0,
            registers: [Origin::default(); REGISTERS],
            words: [Word::default(); WORDS],
            round: 1,
            at: 0,
            loaded: Origin::default(),
        }
    }
}

impl Values {
    /// All that there is has arrived.
    pub(crate) fn forget(&mut self) {
        self.live = 0;
        self.round += 1;
        self.loaded = Origin::default();
    }

    #[inline]
    pub(crate) fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            if self.live & (step.from | step.to) != 0 {
                let origin = self.of(step.from);
                self.set(step.to, origin);
            }
        }
    }

    /// An instruction that uses memory has been executed. Returns what its addresses depend on.
    #[inline]
    pub(crate) fn arrive(&mut self, site: &Site, clock: u64) -> Origin {
        if self.at != clock {
            self.at = clock;
            self.loaded = Origin::default();
            self.steps(&site.before);
        }
        self.of(site.addressed)
    }

    /// It loads from a place whose line has this origin, by an address that has that one.
    pub(crate) fn load(&mut self, site: &Site, place: MemoryRange, line: Origin, from: Origin) {
        let value = self.stored(place).unwrap_or(line).or(from);
        self.loaded = self.loaded.or(value);
        let origin = self.of(site.step.from).or(self.loaded);
        self.set(site.step.to, origin);
    }

    /// Notes that an instruction stores into a place.
    pub(crate) fn store(&mut self, site: &Site, place: MemoryRange) {
        let origin = self.of(site.stored).or(self.loaded);
        let (address, bytes) = place.word();
        let round = self.round;
        let word = &mut self.words[address as usize % WORDS];
        if word.address != address || word.round != round {
            *word = Word { address, round, bytes, origin };
        } else if word.bytes & !bytes == 0 {
            (word.bytes, word.origin) = (bytes, origin);
        } else {
            (word.bytes, word.origin) = (word.bytes | bytes, word.origin.or(origin));
        }
    }

    /// What the value in a place depends on, if the thread has stored it.
    fn stored(&self, place: MemoryRange) -> Option<Origin> {
        let (address, bytes) = place.word();
        let word = &self.words[address as usize % WORDS];
        let is_it = word.address == address && word.round == self.round && bytes & !word.bytes == 0;
        is_it.then_some(word.origin)
    }

    #[inline]
    fn of(&self, registers: Set) -> Origin {
        let mut left = registers & self.live;
        let mut origin = Origin::default();
        while left != 0 {
            origin = origin.or(self.registers[left.trailing_zeros() as usize]);
            left &= left - 1;
        }
        origin
    }

    fn set(&mut self, registers: Set, origin: Origin) {
        if origin.depth == 0 {
            self.live &= !registers;
            return;
        }
        self.live |= registers;
        let mut left = registers;
        while left != 0 {
            self.registers[left.trailing_zeros() as usize] = origin;
            left &= left - 1;
        }
    }
}

/// A place in memory of a few bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryRange {
    pub(crate) address: u64,
    pub(crate) bytes: u64,
}

impl MemoryRange {
    /// The first and the last line that it lies in.
    pub(crate) fn lines(self) -> (u64, u64) {
        (self.address >> 6, self.address.wrapping_add(self.bytes - 1) >> 6)
    }

    /// The number of the word that it begins in, and a bit for each of its bytes there.
    fn word(self) -> (u64, u8) {
        let mask = if self.bytes >= 8 { u8::MAX } else { (1 << self.bytes) - 1 };
        (self.address >> 3, mask << (self.address & 7))
    }
}
