//! Which frames have pages that the store does not have yet: a bit for each, so that it takes little time
//! to find them.
//!
//! A frame's bit is set *after* its word says that it is dirty, and before its exclusive latch is
//! given back. Who has written the page looks at the word once more, and clears the bit only if no
//! frame was inserted since before that look: insertions are counted in the same word as the bits.
//! So no dirty page is without its bit once its latch is given back, not even for a moment, in
//! which a sync could overlook it. To take the bit out first, and to put it back if the page had
//! changed, left a moment in which a sync found no bit.
//!
//! A sync makes durable what other threads have written, so it has to come after their writing. It does in each of
//! three cases: it finds no bit, and whoever took that away did so after the writing; it finds that the page is being
//! written, and waits for the end of that; or it finds in the frame's word that the writing has ended, whatever
//! happened to the page since.

use kilocore_lru::FrameId;
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::tables::table;

/// So many frames have their bits in one word. The upper half counts insertions.
const FRAMES: u32 = 32;
const INSERTION: u64 = 1 << FRAMES;

pub(crate) struct DirtySet<P: Platform>(Box<[P::U64]>);

impl<P: Platform> DirtySet<P> {
    /// Returns an empty set, or nothing if there is not so much memory.
    pub(crate) fn new(frames: u32) -> Option<Self> {
        table(frames.div_ceil(FRAMES) as usize, |_| P::U64::new(0)).map(Self)
    }

    /// Puts a frame into the set, in which it may be.
    pub(crate) fn insert(&self, frame: FrameId) {
        let (word, bit) = self.place(frame);
        let mut before = word.load(Ordering::Relaxed);
        loop {
            let after = (before | bit).wrapping_add(INSERTION);
            match word.compare_exchange_weak(before, after, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    /// Takes a frame out of the set, unless this says that it is dirty. `is_dirty` looks at the frame's word with acquire
    /// ordering.
    pub(crate) fn remove_unless(&self, frame: FrameId, is_dirty: impl Fn() -> bool) {
        let (word, bit) = self.place(frame);
        // Acquire, here and if the exchange fails: the look at the frame comes after the insertions that are seen.
        let mut before = word.load(Ordering::Acquire);
        while before & bit != 0 && !is_dirty() {
            let after = before & !bit;
            // Release: who finds no bit comes after the page's writing.
            match word.compare_exchange_weak(before, after, Ordering::Release, Ordering::Acquire) {
                Ok(_) => return,
                Err(now) => before = now,
            }
        }
    }

    fn place(&self, frame: FrameId) -> (&P::U64, u64) {
        (&self.0[(frame.0 / FRAMES) as usize], 1 << (frame.0 % FRAMES))
    }

    /// Returns the frames with a bit, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = FrameId> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            // Acquire: for the release in `remove_unless`.
            let mut bits = word.load(Ordering::Acquire) as u32;
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(FrameId(index as u32 * FRAMES + bit))
            })
        })
    }

    /// Returns how many frames have a bit.
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| (word.load(Ordering::Relaxed) as u32).count_ones()).sum()
    }
}
