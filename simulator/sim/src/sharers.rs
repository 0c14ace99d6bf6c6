//! Which cores hold a copy of each line: one bit per core, all lines in one vector.

/// A set of cores for every line.
#[derive(Debug)]
pub(crate) struct Sharers {
    words_per_line: usize,
    words: Vec<u64>,
}

impl Sharers {
    pub(crate) fn new(cores: usize) -> Self {
        Self { words_per_line: cores.div_ceil(64), words: Vec::new() }
    }

    /// Makes room for one more line, without sharers.
    pub(crate) fn push_line(&mut self) {
        self.words.resize(self.words.len() + self.words_per_line, 0);
    }

    #[inline]
    pub(crate) fn contains(&self, line: usize, core: usize) -> bool {
        self.words[line * self.words_per_line + core / 64] >> (core % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn insert(&mut self, line: usize, core: usize) {
        self.words[line * self.words_per_line + core / 64] |= 1 << (core % 64);
    }

    #[inline]
    pub(crate) fn remove(&mut self, line: usize, core: usize) {
        self.words[line * self.words_per_line + core / 64] &= !(1 << (core % 64));
    }

    /// Leaves `core` as the only sharer.
    #[inline]
    pub(crate) fn reset_to(&mut self, line: usize, core: usize) {
        // Word by word: filling and then setting one bit would read back what a wider store has
        // just written, and wait for it.
        for (index, word) in self.of_mut(line).iter_mut().enumerate() {
            *word = if index == core / 64 { 1 << (core % 64) } else { 0 };
        }
    }

    /// Leaves no sharer.
    pub(crate) fn clear(&mut self, line: usize) {
        self.of_mut(line).fill(0);
    }

    fn of_mut(&mut self, line: usize) -> &mut [u64] {
        let start = line * self.words_per_line;
        &mut self.words[start..start + self.words_per_line]
    }
}
