//! The pool: what it consists of, and its pins.

use std::fmt;

use kilocore_locks::Futex;
use kilocore_lru::{
    FrameId, Layout, Options as ListOptions, OptionsError as ListOptionsError, PageLists, Policy,
    Striped,
};
use kilocore_platform::{Atomic, AtomicInt, Native, Ordering, Platform};

use crate::dirty::DirtySet;
use crate::error::OptionsError;
use crate::frames::Frames;
use crate::free::FreeStacks;
use crate::memory::Memory;
use crate::options::{Options, WhenPinned};
use crate::page::PageId;
use crate::serial::Serial;
use crate::statistics::{Counters, Statistics};
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
    /// The number of the frame at which the next sweep over all of them begins.
    pub(crate) hand: P::U32,
    /// Changes when there may be room again for those who wait for it.
    pub(crate) room: P::U32,
    /// For one change of the capacity at a time.
    pub(crate) resizing: Serial<P>,
    /// For one sync of the store at a time.
    pub(crate) syncing: Serial<P>,
    /// 1 during a sync of the store, and after one that has failed.
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
            layout: Layout::finer(options.cores.min(256).next_power_of_two()),
            batch: (options.capacity / options.cores / 64).clamp(1, 15),
            sorted: true,
        };
        let lists = Striped::with_policy(options.most, options.cores, lists, Policy::RESISTANT)
            .map_err(|error| match error {
                ListOptionsError::NoMemory => OptionsError::NoMemory,
                other => OptionsError::Lists(other),
            })?;
        Self::with_lists(store, lists, options)
    }
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
            frames: Frames::new(most).ok_or(OptionsError::NoMemory)?,
            table: Table::new(most).ok_or(OptionsError::NoMemory)?,
            free: FreeStacks::new(cores).ok_or(OptionsError::NoMemory)?,
            memory: Memory::new(most, page_bytes).ok_or(OptionsError::NoMemory)?,
            dirty: DirtySet::new(most).ok_or(OptionsError::NoMemory)?,
            counters: Counters::new(cores).ok_or(OptionsError::NoMemory)?,
            capacity: P::U32::new(0),
            cores,
            when_pinned,
            hand: P::U32::new(0),
            room: P::U32::new(0),
            resizing: Serial::new(),
            syncing: Serial::new(),
            sync_failed: P::U32::new(0),
        };
        pool.resize(capacity).expect("there are so many frames, and no page is pinned");
        Ok(pool)
    }

    /// Returns the store, where pages are while they are not in memory.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Returns the lists that say which page leaves memory next.
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

    /// Adds a pin to a frame that the caller has pinned already. Panics if it has [`Word::MOST`]
    /// pins.
    pub(crate) fn pin_again(&self, frame: FrameId) {
        let before = Word(self.frames.at(frame).word.fetch_add(Word::PIN, Ordering::Relaxed));
        if before.pins() >= Word::MOST {
            self.unpin(frame);
            panic!(
                "a page has {} guards and can have no more; some may have been forgotten",
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

    /// Says that a page, of which the caller has the exclusive latch or which it writes, differs from what the store
    /// has.
    pub(crate) fn set_dirty(&self, frame: FrameId) {
        self.frames.at(frame).word.fetch_or(Word::DIRTY, Ordering::Relaxed);
        self.dirty.insert(frame);
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
