//! Dirty pages, and how they get to the store.
//!
//! # The idea
//! * A page is copied under a shared latch and written from the copy, so that a slow store keeps no writer
//!   of the page waiting.
//! * It stops being dirty when it is copied, and becomes dirty again if the store fails. So a change during
//!   the writing is not taken for written.
//! * One thread at a time writes a page, so that an old copy does not come after a newer one. Meanwhile the
//!   page stays in its frame: it is not read again before it is written.

use std::io::ErrorKind;

use kilocore_lru::{FrameId, PageLists};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::copy::PageCopy;
use crate::error::PoolError;
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
        loop {
            let word = header.load(Ordering::Relaxed);
            if !word.has_any(Word::DIRTY | Word::WRITING) {
                // Another thread may be writing it by then, for which a sync has to wait.
                self.settle_dirty(frame, Word::DIRTY | Word::WRITING);
                return Ok(false);
            }
            if busy == Busy::Skip && word.has_any(Word::OWN_USE | Word::EXCLUSIVE) {
                return Ok(false);
            }
            if word.is_in_own_use() {
                header.wait_until(|word| !word.is_in_own_use());
            } else if let Some(writing) = self.start_writing(frame) {
                return writing.write(busy);
            }
        }
    }

    /// Has this thread write a frame's page, if it is dirty. The page stays in the frame meanwhile.
    fn start_writing(&self, frame: FrameId) -> Option<Writing<'_, S, P, T>> {
        let started = self.frames.at(frame).change(|word| {
            let may_start = word.has(Word::DIRTY) && word.is_open_to_own_use();
            may_start.then_some(Word(word.0 | Word::WRITING))
        });
        started.map(|_| Writing { pool: self, frame, progress: Progress::Begun })
    }

    /// Takes a frame out of the set of dirty ones, unless it has any of these bits (see `dirty.rs`).
    pub(crate) fn settle_dirty(&self, frame: FrameId, bits: u64) {
        let header = self.frames.at(frame);
        // Acquire: if a write of the page has ended, all that follows comes after it, be the page dirty again or not.
        self.dirty.remove_unless(frame, || header.load(Ordering::Acquire).has_any(bits));
    }
}

/// How far the writing of a page has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The page is dirty.
    Begun,
    /// A copy of it is on its way to the store.
    Copied,
    /// The store has it.
    Written,
}

/// A page that this thread writes. If that fails, or the store panics, it is dirty again.
struct Writing<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frame: FrameId,
    progress: Progress,
}

impl<S: Store, P: Platform, T: PageLists<P>> Writing<'_, S, P, T> {
    /// Writes the page. Returns whether it did.
    fn write(mut self, busy: Busy) -> Result<bool, PoolError> {
        let pool = self.pool;
        let page = pool.frames.at(self.frame).page();
        // The memory is there before anybody waits for the latch.
        let Some(mut copy) = PageCopy::new(pool.page_bytes()) else {
            return Err(PoolError::Write(page, ErrorKind::OutOfMemory.into()));
        };
        if !self.copy(busy, &mut copy) {
            return Ok(false);
        }
        let result = pool.store.write(page, copy.bytes());
        pool.counters.count(if result.is_ok() { Event::Write } else { Event::FailedWrite });
        result.map_err(|error| PoolError::Write(page, error))?;
        self.progress = Progress::Written;
        Ok(true)
    }

    /// Copies the page, which is not dirty any more then. Returns whether it did.
    fn copy(&mut self, busy: Busy, copy: &mut PageCopy) -> bool {
        let header = self.pool.frames.at(self.frame);
        match busy {
            Busy::Wait => header.latch_shared(),
            Busy::Skip if header.try_latch_shared() => {}
            Busy::Skip => return false,
        }
        header.word.fetch_and(!Word::DIRTY, Ordering::Relaxed);
        self.progress = Progress::Copied;
        header.reads_content();
        // SAFETY: the frame keeps its page, and the latch keeps away those who would write it.
        copy.fill(unsafe { self.pool.memory.page(self.frame).as_ref() });
        header.reads_content();
        header.unlatch_shared();
        true
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for Writing<'_, S, P, T> {
    fn drop(&mut self) {
        match self.progress {
            Progress::Begun => {}
            Progress::Copied => self.pool.set_dirty(self.frame),
            // Whoever finds no bit has nothing to wait for, so it goes only now.
            Progress::Written => self.pool.settle_dirty(self.frame, Word::DIRTY),
        }
        self.pool.end_own_use(self.frame, Word::WRITING);
    }
}
