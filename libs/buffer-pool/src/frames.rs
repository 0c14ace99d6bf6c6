//! What the pool keeps of each frame, and how threads wait for one.

use kilocore_lru::FrameId;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell};

use crate::page::PageId;
use crate::tables::table;
use crate::word::Word;

/// So many times a thread looks at a frame's word before it sleeps.
const LOOKS: u32 = 100;

/// The end of a chain or stack, in place of a frame's number. A bucket of the page table has two bits beside it.
pub(crate) const NO_FRAME: u32 = (1 << 30) - 1;

/// What the pool keeps of a frame.
pub(crate) struct Header<P: Platform> {
    /// Pins, latches and states of the frame, as a [`Word`].
    pub(crate) word: P::U64,
    /// The number of its page. It changes under the lock of the page's bucket only.
    page: P::U64,
    /// The next frame of its chain in the table, or of its stack.
    pub(crate) next: P::U32,
    /// Changes when sleepers are woken.
    event: P::U32,
    /// Stands for the page, so that checkers see how it is used. It takes no memory.
    content: P::Cell<()>,
}

impl<P: Platform> Header<P> {
    #[inline]
    #[track_caller]
    pub(crate) fn load(&self, order: Ordering) -> Word {
        Word(self.word.load(order))
    }

    pub(crate) fn page(&self) -> PageId {
        PageId(self.page.load(Ordering::Relaxed))
    }

    pub(crate) fn set_page(&self, page: PageId) {
        self.page.store(page.0, Ordering::Relaxed);
    }

    /// Changes the word to what `change` makes of it, until that succeeds or it makes nothing of it. Returns
    /// the word before, if it succeeded.
    ///
    /// Acquire: if that takes the page away, the next page comes after all that was done with this one.
    pub(crate) fn change(&self, change: impl Fn(Word) -> Option<Word>) -> Option<Word> {
        let mut word = self.load(Ordering::Relaxed);
        while let Some(new) = change(word) {
            match self.word.compare_exchange_weak(
                word.0,
                new.0,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(word),
                Err(now) => word = Word(now),
            }
        }
        None
    }

    /// Waits until `done` accepts the word, and returns that.
    pub(crate) fn wait_until(&self, done: impl Fn(Word) -> bool) -> Word {
        for _ in 0..if P::CHECKED { 0 } else { LOOKS } {
            // Argued: acquire as the one below, which checkers have at once.
            let word = self.load(Ordering::Acquire);
            if done(word) {
                return word;
            }
            P::pause(1);
        }
        loop {
            // Argued: acquire, so that the word is read after it. Else a thread could see the change of a wake-up
            // and a word from before that. loom performs operations in their order.
            let event = self.event.load(Ordering::Acquire);
            let word = Word(self.word.fetch_or(Word::SLEEPERS, Ordering::Acquire));
            if done(word) {
                return word;
            }
            P::park(&self.event, event, None);
        }
    }

    /// Wakes those who sleep, if the word said that somebody may.
    pub(crate) fn wake(&self, before: Word) {
        if before.has(Word::SLEEPERS) {
            self.word.fetch_and(!Word::SLEEPERS, Ordering::Relaxed);
            // Argued: release, for the same reason as the acquire in `wait_until`.
            self.event.fetch_add(1, Ordering::Release);
            P::unpark(&raw const self.event, u32::MAX);
        }
    }

    /// Adds a shared latch for a thread that has pinned the frame, with a pin for each, or that writes its page. As
    /// there are never too many pins, there are never too many latches.
    pub(crate) fn latch_shared(&self) {
        while !self.try_latch_shared() {
            self.wait_until(|word| !word.has(Word::EXCLUSIVE));
        }
    }

    /// The same, if no thread has the exclusive latch or waits for it. Returns whether it did.
    pub(crate) fn try_latch_shared(&self) -> bool {
        let before = Word(self.word.fetch_add(Word::SHARED, Ordering::Acquire));
        let is_free = !before.has(Word::EXCLUSIVE);
        if !is_free {
            self.unlatch_shared();
        }
        is_free
    }

    /// Gives a shared latch back, and keeps the pin.
    pub(crate) fn unlatch_shared(&self) {
        let before = Word(self.word.fetch_sub(Word::SHARED, Ordering::Release));
        self.after_shared(before);
    }

    /// Wakes a thread that waits for the last shared latch to go. `before` is the word before one went.
    pub(crate) fn after_shared(&self, before: Word) {
        if before.has(Word::EXCLUSIVE) && before.shared() == 1 {
            self.wake(before);
        }
    }

    /// Takes the exclusive latch for a thread that has pinned the frame. New shared latches wait from now
    /// on, so that readers one after the other do not keep the writer waiting for ever.
    pub(crate) fn latch_exclusive(&self) {
        loop {
            let before = Word(self.word.fetch_or(Word::EXCLUSIVE, Ordering::Relaxed));
            if !before.has(Word::EXCLUSIVE) {
                break;
            }
            self.wait_until(|word| !word.has(Word::EXCLUSIVE));
        }
        // With acquire ordering: after the writer before and all readers.
        self.wait_until(|word| word.shared() == 0);
    }

    /// Gives the exclusive latch back, and keeps the pin.
    pub(crate) fn unlatch_exclusive(&self) {
        let before = Word(self.word.fetch_and(!Word::EXCLUSIVE, Ordering::Release));
        self.wake(before);
    }

    /// Tells a checker that the page is read now.
    pub(crate) fn reads_content(&self) {
        self.content.with(|_| ());
    }

    /// Tells a checker that the page is written now.
    pub(crate) fn writes_content(&self) {
        self.content.with_mut(|_| ());
    }
}

/// What the pool keeps of all frames.
pub(crate) struct Frames<P: Platform>(Box<[Header<P>]>);

impl<P: Platform> Frames<P> {
    /// Returns headers of frames that are all parked, or nothing if there is not so much memory.
    pub(crate) fn new(count: u32) -> Option<Self> {
        let header = |_| Header {
            word: P::U64::new(Word::PARKED),
            page: P::U64::new(PageId::NONE.0),
            next: P::U32::new(NO_FRAME),
            event: P::U32::new(0),
            content: P::Cell::new(()),
        };
        table(count as usize, header).map(Self)
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    pub(crate) fn at(&self, frame: FrameId) -> &Header<P> {
        &self.0[frame.0 as usize]
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = FrameId> + use<P> {
        (0..self.len()).map(FrameId)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Header<P>> {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;

    #[test]
    fn a_frame_costs_twenty_four_bytes() {
        assert_eq!(size_of::<Header<Native>>(), 24);
    }
}
