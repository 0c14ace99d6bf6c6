//! The words that a thread holds, and the lines that it uses meanwhile.

/// So many lines are remembered of one hold.
const MOST_LINES: usize = 64;
/// The places of a hold's table. Half of them stay empty, so that searches are short.
const PLACES: usize = 2 * MOST_LINES;
/// So many words at a time. What is held longest is forgotten when there are more.
pub(crate) const MOST_HOLDS: usize = 8;

/// The lines that were used in a hold. Some words are held for long, and then every access looks here.
#[derive(Debug)]
pub(crate) struct Lines {
    /// Lines, and whether the thread wrote them.
    used: Vec<(u64, bool)>,
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
    fn touch(&mut self, line: u64, writes: bool) {
        let mut place = (line ^ line >> 7) as usize % PLACES;
        while let Some(index) = usize::from(self.places[place]).checked_sub(1) {
            let (known, written) = &mut self.used[index];
            if *known == line {
                *written |= writes;
                return;
            }
            place = (place + 1) % PLACES;
        }
        if self.used.len() < MOST_LINES {
            self.used.push((line, writes));
            self.places[place] = self.used.len() as u8;
        } else {
            self.had_more = true;
        }
    }

    /// Lines, and whether the thread wrote them.
    pub(crate) fn used(&self) -> &[(u64, bool)] {
        &self.used
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

    /// An access of so many bytes.
    pub(crate) fn touch(&mut self, address: u64, bytes: u64, writes: bool) {
        let (first, last) = (address >> 6, address.wrapping_add(bytes - 1) >> 6);
        for hold in &mut self.list {
            hold.lines.touch(first, writes);
            if last != first {
                hold.lines.touch(last, writes);
            }
        }
    }

    /// Begins to hold a word. Returns the word that is forgotten for it.
    pub(crate) fn begin(&mut self, address: u64, since: u64) -> Option<u64> {
        let before = self.end(address);
        before.into_iter().for_each(|hold| self.reuse(hold));
        let forgotten = (self.list.len() >= MOST_HOLDS).then(|| self.list.remove(0));
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
