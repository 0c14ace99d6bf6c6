//! Which frames have pages that the store does not have yet: a bit for each, so that it takes little time
//! to find them.
//!
//! A frame's bit is set *after* its word says that it is dirty, and before its exclusive latch is given
//! back. Who has written the page clears the bit, looks at the word once more, and sets the bit again if
//! the page was changed meanwhile. As both change the bit by an atomic read-modify-write, the later of the two
//! sees what the earlier did before. So no dirty page is without its bit once its latch is given back.

use kilocore_lru::FrameId;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

pub(crate) struct DirtySet<P: Platform>(Box<[P::U64]>);

impl<P: Platform> DirtySet<P> {
    pub(crate) fn new(frames: u32) -> Self {
        Self((0..frames.div_ceil(64)).map(|_| P::U64::new(0)).collect())
    }

    pub(crate) fn insert(&self, frame: FrameId) {
        let (word, bit) = self.place(frame);
        word.fetch_or(bit, Ordering::Release);
    }

    pub(crate) fn remove(&self, frame: FrameId) {
        let (word, bit) = self.place(frame);
        word.fetch_and(!bit, Ordering::Acquire);
    }

    fn place(&self, frame: FrameId) -> (&P::U64, u64) {
        (&self.0[frame.0 as usize / 64], 1 << (frame.0 % 64))
    }

    /// Returns the frames with a bit, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = FrameId> + '_ {
        self.0.iter().enumerate().flat_map(|(index, word)| {
            let mut bits = word.load(Ordering::Relaxed);
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(FrameId(index as u32 * 64 + bit))
            })
        })
    }

    /// Returns how many frames have a bit.
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum()
    }
}
