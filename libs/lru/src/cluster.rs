//! A few folios that reclaim has taken off their lists.

use crate::folio::{Folio, FolioOrder};
use crate::frame::FrameId;

/// So many frames are taken off at a time, as in Linux.
pub(crate) const CLUSTER: usize = 32;

/// At most [`CLUSTER`] folios, oldest first.
#[derive(Debug)]
pub(crate) struct Cluster {
    folios: [Folio; CLUSTER],
    /// Those from here to the end are there.
    first: usize,
    end: usize,
    /// How many frames they have together.
    frames: u32,
}

impl Cluster {
    pub(crate) const EMPTY: Cluster = Cluster {
        folios: [Folio { head: FrameId(0), order: FolioOrder::PAGE }; CLUSTER],
        first: 0,
        end: 0,
        frames: 0,
    };

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// Returns how many frames its folios have together.
    pub(crate) fn frames(&self) -> u32 {
        self.frames
    }

    /// Adds a folio.
    ///
    /// # Panics
    /// If so many were added already.
    pub(crate) fn push(&mut self, folio: Folio) {
        self.folios[self.end] = folio;
        self.end += 1;
        self.frames += folio.order.frames();
    }

    /// Returns the oldest one.
    pub(crate) fn first(&self) -> Option<Folio> {
        self.folios[self.first..self.end].first().copied()
    }

    /// Takes the oldest one out.
    pub(crate) fn pop(&mut self) -> Option<Folio> {
        let folio = self.first()?;
        self.first += 1;
        self.frames -= folio.order.frames();
        Some(folio)
    }
}
