//! What the pages of the program's address space belong to: a row of the report, or a file.

use std::collections::BTreeMap;

use kilocore_references::{PageNumber, Region};

/// A row of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct RowId(pub(crate) u32);

impl RowId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A part of the address space, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece<Owner> {
    pub(crate) region: Region,
    pub(crate) owner: Owner,
}

/// Memory that belongs to somebody. Pieces do not overlap.
#[derive(Debug)]
pub(crate) struct Regions<Owner> {
    /// By first page: the page behind the last, and whose it is.
    pieces: BTreeMap<u64, (u64, Owner)>,
}

impl<Owner> Default for Regions<Owner> {
    fn default() -> Self {
        Self { pieces: BTreeMap::new() }
    }
}

impl<Owner: Clone> Regions<Owner> {
    /// Whose a page is.
    pub(crate) fn find(&self, page: PageNumber) -> Option<&Owner> {
        let (_, (end, owner)) = self.pieces.range(..=page.0).next_back()?;
        (page.0 < *end).then_some(owner)
    }

    /// All pieces, in ascending order, by their first pages.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PageNumber, &Owner)> {
        self.pieces.iter().map(|(&first, (_, owner))| (PageNumber(first), owner))
    }

    /// Adds memory where there is none.
    pub(crate) fn insert(&mut self, Piece { region, owner }: Piece<Owner>) {
        if region.pages > 0 {
            self.pieces.insert(region.first.0, (region.end(), owner));
        }
    }

    /// Takes out what is in a region, and returns it in ascending order. Pieces that lie in it
    /// in part are cut.
    pub(crate) fn remove(&mut self, region: Region) -> Vec<Piece<Owner>> {
        let (first, end) = (region.first.0, region.end());
        let copied = |(&from, piece): (&u64, &(u64, Owner))| (from, piece.clone());
        let mut overlapping: Vec<(u64, (u64, Owner))> =
            self.pieces.range(first..end.max(first)).map(copied).collect();
        let before = self.pieces.range(..first).next_back().map(copied);
        if let Some(reaching) = before.filter(|(_, (to, _))| *to > first) {
            overlapping.insert(0, reaching);
        }
        let mut gone = Vec::with_capacity(overlapping.len());
        for (from, (to, owner)) in overlapping {
            self.pieces.remove(&from);
            if from < first {
                self.pieces.insert(from, (first, owner.clone()));
            }
            if to > end {
                self.pieces.insert(end, (to, owner.clone()));
            }
            let (from, to) = (from.max(first), to.min(end));
            let region = Region { first: PageNumber(from), pages: to - from };
            gone.push(Piece { region, owner });
        }
        gone
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(first: u64, pages: u64) -> Region {
        Region { first: PageNumber(first), pages }
    }

    fn piece(first: u64, pages: u64, row: u32) -> Piece<RowId> {
        Piece { region: region(first, pages), owner: RowId(row) }
    }

    #[test]
    fn a_hole_leaves_both_ends() {
        let mut regions = Regions::default();
        regions.insert(piece(10, 10, 1));
        assert_eq!(regions.remove(region(12, 3)), [piece(12, 3, 1)]);
        let found: Vec<u64> =
            (8..22).filter(|&page| regions.find(PageNumber(page)).is_some()).collect();
        assert_eq!(found, [10, 11, 15, 16, 17, 18, 19]);
    }

    #[test]
    fn what_is_taken_out_may_be_of_several_rows() {
        let mut regions = Regions::default();
        regions.insert(piece(0, 4, 1));
        regions.insert(piece(4, 4, 2));
        regions.insert(piece(10, 4, 3));
        let gone = regions.remove(region(2, 10));
        assert_eq!(gone, [piece(2, 2, 1), piece(4, 4, 2), piece(10, 2, 3)]);
        assert_eq!(regions.find(PageNumber(1)), Some(&RowId(1)));
        assert_eq!(regions.find(PageNumber(12)), Some(&RowId(3)));
        assert_eq!(regions.find(PageNumber(5)), None);
        assert!(regions.remove(region(4, 6)).is_empty());
    }
}
