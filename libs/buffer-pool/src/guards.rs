//! Pages in use: pinned, read, or written.

use std::fmt;
use std::ops::{Deref, DerefMut};

use kilocore_lru::{FrameId, PageLists};
use kilocore_platform::{AtomicInt, Ordering, Platform};

use crate::page::PageId;
use crate::pool::BufferPool;
use crate::store::Store;
use crate::word::Word;

/// A page that stays in memory until this is dropped.
#[must_use = "the page is given up at once"]
pub struct Pinned<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frame: FrameId,
}

impl<'a, S: Store, P: Platform, T: PageLists<P>> Pinned<'a, S, P, T> {
    /// Takes over a pin.
    pub(crate) fn new(pool: &'a BufferPool<S, P, T>, frame: FrameId) -> Self {
        Self { pool, frame }
    }

    /// Returns the page's number.
    #[must_use]
    pub fn page(&self) -> PageId {
        self.pool.frames.at(self.frame).page()
    }

    /// Returns the page for reading, as soon as nobody writes it.
    ///
    /// # Panics
    /// If the page has 262,144 guards.
    pub fn read(&self) -> PageRef<'a, S, P, T> {
        self.pool.pin_again(self.frame);
        self.pool.frames.at(self.frame).latch_shared();
        PageRef::new(self.pool, self.frame)
    }

    /// Returns the page for writing, as soon as nobody else reads or writes it. A thread that has a
    /// [`PageRef`] or [`PageMut`] of the page itself waits for ever.
    ///
    /// # Panics
    /// As [`read`](Self::read).
    pub fn write(&self) -> PageMut<'a, S, P, T> {
        self.pool.pin_again(self.frame);
        self.pool.frames.at(self.frame).latch_exclusive();
        PageMut::new(self.pool, self.frame)
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for Pinned<'_, S, P, T> {
    fn drop(&mut self) {
        self.pool.unpin(self.frame);
    }
}

/// A page that is read. Others may read it, too; nobody writes it.
#[must_use = "the page is given up at once"]
pub struct PageRef<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frame: FrameId,
}

impl<'a, S: Store, P: Platform, T: PageLists<P>> PageRef<'a, S, P, T> {
    /// Takes over a pin and a shared latch.
    #[inline]
    pub(crate) fn new(pool: &'a BufferPool<S, P, T>, frame: FrameId) -> Self {
        pool.frames.at(frame).reads_content();
        Self { pool, frame }
    }

    /// Returns the page's number.
    #[must_use]
    pub fn page(&self) -> PageId {
        self.pool.frames.at(self.frame).page()
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Deref for PageRef<'_, S, P, T> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the frame is pinned, so it keeps its page, and the shared latch keeps writers away for
        // as long as this guard lives.
        unsafe { self.pool.memory.page(self.frame).as_ref() }
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for PageRef<'_, S, P, T> {
    #[inline]
    fn drop(&mut self) {
        let header = self.pool.frames.at(self.frame);
        header.reads_content();
        // Release: whoever writes the page next does it after these reads.
        let before = Word(header.word.fetch_sub(Word::PIN + Word::SHARED, Ordering::Release));
        if before.has_any(Word::SLEEPERS | Word::WANTED) {
            header.after_shared(before);
            self.pool.after_unpin(self.frame, before);
        }
    }
}

/// A page that is written. Nobody else has it.
///
/// The page becomes dirty when this is dropped, if it was used for writing.
#[must_use = "the page is given up at once"]
pub struct PageMut<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frame: FrameId,
    changed: bool,
}

impl<'a, S: Store, P: Platform, T: PageLists<P>> PageMut<'a, S, P, T> {
    /// Takes over a pin and the exclusive latch.
    pub(crate) fn new(pool: &'a BufferPool<S, P, T>, frame: FrameId) -> Self {
        pool.frames.at(frame).writes_content();
        Self { pool, frame, changed: false }
    }

    /// Returns the page's number.
    #[must_use]
    pub fn page(&self) -> PageId {
        self.pool.frames.at(self.frame).page()
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Deref for PageMut<'_, S, P, T> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the frame is pinned, so it keeps its page, and the exclusive latch keeps all others away
        // for as long as this guard lives.
        unsafe { self.pool.memory.page(self.frame).as_ref() }
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> DerefMut for PageMut<'_, S, P, T> {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.changed = true;
        // SAFETY: as above, and the borrow of this guard is exclusive.
        unsafe { self.pool.memory.page(self.frame).as_mut() }
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for PageMut<'_, S, P, T> {
    fn drop(&mut self) {
        let header = self.pool.frames.at(self.frame);
        header.writes_content();
        if self.changed {
            self.pool.set_dirty(self.frame);
        }
        header.unlatch_exclusive();
        self.pool.unpin(self.frame);
    }
}

/// What is shown of a guard.
macro_rules! show_page {
    ($($guard:ident),*) => {$(
        impl<S: Store, P: Platform, T: PageLists<P>> fmt::Debug for $guard<'_, S, P, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($guard)).field("page", &self.page()).finish_non_exhaustive()
            }
        }
    )*};
}

show_page!(Pinned, PageRef, PageMut);
