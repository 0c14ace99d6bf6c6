//! A growing array of entries, in whole cache lines.
//!
//! The cells make a simulation charge for the lines; natively it is a `Vec` of entries.

use core::mem;

use alloc::vec::Vec;
use kilocore_platform::{Platform, SharedCell};

use crate::request::Request;

/// What was done, and when.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) stamp: u64,
    pub(super) request: Request,
}

// SAFETY: the object of the request is shared between threads; whoever turns it into a reference
// argues that it may.
unsafe impl Send for Entry {}

/// Entries in a [`Block`].
const ENTRIES: usize = 8;

/// Two cache lines full. Aligned, so that where entries share a line does not depend on the
/// allocator.
#[repr(align(128))]
struct Block<P: Platform>([P::Cell<Entry>; ENTRIES]);

/// Entries, the oldest first.
pub(super) struct Log<P: Platform> {
    blocks: Vec<Block<P>>,
    length: usize,
    /// The epoch of the root in which the last entries were added.
    epoch: u64,
    /// Where those begin.
    latest: usize,
}

impl<P: Platform> Block<P> {
    fn new() -> Self {
        let nothing = || Request::from_raw(core::ptr::null_mut());
        Self(core::array::from_fn(|_| P::Cell::new(Entry { stamp: 0, request: nothing() })))
    }
}

impl<P: Platform> Log<P> {
    pub(super) const fn new() -> Self {
        Self { blocks: Vec::new(), length: 0, epoch: 0, latest: 0 }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// How many entries it has memory for.
    pub(super) fn capacity(&self) -> usize {
        self.blocks.len() * ENTRIES
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Entry> {
        (index < self.length).then(|| {
            let cell = &self.blocks[index / ENTRIES].0[index % ENTRIES];
            // SAFETY: entries are written through an exclusive reference to the log only.
            cell.with(|entry| unsafe { *entry })
        })
    }

    /// The last entry.
    #[inline]
    pub(super) fn last(&self) -> Option<Entry> {
        self.get(self.length.wrapping_sub(1))
    }

    /// What is added from now on is of this epoch, which is no earlier than the one before.
    #[inline]
    pub(super) fn enter(&mut self, epoch: u64) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.latest = self.length;
        }
    }

    /// Whether there are entries of the epoch that was entered last.
    #[inline]
    pub(super) fn has_latest(&self) -> bool {
        self.length > self.latest
    }

    /// How many entries are of an epoch before this one, which is the last or a later one.
    fn before(&self, epoch: u64) -> usize {
        if self.epoch < epoch { self.length } else { self.latest }
    }

    /// Leaves the entries of epochs before this one, which is the last or a later one, and moves the
    /// others to the empty log `rest`.
    pub(super) fn split(&mut self, epoch: u64, rest: &mut Self) {
        let before = self.before(epoch);
        rest.enter(self.epoch);
        for index in before..self.length {
            if let Some(entry) = self.get(index) {
                rest.push(entry);
            }
        }
        self.length = before;
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        if self.length == self.capacity() {
            self.grow();
        }
        let cell = &self.blocks[self.length / ENTRIES].0[self.length % ENTRIES];
        // SAFETY: the log is borrowed exclusively.
        cell.with_mut(|place| unsafe { *place = entry });
        self.length += 1;
    }

    /// Forgets the last entry, which is of the last epoch.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Forgets all entries and keeps the memory.
    pub(super) fn clear(&mut self) {
        (self.length, self.epoch, self.latest) = (0, 0, 0);
    }

    /// Twice the blocks.
    #[cold]
    fn grow(&mut self) {
        let blocks = (2 * self.blocks.len()).max(1);
        let mut larger = Vec::with_capacity(blocks);
        let mut old = mem::take(&mut self.blocks);
        discard(&old);
        larger.append(&mut old);
        larger.resize_with(blocks, Block::new);
        self.blocks = larger;
    }
}

fn discard<P: Platform>(blocks: &[Block<P>]) {
    for block in blocks {
        P::discard(block);
    }
}

impl<P: Platform> Drop for Log<P> {
    fn drop(&mut self) {
        discard(&self.blocks);
    }
}
