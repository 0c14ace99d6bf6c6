//! A table of symbols, sorted by address.
//!
//! A symbol reaches to its end, if it states one, and otherwise to the next symbol. Of several
//! symbols at one address, the one with the highest rank stays, and among equals the one that was
//! added last.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use kilocore_linux::foreign_files::{Room, Taken};

/// A stretch of code with a name.
#[derive(Debug, Clone, Copy)]
struct Symbol {
    start: u64,
    end: u64,
    /// Where the name lies among all names.
    name: (usize, usize),
    /// What the user of the table keeps beside it.
    tag: u32,
}

/// A symbol on its way into a table.
#[derive(Debug, Clone, Copy)]
struct Candidate<R> {
    start: u64,
    size: Option<u64>,
    rank: R,
    name: (usize, usize),
    tag: u32,
}

/// Which of several names for one address is taken: a strong one before a weak one, a global one
/// before a local one, then fewer underscores, then the longer one. These are perf's rules, so that
/// names are the ones that `perf report` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AliasRank {
    is_strong: bool,
    is_global: bool,
    underscores: Reverse<usize>,
    length: usize,
}

impl AliasRank {
    pub(crate) fn new(is_weak: bool, is_global: bool, name: &str) -> Self {
        let underscores = Reverse(name.len() - name.trim_start_matches('_').len());
        Self { is_strong: !is_weak, is_global, underscores, length: name.len() }
    }
}

/// Symbols as they are found in a file, from which a [`Table`] is built.
#[derive(Debug)]
pub(crate) struct Builder<R> {
    candidates: Vec<Candidate<R>>,
    names: String,
}

impl<R> Default for Builder<R> {
    fn default() -> Self {
        Self { candidates: Vec::new(), names: String::new() }
    }
}

impl<R: Ord + Copy> Builder<R> {
    /// The most bytes of names. Many symbols can share the bytes of their names in a file, so a small file
    /// could ask for any number of them.
    const MOST: usize = 1 << 28;

    /// Adds a symbol, unless there is no room for its name. The rank decides between symbols of one
    /// address.
    pub(crate) fn add(&mut self, start: u64, size: Option<u64>, rank: R, name: &str, tag: u32) {
        if name.len() > Self::MOST - self.names.len() {
            return;
        }
        let at = self.names.len();
        self.names.push_str(name);
        let name = (at, self.names.len());
        self.candidates.push(Candidate { start, size, rank, name, tag });
    }

    /// The table of all symbols; an empty one if there is no room for them. `last` is how far the last one
    /// reaches if it does not say.
    pub(crate) fn build(mut self, last: u64) -> Table {
        // Stable, so that of equals the last one added is the last one here.
        self.candidates.sort_by_key(|candidate| (candidate.start, candidate.rank));
        let mut symbols: Vec<Symbol> = Vec::new();
        let mut covered = 0;
        for (index, candidate) in self.candidates.iter().enumerate() {
            let Candidate { start, size, name, tag, .. } = *candidate;
            let next = self.candidates.get(index + 1).map(|next| next.start);
            if next == Some(start) {
                continue;
            }
            // A label in a function does not end the function.
            if size.is_none() && start < covered {
                continue;
            }
            let end = match (size, next) {
                (Some(size), _) => start.saturating_add(size),
                (None, Some(next)) => next,
                (None, None) => start.saturating_add(last),
            };
            if size.is_some() {
                covered = covered.max(end);
            }
            symbols.push(Symbol { start, end, name, tag });
        }
        symbols.shrink_to_fit();
        self.names.shrink_to_fit();
        let bytes = self.names.len() + size_of_val(symbols.as_slice());
        match Room::of_this_process().take(bytes as u64) {
            Ok(taken) => Table { symbols, names: self.names, _taken: Some(Arc::new(taken)) },
            Err(_) => Table::default(),
        }
    }
}

/// Symbols by their addresses, each with a name and a tag.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    symbols: Vec<Symbol>,
    names: String,
    _taken: Option<Arc<Taken>>,
}

impl Table {
    /// How many symbols that begin before an address may end before it and yet lie in one that
    /// does not. Functions are hardly ever nested at all.
    const NESTED: usize = 8;

    /// All names, with the addresses that they stand for.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Range<u64>)> {
        let of =
            |symbol: &Symbol| (&self.names[symbol.name.0..symbol.name.1], symbol.start..symbol.end);
        self.symbols.iter().map(of)
    }

    /// The name and the tag of the symbol that an address lies in.
    pub(crate) fn at(&self, address: u64) -> Option<(&str, u32)> {
        let after = self.symbols.partition_point(|symbol| symbol.start <= address);
        let before = &self.symbols[..after];
        let symbol = before.iter().rev().take(Self::NESTED).find(|symbol| address < symbol.end)?;
        Some((&self.names[symbol.name.0..symbol.name.1], symbol.tag))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_symbol_at_or_below_is_found() {
        let mut builder = Builder::default();
        builder.add(100, Some(10), 1, "sized", 0);
        builder.add(105, None, 0, "a label inside", 0);
        builder.add(200, None, 0, "open", 7);
        builder.add(300, None, 0, "worse alias", 0);
        builder.add(300, None, 1, "better alias", 0);
        builder.add(300, None, 0, "worst alias", 0);
        let table = builder.build(50);
        assert_eq!(table.at(99), None);
        assert_eq!(table.at(106), Some(("sized", 0)));
        assert_eq!(table.at(110), None);
        assert_eq!(table.at(299), Some(("open", 7)));
        assert_eq!(table.at(349), Some(("better alias", 0)));
        assert_eq!(table.at(350), None);
    }

    #[test]
    fn names_that_share_their_bytes_do_not_fill_the_memory() {
        let name = "x".repeat(1 << 20);
        let mut builder = Builder::default();
        for start in 0..300 {
            builder.add(start, Some(1), 0, &name[start as usize..], 0);
        }
        builder.add(1000, Some(1), 0, "last", 0);
        assert!(builder.names.len() <= 1 << 28);
        let table = builder.build(0);
        assert!(table.at(0).is_some() && table.at(299).is_none());
        assert_eq!(table.at(1000), Some(("last", 0)));
    }

    #[test]
    fn a_function_around_others_is_found_behind_them() {
        let mut builder = Builder::default();
        builder.add(100, Some(100), 0, "outer", 0);
        builder.add(120, Some(10), 0, "inner", 0);
        let table = builder.build(0);
        assert_eq!(table.at(125), Some(("inner", 0)));
        assert_eq!(table.at(150), Some(("outer", 0)));
    }
}
