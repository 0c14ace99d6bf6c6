//! Which caches hold a copy of each line: one bit for each cache, all lines in one vector.

use std::marker::PhantomData;

use crate::ids::{Id, LineId};

/// A set of caches for every line. `C` numbers the caches.
#[derive(Debug)]
pub(crate) struct Sharers<C> {
    words_per_line: usize,
    words: Vec<u64>,
    of: PhantomData<fn(C)>,
}

impl<C: Id> Sharers<C> {
    pub(crate) fn new(caches: usize) -> Self {
        Self { words_per_line: caches.div_ceil(64), words: Vec::new(), of: PhantomData }
    }

    /// Makes room for one more line, without sharers.
    pub(crate) fn push_line(&mut self) {
        self.words.resize(self.words.len() + self.words_per_line, 0);
    }

    #[inline]
    pub(crate) fn contains(&self, line: LineId, cache: C) -> bool {
        self.words[self.word(line, cache)] >> (cache.index() % 64) & 1 != 0
    }

    #[inline]
    pub(crate) fn insert(&mut self, line: LineId, cache: C) {
        let word = self.word(line, cache);
        self.words[word] |= 1 << (cache.index() % 64);
    }

    #[inline]
    pub(crate) fn remove(&mut self, line: LineId, cache: C) {
        let word = self.word(line, cache);
        self.words[word] &= !(1 << (cache.index() % 64));
    }

    /// Leaves `cache` as the only sharer.
    #[inline]
    pub(crate) fn reset_to(&mut self, line: LineId, cache: C) {
        let (sharing, bit) = (cache.index() / 64, 1 << (cache.index() % 64));
        // Each word is written once. To clear all of them and then set a bit would read back what
        // a wider store has just written, and wait for that store.
        for (index, word) in self.of_mut(line).iter_mut().enumerate() {
            *word = if index == sharing { bit } else { 0 };
        }
    }

    /// Whether no cache of the set is left.
    #[inline]
    pub(crate) fn is_empty(&self, line: LineId) -> bool {
        let start = line.index() * self.words_per_line;
        self.words[start..start + self.words_per_line].iter().all(|&word| word == 0)
    }

    /// The first cache of the set that is `from` or after it.
    #[inline]
    pub(crate) fn next(&self, line: LineId, from: usize) -> Option<C> {
        let start = line.index() * self.words_per_line;
        for index in from / 64..self.words_per_line {
            let below = if index == from / 64 { (1u64 << (from % 64)) - 1 } else { 0 };
            let word = self.words[start + index] & !below;
            if word != 0 {
                return Some(C::from_index(index * 64 + word.trailing_zeros() as usize));
            }
        }
        None
    }

    /// Takes all sharers away from a line.
    #[inline]
    pub(crate) fn clear(&mut self, line: LineId) {
        match self.of_mut(line) {
            // Without a call, as most machines have but one.
            [word] => *word = 0,
            words => words.fill(0),
        }
    }

    /// Whether there is a cache of the set besides this one.
    #[inline]
    pub(crate) fn has_others(&self, line: LineId, cache: C) -> bool {
        let start = line.index() * self.words_per_line;
        let words = &self.words[start..start + self.words_per_line];
        words.iter().enumerate().any(|(index, &word)| {
            let own = if index == cache.index() / 64 { 1 << (cache.index() % 64) } else { 0 };
            word & !own != 0
        })
    }

    #[inline]
    fn word(&self, line: LineId, cache: C) -> usize {
        line.index() * self.words_per_line + cache.index() / 64
    }

    fn of_mut(&mut self, line: LineId) -> &mut [u64] {
        let start = line.index() * self.words_per_line;
        &mut self.words[start..start + self.words_per_line]
    }
}
