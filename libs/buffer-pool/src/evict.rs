//! Frames for pages that are to come.
//!
//! # The idea
//! * A free frame is taken if there is any. Else the lists say which pages to do without, and a thread takes
//!   a few frames at a time.
//! * A page leaves the table under its chain's lock, in one step with the proof that nobody has pinned it.
//! * A dirty page is written first. While the store fails, a thread tries a few pages and then only looks
//!   for clean ones. It waits for no latch: who has that may wait for a frame.
//! * **A thread that finds no room marks all frames as wanted**, and sleeps if each of them is in
//!   use at that moment. Whoever takes the last pin from a frame, or ends what the pool itself did
//!   with it, sees the mark in the same atomic step, and wakes it. A counter of waiters in the
//!   mark's place would need both sides to be sequentially consistent, and a read of it in each
//!   unpin.

use kilocore_lru::{Class, Fate, FrameId, PageLists};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::error::PoolError;
use crate::frames::Header;
use crate::options::WhenPinned;
use crate::page::PageId;
use crate::pool::BufferPool;
use crate::statistics::Event;
use crate::store::Store;
use crate::word::Word;
use crate::write_back::Busy;

/// A thread takes the pages from no more frames at a time.
pub(crate) const LARGEST_BATCH: u32 = 16;

/// So many pages a thread tries to write if the store fails.
const ATTEMPTS: u32 = 4;

impl<S: Store, P: Platform, T: PageLists<P>> BufferPool<S, P, T> {
    /// Finds a frame. It is the caller's then.
    pub(crate) fn obtain(&self) -> Result<FrameId, PoolError> {
        loop {
            if let Some(frame) = self.take_free() {
                return Ok(frame);
            }
            if self.capacity() == 0 {
                return Err(PoolError::NoCapacity);
            }
            if let Some(frame) = self.evict()? {
                return Ok(frame);
            }
            // Argued: acquire, so that the marks below come after it. Else a thread could see the change of an
            // announcement and mark a frame that it was about. loom performs operations in their order.
            let event = self.room.load(Ordering::Acquire);
            match (self.uses_of_all(), self.when_pinned) {
                // Another thread is about to use the frame, or to give it back.
                (Uses::Free, _) => P::yield_now(),
                (Uses::Pinned, WhenPinned::Fail) => return Err(PoolError::AllPinned),
                (Uses::Own, _) | (Uses::Pinned, WhenPinned::Wait) => {
                    self.counters.count(Event::Wait);
                    P::park(&self.room, event, None);
                }
            }
        }
    }

    fn take_free(&self) -> Option<FrameId> {
        let frame = self.free.pop(&self.frames)?;
        self.frames.at(frame).word.fetch_and(!Word::FREE, Ordering::Relaxed);
        Some(frame)
    }

    /// Gives back a frame that is the caller's.
    pub(crate) fn give_back(&self, frame: FrameId) {
        let header = self.frames.at(frame);
        // Before it is on the stack, from which another thread may take it at once.
        let before = Word(header.word.fetch_or(Word::FREE, Ordering::Relaxed));
        self.free.push(&self.frames, frame);
        self.announce_if_wanted(header, before);
    }

    /// Wakes a thread that waits for room, if this was the frame's last pin. `before` is the word before it
    /// went.
    pub(crate) fn after_unpin(&self, frame: FrameId, before: Word) {
        if before.pins() == 1 {
            self.announce_if_wanted(self.frames.at(frame), before);
        }
    }

    /// Takes a frame's mark away, if the word had it, and wakes those who wait for room.
    fn announce_if_wanted(&self, header: &Header<P>, before: Word) {
        if before.has(Word::WANTED) {
            header.word.fetch_and(!Word::WANTED, Ordering::Relaxed);
            self.announce_room();
        }
    }

    pub(crate) fn announce_room(&self) {
        // Argued: release, for the same reason as the acquire in `obtain`.
        self.room.fetch_add(1, Ordering::Release);
        P::unpark(&raw const self.room, u32::MAX);
    }

    /// Marks all frames as wanted, until it finds one that is not in use. If it finds none, the end of the first
    /// use will be announced. To who waits, a frame in the hands of a thread is in use; who fails instead asks
    /// again, as soon it will be free or have a page that is pinned.
    fn uses_of_all(&self) -> Uses {
        let waits = self.when_pinned == WhenPinned::Wait;
        let mut uses = Uses::Pinned;
        for header in self.frames.iter() {
            let word = Word(header.word.fetch_or(Word::WANTED, Ordering::Relaxed));
            if word.is_parked() || word.is_pinned() || waits && word.is_held() {
                continue;
            }
            if !word.is_in_own_use() {
                return Uses::Free;
            }
            uses = Uses::Own;
        }
        uses
    }

    /// Ends the pool's own use of a page. Who waits for room hears of it even if the page is pinned: it may be that
    /// no other use ends by itself.
    pub(crate) fn end_own_use(&self, frame: FrameId, use_of_it: u64) {
        let header = self.frames.at(frame);
        // Release: a sync that has waited for this makes durable what was written.
        let before = Word(header.word.fetch_and(!use_of_it, Ordering::Release));
        header.wake(before);
        self.announce_if_wanted(header, before);
    }

    /// Of how many frames a thread takes the pages away at a time. All but one are free until a page comes, so
    /// they are a small part of the capacity.
    fn eviction_batch(&self) -> u32 {
        (self.capacity() / self.cores / 64).clamp(1, LARGEST_BATCH)
    }

    /// Takes the pages away from some frames, of which the caller gets one and the others become free.
    fn evict(&self) -> Result<Option<FrameId>, PoolError> {
        let mut eviction = Eviction::new(self);
        self.ask_lists(&mut eviction);
        if eviction.len == 0 {
            // Pages that wait in a batch are on no list.
            self.lists.drain();
            self.ask_lists(&mut eviction);
        }
        if eviction.len == 0 {
            self.sweep(&mut eviction);
        }
        match (eviction.pop(), eviction.failure.take()) {
            (Some(frame), _) => Ok(Some(frame)),
            (None, Some(failure)) => Err(failure),
            (None, None) => Ok(None),
        }
    }

    fn ask_lists(&self, eviction: &mut Eviction<'_, S, P, T>) {
        let batch = self.eviction_batch();
        self.lists.reclaim(Class::File, batch, &mut |frame| eviction.judge(frame));
    }

    /// Goes through the frames by their numbers until one can be had. Lists may look at some pages only while
    /// all of these are pinned: Linux's, at inactive ones.
    fn sweep(&self, eviction: &mut Eviction<'_, S, P, T>) {
        let frames = self.frames.len();
        for _ in 0..frames {
            // Where the last one has ended, so that many sweeps do not all begin with the same pinned pages.
            let frame = FrameId(self.hand.fetch_add(1, Ordering::Relaxed) % frames);
            let word = self.frames.at(frame).load(Ordering::Relaxed);
            if !(word.has(Word::VALID) && word.pins() == 0 || word.has(Word::DISCARDED)) {
                continue;
            }
            if let Some(isolated) = self.lists.isolate(frame)
                && eviction.judge(frame) == Fate::Reclaim
            {
                isolated.remove();
                return;
            }
        }
    }

    /// Takes a frame's page out of the table if nobody uses it and the store has it. Returns whether it did;
    /// the frame is the caller's then, if it is on no list or the caller has isolated it.
    fn take_page(&self, frame: FrameId) -> bool {
        let header = self.frames.at(frame);
        let page = header.page();
        if page == PageId::NONE {
            return false;
        }
        let mut chain = self.table.lock(&self.frames, page);
        let taken = header.change(|word| {
            // It may have been discarded meanwhile.
            let may_go = word.is_evictable() && header.page() == page;
            may_go.then_some(Word(word.0 & !Word::VALID))
        });
        if taken.is_some() {
            chain.remove(frame);
        }
        taken.is_some()
    }

    /// Drops a page from memory without writing it, for example because its file was removed. If it is not in
    /// memory, nothing happens.
    ///
    /// # Errors
    /// If somebody has pinned it, or is reading or writing it.
    pub fn discard(&self, page: PageId) -> Result<(), PoolError> {
        if page == PageId::NONE {
            return Ok(());
        }
        let Some(frame) = self.start_discarding(page)? else { return Ok(()) };
        let isolated = self.lists.isolate(frame);
        let mut chain = self.table.lock(&self.frames, page);
        let Some(before) = self.invalidate(frame) else {
            drop((chain, isolated));
            self.end_own_use(frame, Word::DISCARDING);
            return Err(PoolError::Pinned(page));
        };
        chain.remove(frame);
        drop(chain);
        self.frames.at(frame).wake(before);
        self.settle_dirty(frame, Word::DIRTY);
        match isolated {
            Some(isolated) => {
                isolated.remove();
                self.give_back(frame);
            }
            // It waits in a batch, or reclaim is looking at it, and will find that it has no page.
            None => self.mark_discarded(frame),
        }
        Ok(())
    }

    fn mark_discarded(&self, frame: FrameId) {
        let header = self.frames.at(frame);
        // Argued: release, so that the number that was taken out of the frame does not come after that of its
        // next page. loom performs stores in their order.
        let before = Word(header.word.fetch_or(Word::DISCARDED, Ordering::Release));
        self.announce_if_wanted(header, before);
    }

    /// Finds the frame that has a page, and marks it, so that it keeps the page until this thread takes that away.
    /// Returns nothing if the page is in no frame. It is an error if somebody has pinned the page, or reads or
    /// writes it.
    fn start_discarding(&self, page: PageId) -> Result<Option<FrameId>, PoolError> {
        loop {
            let chain = self.table.lock(&self.frames, page);
            let Some(frame) = chain.find(page) else { return Ok(None) };
            let header = self.frames.at(frame);
            // While the chain is locked, the frame has the page or is to get it.
            let marked = header.change(|word| {
                let may_go = word.is_open_to_own_use() && word.pins() == 0;
                may_go.then_some(Word(word.0 | Word::DISCARDING))
            });
            if marked.is_some() {
                return Ok(Some(frame));
            }
            let word = header.load(Ordering::Relaxed);
            drop(chain);
            if word.has(Word::DISCARDING) {
                // Another thread takes the page away at once, or finds that it is pinned.
                header.wait_until(|word| !word.has(Word::DISCARDING));
            } else if !word.is_open_to_own_use() || word.pins() > 0 {
                return Err(PoolError::Pinned(page));
            }
        }
    }

    /// Makes a frame that this thread has marked for it one without a page, unless somebody has pinned the page
    /// meanwhile. Returns the word before, if it did.
    fn invalidate(&self, frame: FrameId) -> Option<Word> {
        self.frames.at(frame).change(|word| {
            debug_assert!(word.has(Word::VALID | Word::DISCARDING));
            let gone = Word::VALID | Word::DIRTY | Word::DISCARDING;
            (word.pins() == 0).then_some(Word(word.0 & !gone))
        })
    }
}

/// Why no frame can be had.
enum Uses {
    /// One can, or soon will be.
    Free,
    /// Some pages are pinned by nobody, but the pool uses them itself.
    Own,
    /// All pages are pinned.
    Pinned,
}

/// Frames whose pages were taken away. What is left at the end becomes free.
struct Eviction<'a, S: Store, P: Platform, T: PageLists<P>> {
    pool: &'a BufferPool<S, P, T>,
    frames: [FrameId; LARGEST_BATCH as usize],
    len: usize,
    failures: u32,
    /// The first failure, if there was one.
    failure: Option<PoolError>,
}

impl<'a, S: Store, P: Platform, T: PageLists<P>> Eviction<'a, S, P, T> {
    fn new(pool: &'a BufferPool<S, P, T>) -> Self {
        let frames = [FrameId(0); LARGEST_BATCH as usize];
        Self { pool, frames, len: 0, failures: 0, failure: None }
    }

    fn pop(&mut self) -> Option<FrameId> {
        self.len = self.len.checked_sub(1)?;
        Some(self.frames[self.len])
    }

    /// Decides about a frame that reclaim has isolated.
    fn judge(&mut self, frame: FrameId) -> Fate {
        let header = self.pool.frames.at(frame);
        let mut word = header.load(Ordering::Relaxed);
        if word.has(Word::DIRTY) && self.may_write(word) && self.write(frame) {
            word = header.load(Ordering::Relaxed);
        }
        if word.has(Word::DISCARDED) {
            // Argued: acquire, as the next page comes after all that was done with the one that was discarded; see
            // `mark_discarded`. Only who has isolated the frame takes the mark away.
            header.word.fetch_and(!Word::DISCARDED, Ordering::Acquire);
        } else if self.pool.take_page(frame) {
            self.pool.counters.count(Event::Eviction);
        } else {
            return Fate::Keep;
        }
        self.frames[self.len] = frame;
        self.len += 1;
        Fate::Reclaim
    }

    fn may_write(&self, word: Word) -> bool {
        word.pins() == 0 && self.failures < ATTEMPTS
    }

    /// Writes a page. Returns whether that succeeded.
    fn write(&mut self, frame: FrameId) -> bool {
        match self.pool.write_back_frame(frame, Busy::Skip) {
            Ok(_) => true,
            Err(failure) => {
                self.failures += 1;
                self.failure.get_or_insert(failure);
                false
            }
        }
    }
}

impl<S: Store, P: Platform, T: PageLists<P>> Drop for Eviction<'_, S, P, T> {
    fn drop(&mut self) {
        while let Some(frame) = self.pop() {
            self.pool.give_back(frame);
        }
    }
}
