//! The blocks of the program's allocator, as pages.
//!
//! References are known by page, and blocks begin and end anywhere. A page belongs to the block that has the
//! byte in its middle. So no page belongs to two blocks, and a block of a page's size has a page wherever
//! it begins. A block that has the middle of no page has no references.

use std::collections::HashMap;

use kilocore_references::{Block, PageNumber, Region};

use crate::advice::page_use::Owner;
use crate::advice::regions::{Piece, Regions, RowId};
use crate::advice::rows::Rows;

/// The blocks that are allocated now, and which pages belong to them.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    regions: Regions<Owner>,
    /// By address: those that are not free.
    live: HashMap<u64, (Region, u64)>,
    /// The number of the last one.
    last: u64,
}

/// The pages whose middles are in a block.
fn pages_of(address: u64, bytes: u64) -> Region {
    let rounded = |address: u64| {
        address / PageNumber::BYTES + u64::from(address % PageNumber::BYTES > PageNumber::BYTES / 2)
    };
    let (first, end) = (rounded(address), rounded(address.saturating_add(bytes)));
    Region { first: PageNumber(first), pages: end - first }
}

impl Blocks {
    /// The block that a page belongs to.
    pub(crate) fn find(&self, page: PageNumber) -> Option<Owner> {
        self.regions.find(page).copied()
    }

    /// A block was allocated, of this row. Where another one was, nobody told that it was freed.
    pub(crate) fn allocate(&mut self, block: &Block, row: RowId, rows: &mut Rows) {
        let region = pages_of(block.address, block.bytes);
        self.unmap(region, rows);
        self.last += 1;
        rows.of(row).mapped_pages += region.pages;
        self.regions.insert(Piece { region, owner: Owner { row, block: self.last } });
        self.live.insert(block.address, (region, self.last));
    }

    /// The block at an address was freed, if there was one.
    pub(crate) fn free(&mut self, address: u64, rows: &mut Rows) {
        let Some((region, number)) = self.live.remove(&address) else { return };
        for piece in self.regions.remove(region) {
            if piece.owner.block == number {
                rows.of(piece.owner.row).mapped_pages -= piece.region.pages;
            } else {
                self.regions.insert(piece);
            }
        }
    }

    /// There are no blocks in this memory any more.
    pub(crate) fn unmap(&mut self, region: Region, rows: &mut Rows) {
        for piece in self.regions.remove(region) {
            rows.of(piece.owner.row).mapped_pages -= piece.region.pages;
        }
    }

    /// Whether there were any.
    pub(crate) fn has_seen_any(&self) -> bool {
        self.last > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(address: u64, bytes: u64) -> (u64, u64) {
        let Region { first, pages } = pages_of(address, bytes);
        (first.0, pages)
    }

    #[test]
    fn a_page_belongs_to_whoever_has_its_middle() {
        assert_eq!(pages(0x10_000, 4096), (0x10, 1));
        assert_eq!(pages(0x10_010, 4096), (0x10, 1));
        assert_eq!(pages(0x10_7f0, 4096), (0x10, 1));
        assert_eq!(pages(0x10_810, 4096), (0x11, 1));
        assert_eq!(pages(0x10_010, 2000), (0x10, 0));
        assert_eq!(pages(0x10_010, 2100), (0x10, 1));
        assert_eq!(pages(0x10_800, 1), (0x10, 1), "the very byte");
        assert_eq!(pages(0x10_010, 0), (0x10, 0));
        assert_eq!(pages(u64::MAX - 10, 10), (1 << 52, 0));
    }
}
