//! The folios that processes write.

use kilocore_lru::FolioOrder;

/// The largest order of folios: sixteen pages. A lock that is taken that seldom limits nobody.
pub const LARGEST_FOLIO: FolioOrder = match FolioOrder::new(4) {
    Some(order) => order,
    None => FolioOrder::PAGE,
};

/// In what folios processes write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Folios {
    /// Their order, at most [`LARGEST_FOLIO`]. Only sequential writes have large ones.
    pub order: FolioOrder,
    /// Whether large folios wait in batches, as single pages do. In Linux they do not.
    pub wait: bool,
}

impl Folios {
    /// Single pages, as in the paper.
    pub const PAGES: Folios = Folios { order: FolioOrder::PAGE, wait: false };

    /// Whether they are single pages.
    #[must_use]
    pub fn are_pages(self) -> bool {
        self.order == FolioOrder::PAGE
    }
}
