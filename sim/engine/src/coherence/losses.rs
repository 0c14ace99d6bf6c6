//! What caches lose to one another, for whoever keeps a copy of what is in them.
//!
//! Tasks that execute elsewhere ([`crate::guests`]) look into a table of their core's lines before they ask
//! for one here. So that table has to hear when a line goes.

use super::Coherence;
use super::line::{NO_SLOT, NOBODY};
use crate::ids::{CacheId, Id, LineId};

/// What a private cache has lost of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    /// It has its copy no longer to itself.
    Ownership,
    /// It has no copy any more.
    Copy,
}

/// A line of a region of which a private cache has lost something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) cache: CacheId,
    /// The line's address over the size of a line.
    pub(crate) key: usize,
    pub(crate) lost: Lost,
}

impl Coherence {
    /// Notes a loss, if somebody wants to know and the line is one of a region.
    #[inline]
    pub(super) fn note_loss(&mut self, line: LineId, cache: CacheId, lost: Lost) {
        if self.losses.is_some() && self.lines[line].slot != NO_SLOT {
            let key = self.key_of(line);
            self.losses.iter_mut().for_each(|losses| losses.push(Loss { cache, key, lost }));
        }
    }

    /// Notes what all sharers but `cache` lose, which takes the line.
    pub(super) fn note_losses_to(&mut self, line: LineId, cache: CacheId) {
        let mut from = 0;
        while let Some(sharer) = self.sharers.next(line, from) {
            from = sharer.index() + 1;
            if sharer != cache {
                self.note_loss(line, sharer, Lost::Copy);
            }
        }
    }

    /// Notes that the owner of a line has it no longer to itself, as somebody watches it.
    pub(crate) fn note_watched(&mut self, line: LineId) {
        let owner = self.lines[line].owner;
        if owner != NOBODY {
            self.note_loss(line, owner, Lost::Ownership);
        }
    }
}
