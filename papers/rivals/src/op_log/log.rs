//! A growing array of entries in whole cache lines.
//!
//! The cells make a simulation charge for the cache lines. Natively it is like a `Vec` of entries.

use core::mem;

use alloc::vec::Vec;
use kilocore_platform::{Platform, SharedCell};

use crate::request::Request;

/// An operation and its time.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) stamp: u64,
    pub(super) request: Request,
}

// SAFETY: the object of the request may be shared between threads. Code that turns the pointer into
// a reference argues separately that it may.
unsafe impl Send for Entry {}

/// Number of entries in a [`Block`].
const ENTRIES: usize = 8;

/// Entries that fill two cache lines. Blocks are aligned, so that the allocator does not decide
/// which entries share a line.
#[repr(align(128))]
struct Block<P: Platform>([P::Cell<Entry>; ENTRIES]);

/// A log. The oldest entry comes first.
pub(super) struct Log<P: Platform> {
    blocks: Vec<Block<P>>,
    length: usize,
    /// The root's epoch in which the latest entries were added.
    epoch: u64,
    /// The index of the first entry of that epoch.
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

    /// The number of entries for which it has memory.
    pub(super) fn capacity(&self) -> usize {
        self.blocks.len() * ENTRIES
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<Entry> {
        (index < self.length).then(|| {
            let cell = &self.blocks[index / ENTRIES].0[index % ENTRIES];
            // SAFETY: entries are written only through an exclusive reference to the log.
            cell.with(|entry| unsafe { *entry })
        })
    }

    /// The last entry, or `None` if the log is empty.
    #[inline]
    pub(super) fn last(&self) -> Option<Entry> {
        self.get(self.length.wrapping_sub(1))
    }

    /// Begins `epoch`: entries that are added from now on belong to it. It must not be earlier than
    /// the epoch before.
    #[inline]
    pub(super) fn enter(&mut self, epoch: u64) {
        if epoch != self.epoch {
            self.epoch = epoch;
            self.latest = self.length;
        }
    }

    /// Whether there are entries of the last epoch that was begun.
    #[inline]
    pub(super) fn has_latest(&self) -> bool {
        self.length > self.latest
    }

    /// The number of entries of epochs before `epoch`, which must be the last epoch or a later one.
    fn before(&self, epoch: u64) -> usize {
        if self.epoch < epoch { self.length } else { self.latest }
    }

    /// Keeps the entries of epochs before `epoch`, which must be the last epoch or a later one.
    /// Moves the others to `rest`, which must be empty.
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

    /// Removes the last entry, which must be of the last epoch.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.length = self.length.saturating_sub(1);
    }

    /// Removes all entries and keeps the memory.
    pub(super) fn clear(&mut self) {
        (self.length, self.epoch, self.latest) = (0, 0, 0);
    }

    /// Doubles the number of blocks.
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
