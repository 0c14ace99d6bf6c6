//! How a page is found in memory, or brought there.
//!
//! # The idea
//! * **A hit** follows a chain of the page table without its lock, pins what it finds, and then looks at which
//!   page that is ([`BufferPool::read`]).
//! * **A miss** takes a frame, puts it into the table as one that is being read, and reads. Whoever asks for the
//!   page meanwhile finds it there, and waits.

use kilocore_lru::{Class, FrameId, PageHash, PageLists};
use kilocore_platform::{AtomicInt, Ordering, Platform};

use crate::error::PoolError;
use crate::guards::{PageMut, PageRef, Pinned};
use crate::page::PageId;
use crate::pool::BufferPool;
use crate::statistics::Event;
use crate::store::Store;
use crate::word::Word;

/// How a thread came to the frame of a page. It has a pin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// The page is there.
    Found(FrameId),
    /// The thread has put the frame into the table. It gives it the page, for which others wait.
    Claimed(FrameId),
}

impl<S: Store, P: Platform, T: PageLists<P>> BufferPool<S, P, T> {
    /// Returns a page for reading, as soon as nobody writes it.
    ///
    /// # Errors
    /// If it is not in memory, and there is no frame for it or the store cannot read it. To make room the
    /// pool may write another page, and if the store cannot write that, the error says so.
    ///
    /// # Panics
    /// If the page has 262,144 guards.
    #[inline]
    pub fn read(&self, page: PageId) -> Result<PageRef<'_, S, P, T>, PoolError> {
        if let Some(frame) = self.table.find(&self.frames, page) {
            let header = self.frames.at(frame);
            let added = Word::USE + Word::PIN + Word::SHARED;
            let before = Word(header.word.fetch_add(added, Ordering::Acquire));
            let hindered = Word::LOADING | Word::EXCLUSIVE;
            if before.has(Word::VALID)
                && !before.has_any(hindered)
                && before.pins() < Word::MOST
                && header.page() == page
            {
                self.count_hit(before);
                self.lists.touch(frame);
                return Ok(PageRef::new(self, frame));
            }
            self.count_hit(before);
            self.take_back_hit(frame);
        }
        let frame = self.enter(page)?;
        self.frames.at(frame).latch_shared();
        Ok(PageRef::new(self, frame))
    }

    /// Counts hits elsewhere, if the frame's word had as many as fit. `before` is the word before this one.
    #[inline]
    fn count_hit(&self, before: Word) {
        if before.uses() == Word::USES - 1 {
            self.counters.add(Event::Hit, Word::USES);
        }
    }

    /// Undoes what `read` did to a frame that does not have the page, or not yet.
    #[cold]
    fn take_back_hit(&self, frame: FrameId) {
        let header = self.frames.at(frame);
        let before = Word(header.word.fetch_sub(Word::USE, Ordering::Relaxed));
        // The same backwards.
        if before.uses() == 0 {
            self.counters.add(Event::Hit, Word::USES.wrapping_neg());
        }
        header.unlatch_shared();
        self.unpin(frame);
    }

    /// Returns a page for writing, as soon as nobody else reads or writes it. A thread that has a guard of
    /// the page itself waits for ever.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Panics
    /// As `read`.
    pub fn write(&self, page: PageId) -> Result<PageMut<'_, S, P, T>, PoolError> {
        let frame = self.enter(page)?;
        self.frames.at(frame).latch_exclusive();
        Ok(PageMut::new(self, frame))
    }

    /// Returns a page for writing that is all zeros, without asking the store for it. Until the guard is
    /// there, others who ask for the page may see what it had before.
    ///
    /// # Errors
    /// If there is no frame for it.
    ///
    /// # Panics
    /// As [`read`](Self::read).
    pub fn create(&self, page: PageId) -> Result<PageMut<'_, S, P, T>, PoolError> {
        let frame = match self.find_or_claim(page, Word::EXCLUSIVE)? {
            Entry::Found(frame) => {
                self.frames.at(frame).latch_exclusive();
                frame
            }
            // Latched since it was claimed. So nobody sees what another page has left there.
            Entry::Claimed(frame) => {
                self.announce(frame, page);
                frame
            }
        };
        let mut guard = PageMut::new(self, frame);
        guard.fill(0);
        Ok(guard)
    }

    /// Brings a page to memory, and keeps it there.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Panics
    /// As `read`.
    pub fn pin(&self, page: PageId) -> Result<Pinned<'_, S, P, T>, PoolError> {
        Ok(Pinned::new(self, self.enter(page)?))
    }

    /// Finds the page, or reads it. The caller has a pin then.
    fn enter(&self, page: PageId) -> Result<FrameId, PoolError> {
        match self.find_or_claim(page, 0)? {
            Entry::Found(frame) => Ok(frame),
            Entry::Claimed(frame) => self.load(frame, page).map(|()| frame),
        }
    }

    /// Finds the page, or claims a frame for it, and with that `latch`.
    fn find_or_claim(&self, page: PageId, latch: u64) -> Result<Entry, PoolError> {
        if page == PageId::NONE {
            return Err(PoolError::NoSuchPage);
        }
        loop {
            if let Some(frame) = self.table.find(&self.frames, page)
                && self.hits(frame, page)
            {
                return Ok(Entry::Found(frame));
            }
            // No other frame can get the page while its chain is locked.
            let found = self.table.lock(&self.frames, page).find(page);
            if let Some(frame) = found {
                if self.hits(frame, page) {
                    return Ok(Entry::Found(frame));
                }
                continue;
            }
            let free = self.obtain()?;
            if self.claim(free, page, latch) {
                self.counters.count(Event::Miss);
                return Ok(Entry::Claimed(free));
            }
            self.give_back(free);
        }
    }

    /// Pins a frame and counts a hit, if it has the page. Returns whether it does.
    fn hits(&self, frame: FrameId, page: PageId) -> bool {
        let has = self.pin_if_it_has(frame, page);
        if has {
            self.counters.count(Event::Hit);
            self.lists.touch(frame);
        }
        has
    }

    /// Pins a frame if it has the page, or will have it when that is read. Returns whether it does.
    fn pin_if_it_has(&self, frame: FrameId, page: PageId) -> bool {
        self.pin_again(frame);
        let header = self.frames.at(frame);
        let mut word = header.load(Ordering::Acquire);
        if word.has(Word::LOADING) && header.page() == page {
            word = header.wait_until(|word| !word.has(Word::LOADING));
        }
        // The page's number cannot change while the frame has a page and is pinned.
        let has = word.has(Word::VALID) && header.page() == page;
        if !has {
            self.unpin(frame);
        }
        has
    }

    /// Puts a frame that is the caller's into the table, for a page that is to come. Returns whether it did:
    /// another thread may have been faster.
    ///
    /// `latch` is the exclusive latch, or nothing. There is nobody to wait for: as the frame has no page, nobody
    /// has that latch, and shared ones that are counted there are of threads that have found no page, or another
    /// one, and take them back.
    fn claim(&self, frame: FrameId, page: PageId, latch: u64) -> bool {
        let mut chain = self.table.lock(&self.frames, page);
        if chain.find(page).is_some() {
            return false;
        }
        chain.insert(frame, page);
        let added = Word::LOADING + Word::PIN + latch;
        let before = Word(self.frames.at(frame).word.fetch_add(added, Ordering::Relaxed));
        debug_assert!(before.is_held() && !before.has(Word::EXCLUSIVE));
        true
    }

    /// Reads the page of a claimed frame, and announces it.
    fn load(&self, frame: FrameId, page: PageId) -> Result<(), PoolError> {
        let mut loading = Loading { pool: self, frame, page, is_read: false };
        let header = self.frames.at(frame);
        header.writes_content();
        // SAFETY: nobody reads a page that is being loaded, and only the thread that claimed it writes it.
        let bytes = unsafe { self.memory.page(frame).as_mut() };
        if let Err(error) = self.store.read(page, bytes) {
            self.counters.count(Event::FailedRead);
            return Err(PoolError::Read(page, error));
        }
        header.writes_content();
        loading.is_read = true;
        Ok(())
    }

    /// Says that a claimed frame has its page.
    fn announce(&self, frame: FrameId, page: PageId) {
        // A frame comes to the lists with its page and leaves them with it.
        let added = self.lists.add_page(frame, Class::File, PageHash(page.0));
        added.expect("it left the lists with its last page");
        let header = self.frames.at(frame);
        // Release: who sees that it is valid sees the page.
        let change = Word::LOADING - Word::VALID;
        header.wake(Word(header.word.fetch_sub(change, Ordering::Release)));
    }
}

/// A page that is being read. If that fails, or the store panics, the frame is given back.
struct Loading<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frame: FrameId,
    page: PageId,
    is_read: bool,
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for Loading<'_, S, P, T> {
    fn drop(&mut self) {
        let Self { pool, frame, page, is_read } = *self;
        if is_read {
            return pool.announce(frame, page);
        }
        let header = pool.frames.at(frame);
        let mut chain = pool.table.lock(&pool.frames, page);
        chain.remove(frame);
        let before = Word(header.word.fetch_and(!Word::LOADING, Ordering::Relaxed));
        drop(chain);
        header.wake(before);
        pool.unpin(frame);
        pool.give_back(frame);
    }
}
