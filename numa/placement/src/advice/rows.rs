//! The rows of the report: one for each mapping or place of allocation, but not without end.
//!
//! A program may map memory as often as it likes. So only some mappings of about the same size have a row
//! each, and only some files. When there are more, the one that is no longer mapped and was used least
//! is added to a common row, and its place is free. If all of them are still mapped, the new one has no
//! row of its own.

use std::collections::HashMap;

use crate::advice::kind::{Group, MemoryKind};
use crate::advice::regions::RowId;
use crate::advice::sums::Sums;

/// The bytes of the smallest and of the largest mapping or block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) smallest: u64,
    pub(crate) largest: u64,
}

impl Sizes {
    /// The sizes of no mapping at all: whatever is merged takes their place.
    pub(crate) const NONE: Self = Self { smallest: u64::MAX, largest: 0 };

    pub(crate) fn merge(&mut self, other: Self) {
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
    }
}

/// A row as it grows.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) kind: MemoryKind,
    /// Mappings or blocks that were counted in it.
    pub(crate) mappings: u64,
    /// The sizes of these.
    pub(crate) sizes: Sizes,
    /// How many pages of it are mapped now.
    pub(crate) mapped_pages: u64,
    /// How many pages refer to it, which includes some of blocks that are free.
    pub(crate) used_pages: u64,
    pub(crate) sums: Sums,
}

/// The rows of the report, of which there are only so many.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// Rows that are found by what they are, which includes all but anonymous mappings.
    named: HashMap<MemoryKind, RowId>,
    alone: HashMap<Group, Vec<RowId>>,
    free: Vec<RowId>,
}

impl Rows {
    pub(crate) fn of(&mut self, id: RowId) -> &mut Row {
        &mut self.rows[id.index()]
    }

    pub(crate) fn kind(&self, id: RowId) -> &MemoryKind {
        &self.rows[id.index()].kind
    }

    /// All of them. A row whose place is free has no references.
    pub(crate) fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// The row of a new mapping, or of memory that is as if it was one.
    pub(crate) fn row_for(&mut self, kind: MemoryKind) -> RowId {
        match self.named.get(&kind) {
            Some(&id) => id,
            None => self.new_row(kind),
        }
    }

    fn new_row(&mut self, kind: MemoryKind) -> RowId {
        let Some(group) = kind.group() else { return self.add(kind) };
        let alone = self.alone.entry(group).or_default();
        if alone.len() >= group.most() {
            let is_gone = |row: &Row| row.mapped_pages == 0 && row.used_pages == 0;
            let unmapped = |id: &&RowId| is_gone(&self.rows[id.index()]);
            let used = |id: &&RowId| self.rows[id.index()].sums.references();
            let Some(&least) = alone.iter().filter(unmapped).min_by_key(used) else {
                return self.others(group);
            };
            alone.retain(|&id| id != least);
            self.fold(least, group);
        }
        let id = self.add(kind);
        self.alone.entry(group).or_default().push(id);
        id
    }

    /// The row of those that do not stand alone.
    fn others(&mut self, group: Group) -> RowId {
        let kind = group.others();
        self.named.get(&kind).copied().unwrap_or_else(|| self.add(kind))
    }

    /// Adds a row to the common one.
    fn fold(&mut self, id: RowId, group: Group) {
        let row = self.of(id);
        let (sums, mappings, sizes, kind) =
            (std::mem::take(&mut row.sums), row.mappings, row.sizes, row.kind.clone());
        self.named.remove(&kind);
        self.free.push(id);
        // A row that is added may take the free place, which is empty by now.
        let others = self.others(group);
        let others = self.of(others);
        others.sums.merge(&sums);
        others.mappings += mappings;
        others.sizes.merge(sizes);
    }

    fn add(&mut self, kind: MemoryKind) -> RowId {
        let is_named = !matches!(kind, MemoryKind::Anonymous { .. });
        let row = Row {
            kind: kind.clone(),
            mappings: 0,
            sizes: Sizes::NONE,
            mapped_pages: 0,
            used_pages: 0,
            sums: Sums::default(),
        };
        let id = match self.free.pop() {
            Some(id) => {
                *self.of(id) = row;
                id
            }
            None => {
                self.rows.push(row);
                RowId(self.rows.len() as u32 - 1)
            }
        };
        if is_named {
            self.named.insert(kind, id);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST_ALIKE: usize = 32;

    fn anonymous(order: u64) -> MemoryKind {
        MemoryKind::Anonymous { bytes: 4096, order }
    }

    #[test]
    fn the_least_used_of_many_that_are_gone_are_added_up() {
        let mut rows = Rows::default();
        for order in 0..1000 {
            let id = rows.row_for(anonymous(order));
            let row = rows.of(id);
            (row.sums.reads, row.sums.pages, row.mappings) = (order, 1, 1);
        }
        assert_eq!(rows.rows.len(), MOST_ALIKE + 1);
        let (reads, mappings) = rows
            .rows
            .iter()
            .fold((0, 0), |sum, row| (sum.0 + row.sums.reads, sum.1 + row.mappings));
        assert_eq!((reads, mappings), (999 * 1000 / 2, 1000));
        let of = |kind: &MemoryKind| {
            rows.rows.iter().find(|row| row.kind == *kind).map(|row| row.sums.pages)
        };
        assert_eq!(of(&anonymous(998)), Some(1), "it was used much");
        assert_eq!(of(&MemoryKind::OtherAnonymous { from_bytes: 4096 }), Some(1000 - 32));
    }

    #[test]
    fn mappings_that_are_there_keep_their_rows() {
        let mut rows = Rows::default();
        for order in 0..100 {
            let id = rows.row_for(anonymous(order));
            rows.of(id).mapped_pages += 1;
        }
        assert_eq!(rows.rows.len(), MOST_ALIKE + 1);
        assert!(rows.rows.iter().any(|row| row.kind == anonymous(0)));
        assert!(!rows.rows.iter().any(|row| row.kind == anonymous(99)));
    }

    #[test]
    fn a_file_has_one_row_until_there_are_many() {
        let mut rows = Rows::default();
        let file = |number: u32| MemoryKind::File(format!("/{number}").into());
        assert_eq!(rows.row_for(file(1)), rows.row_for(file(1)));
        assert_eq!(rows.row_for(MemoryKind::Heap), rows.row_for(MemoryKind::Heap));
        for number in 0..100 {
            rows.row_for(file(number));
        }
        assert_eq!(rows.rows.len(), MOST_ALIKE + 2);
    }
}
