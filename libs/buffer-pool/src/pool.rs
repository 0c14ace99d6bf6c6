//! The pool: pages asked for by number, found in memory or read from the store.

use std::fmt;

use kilocore_locks::Futex;
use kilocore_lru::{Class, FrameId, Layout, Options as ListOptions, PageLists, Striped};
use kilocore_platform::{Atomic, AtomicInt, Native, Ordering, Platform};

use crate::dirty::DirtySet;
use crate::error::{OptionsError, PoolError};
use crate::frames::Frames;
use crate::free::FreeStacks;
use crate::guards::{PageMut, PageRef, Pinned};
use crate::memory::Memory;
use crate::options::{Options, WhenPinned};
use crate::page::PageId;
use crate::serial::Serial;
use crate::statistics::{Counters, Event, Statistics};
use crate::store::Store;
use crate::table::Table;
use crate::word::Word;

/// The lists that a pool has if nothing else is said.
pub type DefaultLists = Striped<Native, Futex<Native>>;

/// Pages of a store that are in memory. See the [crate's documentation](crate).
///
/// All functions may be called by any thread at any time.
pub struct BufferPool<S: Store, P: Platform = Native, T: PageLists<P> = DefaultLists> {
    pub(crate) store: S,
    pub(crate) lists: T,
    pub(crate) frames: Frames<P>,
    pub(crate) table: Table<P>,
    pub(crate) free: FreeStacks<P>,
    pub(crate) memory: Memory,
    pub(crate) dirty: DirtySet<P>,
    pub(crate) counters: Counters<P>,
    /// How many frames are not parked.
    pub(crate) capacity: P::U32,
    pub(crate) cores: u32,
    pub(crate) when_pinned: WhenPinned,
    /// Changes when there may be room again for those who wait for it.
    pub(crate) room: P::U32,
    /// For one change of the capacity at a time.
    pub(crate) resizing: Serial<P>,
    /// For one sync of the store at a time.
    pub(crate) syncing: Serial<P>,
    /// 1 after a sync has failed.
    pub(crate) sync_failed: P::U32,
}

impl<S: Store> BufferPool<S> {
    /// Makes an empty pool over a store, with striped lists that suit the machine.
    ///
    /// # Errors
    /// If the options are out of their ranges, or there is not enough memory.
    pub fn new(store: S, options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        let lists = ListOptions {
            layout: Layout::finer(options.cores.next_power_of_two().min(256)),
            batch: (options.capacity / options.cores / 64).clamp(1, 15),
            sorted: true,
        };
        let lists =
            Striped::new(options.most, options.cores, lists).map_err(OptionsError::Lists)?;
        Self::with_lists(store, lists, options)
    }
}

/// What a frame is to have at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Stored,
    Zeros,
}

impl<S: Store, P: Platform, T: PageLists<P>> BufferPool<S, P, T> {
    /// Makes an empty pool over a store, with lists of at least [`Options::most`] frames, of which none is a
    /// member.
    ///
    /// # Errors
    /// If the options are out of their ranges, or there is not enough memory.
    pub fn with_lists(store: S, lists: T, options: Options) -> Result<Self, OptionsError> {
        options.check()?;
        let Options { page_bytes, capacity, most, cores, when_pinned } = options;
        if lists.frames() < most {
            return Err(OptionsError::Frames(most));
        }
        let pool = Self {
            store,
            lists,
            frames: Frames::new(most),
            table: Table::new(most),
            free: FreeStacks::new(cores),
            memory: Memory::new(most, page_bytes).ok_or(OptionsError::NoMemory)?,
            dirty: DirtySet::new(most),
            counters: Counters::new(cores),
            capacity: P::U32::new(0),
            cores,
            when_pinned,
            room: P::U32::new(0),
            resizing: Serial::new(),
            syncing: Serial::new(),
            sync_failed: P::U32::new(0),
        };
        pool.resize(capacity).expect("there are so many frames, and no page is pinned");
        Ok(pool)
    }

    /// Returns the store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Returns the lists.
    pub fn lists(&self) -> &T {
        &self.lists
    }

    /// Gives the store back. What was not written by [`sync`](Self::sync) is lost.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Returns the size of a page in bytes.
    pub fn page_bytes(&self) -> usize {
        self.memory.page_bytes()
    }

    /// Returns how many pages may be in memory.
    pub fn capacity(&self) -> u32 {
        self.capacity.load(Ordering::Relaxed)
    }

    /// Returns what the pool has done so far. That takes time for each frame. While the pool is in use, each
    /// figure is from some moment of that time.
    pub fn statistics(&self) -> Statistics {
        let uses: u64 =
            self.frames.iter().map(|header| header.load(Ordering::Relaxed).uses()).sum();
        self.counters.read(uses, self.dirty.len(), self.capacity())
    }

    /// Returns whether a page is in memory, or about to be. That says nothing of a moment later.
    pub fn contains(&self, page: PageId) -> bool {
        page != PageId::NONE && self.table.lock(&self.frames, page).find(page).is_some()
    }

    /// Returns a page for reading, as soon as nobody writes it.
    ///
    /// # Errors
    /// If it is not in memory, and there is no frame for it or the store cannot read it. To make room the
    /// pool may write another page, and if the store cannot write that, the error says so.
    ///
    /// # Panics
    /// If the page has some millions of guards.
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
        let frame = self.enter(page, Content::Stored)?;
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
        let frame = self.enter(page, Content::Stored)?;
        self.frames.at(frame).latch_exclusive();
        Ok(PageMut::new(self, frame))
    }

    /// Returns a page for writing that is all zeros, without asking the store for it. Until the guard is
    /// there, others who ask for the page may see its zeros, or what it had before.
    ///
    /// # Errors
    /// If there is no frame for it.
    ///
    /// # Panics
    /// As [`read`](Self::read).
    pub fn create(&self, page: PageId) -> Result<PageMut<'_, S, P, T>, PoolError> {
        let frame = self.enter(page, Content::Zeros)?;
        self.frames.at(frame).latch_exclusive();
        let mut guard = PageMut::new(self, frame);
        // If it was in memory, it is not zeros.
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
        Ok(Pinned::new(self, self.enter(page, Content::Stored)?))
    }

    /// Finds the page's frame, or gives it one. The caller has a pin then.
    fn enter(&self, page: PageId, content: Content) -> Result<FrameId, PoolError> {
        if page == PageId::NONE {
            return Err(PoolError::NoSuchPage);
        }
        loop {
            if let Some(frame) = self.table.find(&self.frames, page)
                && self.pin_if_it_has(frame, page)
            {
                self.counters.count(Event::Hit);
                self.lists.touch(frame);
                return Ok(frame);
            }
            // No other frame can get the page while its chain is locked.
            let found = self.table.lock(&self.frames, page).find(page);
            if let Some(frame) = found {
                if self.pin_if_it_has(frame, page) {
                    self.counters.count(Event::Hit);
                    self.lists.touch(frame);
                    return Ok(frame);
                }
                continue;
            }
            let free = self.obtain()?;
            if self.claim(free, page) {
                self.counters.count(Event::Miss);
                self.load(free, page, content)?;
                return Ok(free);
            }
            self.give_back(free);
        }
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

    /// Adds a pin.
    pub(crate) fn pin_again(&self, frame: FrameId) {
        let before = Word(self.frames.at(frame).word.fetch_add(Word::PIN, Ordering::Relaxed));
        if before.pins() >= Word::MOST {
            self.unpin(frame);
            panic!(
                "a page is pinned more than {} times; some guards may have been leaked",
                Word::MOST
            );
        }
    }

    pub(crate) fn unpin(&self, frame: FrameId) {
        let header = self.frames.at(frame);
        // Argued: release, so that what was read of the frame before, such as the page's number, is of this
        // page. The page itself is released with its latch.
        let before = Word(header.word.fetch_sub(Word::PIN, Ordering::Release));
        if before.has(Word::WANTED) {
            self.after_unpin(frame, before);
        }
    }

    /// Puts a frame that is the caller's into the table, for a page that is going to be read. Returns
    /// whether it did: another thread may have been faster.
    fn claim(&self, frame: FrameId, page: PageId) -> bool {
        let mut chain = self.table.lock(&self.frames, page);
        if chain.find(page).is_some() {
            return false;
        }
        chain.insert(frame, page);
        self.frames.at(frame).word.fetch_add(Word::LOADING + Word::PIN, Ordering::Relaxed);
        true
    }

    /// Gives a claimed frame its page, and announces it.
    fn load(&self, frame: FrameId, page: PageId, content: Content) -> Result<(), PoolError> {
        let mut loading = Loading { pool: self, frame, page, is_read: false };
        let header = self.frames.at(frame);
        header.writes_content();
        // SAFETY: nobody reads a page that is being loaded, and only the thread that claimed it writes it.
        let bytes = unsafe { self.memory.page(frame).as_mut() };
        match content {
            Content::Zeros => bytes.fill(0),
            Content::Stored => {
                if let Err(error) = self.store.read(page, bytes) {
                    self.counters.count(Event::FailedRead);
                    return Err(PoolError::Read(page, error));
                }
            }
        }
        header.writes_content();
        loading.is_read = true;
        Ok(())
    }

    /// Says that a page, of which the caller has the exclusive latch, differs from what the store has.
    pub(crate) fn set_dirty(&self, frame: FrameId) {
        self.frames.at(frame).word.fetch_or(Word::DIRTY, Ordering::Relaxed);
        self.dirty.insert(frame);
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
        let header = pool.frames.at(frame);
        if is_read {
            // A frame comes to the lists with its page and leaves them with it.
            pool.lists.add(frame, Class::File).expect("it left the lists with its last page");
            // Release: who sees that it is valid sees the page.
            let change = Word::LOADING - Word::VALID;
            header.wake(Word(header.word.fetch_sub(change, Ordering::Release)));
            return;
        }
        let mut chain = pool.table.lock(&pool.frames, page);
        chain.remove(frame);
        let before = Word(header.word.fetch_and(!Word::LOADING, Ordering::Relaxed));
        drop(chain);
        header.wake(before);
        pool.unpin(frame);
        pool.give_back(frame);
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> fmt::Debug for BufferPool<S, P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferPool")
            .field("page_bytes", &self.page_bytes())
            .field("statistics", &self.statistics())
            .finish_non_exhaustive()
    }
}
