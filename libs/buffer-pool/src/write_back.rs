//! Dirty pages, and how they get to the store.
//!
//! # The idea
//! * A page is copied under a shared latch and written from the copy, so that a slow store keeps no writer
//!   of the page waiting.
//! * It stops being dirty when it is copied, and becomes dirty again if the store fails. So a change during
//!   the writing is not taken for written.
//! * One thread at a time writes a page, so that an old copy does not come after a newer one. Meanwhile the
//!   page is pinned: it is not read again before it is written.

use std::io::ErrorKind;

use kilocore_lru::{FrameId, PageLists};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::copy::PageCopy;
use crate::error::PoolError;
use crate::guards::Pinned;
use crate::page::PageId;
use crate::pool::BufferPool;
use crate::statistics::Event;
use crate::store::Store;
use crate::word::Word;

/// What to do if a page's latch is not free, or another thread is writing the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Busy {
    Wait,
    Skip,
}

impl<S: Store, P: Platform, T: PageLists<P>> BufferPool<S, P, T> {
    /// Writes all pages that were changed before this call, and makes them durable. If it returns `Ok`, they
    /// are. A thread that has a [`PageMut`](crate::PageMut) itself waits for ever.
    ///
    /// # Errors
    /// If the store could not write a page: it stays dirty in the pool, and the others are written all the
    /// same. If the store could not make them durable: from then on every call fails, as what it had taken
    /// before is in doubt. Pages can still be read and written. A new pool does not tell what is durable either: in
    /// Linux it reads what the system could not write, and its sync succeeds. [`Store::sync`] says what can be done.
    pub fn sync(&self) -> Result<(), PoolError> {
        let mut result = Ok(());
        for frame in self.dirty.iter() {
            if let Err(error) = self.write_back_frame(frame, Busy::Wait) {
                result = result.and(Err(error));
            }
        }
        result?;
        let _turn = self.syncing.enter();
        if self.sync_failed.load(Ordering::Relaxed) != 0 {
            return Err(PoolError::SyncFailedBefore);
        }
        // Until the store has answered, it has failed, as it may panic.
        self.sync_failed.store(1, Ordering::Relaxed);
        self.store.sync().map_err(PoolError::Sync)?;
        self.sync_failed.store(0, Ordering::Relaxed);
        Ok(())
    }

    /// Writes a page if it is dirty, without making it durable. Returns whether it was.
    ///
    /// # Errors
    /// If the store could not write it. It stays dirty in the pool.
    pub fn write_back(&self, page: PageId) -> Result<bool, PoolError> {
        let frame = match page {
            PageId::NONE => None,
            page => self.table.lock(&self.frames, page).find(page),
        };
        // If it has gone meanwhile, it was written before that.
        frame.map_or(Ok(false), |frame| self.write_back_frame(frame, Busy::Wait))
    }

    /// Writes at most so many dirty pages, without making them durable, and returns how many were written. A
    /// thread that calls this now and then spares those who need frames from writing.
    ///
    /// # Errors
    /// At the first page that the store could not write. It stays dirty in the pool.
    pub fn write_back_some(&self, most: u32) -> Result<u32, PoolError> {
        let mut written = 0;
        for frame in self.dirty.iter() {
            if written == most {
                break;
            }
            written += u32::from(self.write_back_frame(frame, Busy::Wait)?);
        }
        Ok(written)
    }

    /// Writes a frame's page if it is dirty. Returns whether it did.
    pub(crate) fn write_back_frame(&self, frame: FrameId, busy: Busy) -> Result<bool, PoolError> {
        let header = self.frames.at(frame);
        if !header.load(Ordering::Relaxed).has_any(Word::DIRTY | Word::WRITING) {
            // Another thread may be writing it by then, for which a sync has to wait.
            self.settle_dirty(frame, Word::DIRTY | Word::WRITING);
            return Ok(false);
        }
        self.pin_again(frame);
        // The pin goes also if the store panics.
        let _pin = Pinned::new(self, frame);
        // The memory is there before anybody waits for the latch.
        let Some(mut copy) = PageCopy::new(self.page_bytes()) else {
            return Err(PoolError::Write(header.page(), ErrorKind::OutOfMemory.into()));
        };
        match self.copy_dirty(frame, busy, &mut copy) {
            true => self.write_copy(frame, copy.bytes()).map(|()| true),
            false => Ok(false),
        }
    }

    /// Copies a page if it is dirty. Returns whether it did; the caller is the one who writes it then.
    fn copy_dirty(&self, frame: FrameId, busy: Busy, copy: &mut PageCopy) -> bool {
        let header = self.frames.at(frame);
        loop {
            let word = header.load(Ordering::Relaxed);
            if word.has_any(Word::WRITING | Word::EXCLUSIVE) && busy == Busy::Skip {
                return false;
            }
            if word.has(Word::WRITING) {
                header.wait_until(|word| !word.has(Word::WRITING));
                continue;
            }
            if !word.has(Word::VALID | Word::DIRTY) {
                return false;
            }
            match busy {
                Busy::Wait => header.latch_shared(),
                Busy::Skip if header.try_latch_shared() => {}
                Busy::Skip => return false,
            }
            if self.start_writing(frame) {
                break;
            }
            header.unlatch_shared();
        }
        header.reads_content();
        // SAFETY: the page is pinned and latched, so nobody writes it.
        copy.fill(unsafe { self.memory.page(frame).as_ref() });
        header.reads_content();
        header.unlatch_shared();
        true
    }

    fn write_copy(&self, frame: FrameId, copy: &[u8]) -> Result<(), PoolError> {
        // It keeps its page while it is pinned.
        let page = self.frames.at(frame).page();
        let mut writing = Writing { pool: self, frame, is_written: false };
        let result = self.store.write(page, copy);
        writing.is_written = result.is_ok();
        self.counters.count(if result.is_ok() { Event::Write } else { Event::FailedWrite });
        result.map_err(|error| PoolError::Write(page, error))
    }

    /// Makes a dirty page one that is being written. Returns whether it did.
    fn start_writing(&self, frame: FrameId) -> bool {
        self.frames.at(frame).change(|word| {
            let may_start = word.has(Word::VALID | Word::DIRTY) && !word.has(Word::WRITING);
            may_start.then_some(Word((word.0 & !Word::DIRTY) | Word::WRITING))
        })
    }

    /// Takes a frame out of the set of dirty ones, unless it has any of these bits (see `dirty.rs`).
    pub(crate) fn settle_dirty(&self, frame: FrameId, bits: u64) {
        let header = self.frames.at(frame);
        self.dirty.remove_unless(frame, || header.load(Ordering::Relaxed).has_any(bits));
    }
}

/// A page that is being written. If that fails, or the store panics, it is dirty again.
struct Writing<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frame: FrameId,
    is_written: bool,
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for Writing<'_, S, P, T> {
    fn drop(&mut self) {
        let header = self.pool.frames.at(self.frame);
        if self.is_written {
            // Whoever finds no bit has nothing to wait for, so it goes only now.
            self.pool.settle_dirty(self.frame, Word::DIRTY);
        } else {
            self.pool.set_dirty(self.frame);
        }
        // Argued: release, so that a sync that has waited for this makes durable what was written. What a store
        // does is its own matter, so no check sees it.
        header.wake(Word(header.word.fetch_and(!Word::WRITING, Ordering::Release)));
    }
}
