//! The words that a thread holds, and the lines that it uses meanwhile.

use crate::flow::{Block, Site};
use crate::values::{MemoryRange, Origin, Values};

/// So many lines are remembered of one hold.
pub(crate) const MOST_LINES: usize = 64;
/// The places of a hold's table. Half of them stay empty, so that searches are short.
const PLACES: usize = 2 * MOST_LINES;
/// So many words at a time. What is held longest is forgotten when there are more.
pub(crate) const MOST_HOLDS: usize = 8;

/// A line that was used in a hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) line: u64,
    /// Whether the thread wrote it.
    pub(crate) written: bool,
    /// The line that its address came from when it was used first, or 0.
    pub(crate) from: u64,
    /// The thread's clock then.
    pub(crate) since: u64,
    /// The thread's clock when it was first loaded from, or the largest number.
    pub(crate) loaded: u64,
    /// How often all had to be done that was before, until then.
    pub(crate) fence: u64,
    /// How many lines had to arrive one after the other for it, as if all moved.
    depth: u32,
}

/// The lines that were used in a hold. Some words are held for long, and then every access looks here.
#[derive(Debug)]
pub(crate) struct Lines {
    used: Vec<Used>,
    /// Where a line is in `used`, counted from 1, or 0: at its place, or behind it.
    places: [u8; PLACES],
    /// Whether there were more lines than are remembered.
    pub(crate) had_more: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self { used: Vec::with_capacity(MOST_LINES), places: [0; PLACES], had_more: false }
    }
}

impl Lines {
    /// Uses a line. Returns how many lines had to arrive one after the other for it.
    fn touch(&mut self, new: Used) -> u32 {
        let (place, found) = self.find(new.line);
        if let Some(index) = found {
            let known = &mut self.used[index];
            known.written |= new.written;
            known.loaded = known.loaded.min(new.loaded);
            return known.depth;
        }
        if self.used.len() < MOST_LINES {
            self.used.push(new);
            self.places[place] = self.used.len() as u8;
        } else {
            self.had_more = true;
        }
        new.depth
    }

    /// Where a line is remembered, or would be, and its index if it is.
    fn find(&self, line: u64) -> (usize, Option<usize>) {
        let mut place = (line ^ line >> 7) as usize % PLACES;
        while let Some(index) = usize::from(self.places[place]).checked_sub(1) {
            if self.used[index].line == line {
                return (place, Some(index));
            }
            place = (place + 1) % PLACES;
        }
        (place, None)
    }

    /// The lines, in the order in which they were first used.
    pub(crate) fn used(&self) -> &[Used] {
        &self.used
    }

    /// Where a line is among these.
    pub(crate) fn index_of(&self, line: u64) -> Option<usize> {
        if line == 0 { None } else { self.find(line).1 }
    }

    fn clear(&mut self) {
        self.used.clear();
        self.places = [0; PLACES];
        self.had_more = false;
    }
}

/// A word that a thread holds.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) address: u64,
    /// The thread's clock when it took the word.
    pub(crate) since: u64,
    pub(crate) lines: Lines,
}

/// What a thread holds, and its clock.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    list: Vec<Hold>,
    spare: Vec<Lines>,
    /// The instructions that the thread has executed, to the end of its block.
    pub(crate) clock: u64,
    /// Whether it went through the gate, and has not left it.
    pub(crate) in_gate: bool,
    values: Values,
    /// How often all had to be done that was before.
    fence: u64,
    /// The block that it executes.
    block: Option<&'static Block>,
}

impl Holds {
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether it holds this word.
    pub(crate) fn has(&self, address: u64) -> bool {
        self.list.iter().any(|hold| hold.address == address)
    }

    /// Notes that the thread begins to execute a block.
    #[inline(always)]
    pub(crate) fn enter(&mut self, block: &'static Block) {
        if let Some(last) = self.block.replace(block)
            && !self.is_empty()
        {
            self.values.steps(&last.rest);
        }
        self.clock += block.sites.len() as u64;
    }

    /// The clock at an instruction of the block.
    pub(crate) fn at(&self, site: &Site) -> u64 {
        self.clock.saturating_sub(site.behind)
    }

    /// What comes later waits for all that was before.
    pub(crate) fn fence(&mut self) {
        self.fence += 1;
    }

    /// An instruction has loaded, or stored, or both in one step.
    pub(crate) fn touch(&mut self, site: &Site, place: MemoryRange, [loads, stores]: [bool; 2]) {
        let clock = self.at(site);
        let from = self.values.arrive(site, clock);
        let (first, last) = place.lines();
        // Whoever has a stack seldom has to wait for it.
        let depth = from.depth + u32::from(!site.in_stack);
        let mut used = Used {
            line: first,
            written: stores,
            from: from.line,
            since: clock,
            loaded: if loads { clock } else { u64::MAX },
            fence: self.fence,
            depth,
        };
        let mut origin = Origin { line: first, depth };
        // The word that has been held longest knows most lines.
        for (index, hold) in self.list.iter_mut().enumerate() {
            used.line = first;
            let depth = hold.lines.touch(used);
            if index == 0 {
                origin.depth = depth;
            }
            if last != first {
                used.line = last;
                hold.lines.touch(used);
            }
        }
        if loads {
            self.values.load(site, place, origin, from);
        }
        if stores {
            self.values.store(site, place);
        }
    }

    /// Begins to hold a word. Returns the word that is forgotten for it.
    pub(crate) fn begin(&mut self, address: u64, since: u64) -> Option<u64> {
        let before = self.end(address);
        before.into_iter().for_each(|hold| self.reuse(hold));
        let forgotten = (self.list.len() >= MOST_HOLDS).then(|| self.list.remove(0));
        if self.list.is_empty() {
            self.values.forget();
        }
        let lines = self.spare.pop().unwrap_or_default();
        self.list.push(Hold { address, since, lines });
        forgotten.map(|hold| {
            let address = hold.address;
            self.reuse(hold);
            address
        })
    }

    /// Holds a word no more.
    pub(crate) fn end(&mut self, address: u64) -> Option<Hold> {
        let index = self.list.iter().position(|hold| hold.address == address)?;
        Some(self.list.remove(index))
    }

    /// Keeps the memory of a hold for the next one.
    pub(crate) fn reuse(&mut self, hold: Hold) {
        let mut lines = hold.lines;
        lines.clear();
        self.spare.push(lines);
    }

    /// All that it holds, as it ends.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = u64> {
        std::mem::take(&mut self.list).into_iter().map(|hold| hold.address)
    }
}
