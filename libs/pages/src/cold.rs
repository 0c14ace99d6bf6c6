//! The cold tier: free frames that are presumably in memory, or nowhere yet.
//!
//! Beside an allocator of frames it has two bits of each: whether its bytes are known to be zero, and for
//! each group of frames whether one was put back lately. A frame that has never been used is zero, and so
//! is one whose memory has gone back to the operating system.

use alloc::boxed::Box;
use core::marker::PhantomData;

use kilocore_platform::{Atomic, AtomicInt, CpuId, Ordering, Platform};

use crate::frame::{Contents, Entry, FrameId, Order};
use crate::free_frames::{FreeFrames, GROUP_FRAMES};
use crate::tier::{Decayed, Level, Tier};

const IDLE: u32 = 0;
const RECENT: u32 = 1;

/// Free frames and what is known of them.
pub struct Cold<P: Platform, F: FreeFrames<P>> {
    free: F,
    /// A set bit is a free frame of which all bytes are zero. The bit of a frame is its owner's.
    zero: Box<[P::U64]>,
    /// For each group: whether a frame with unknown contents was put back since the last decay.
    recent: Box<[P::U32]>,
    marker: PhantomData<P>,
}

impl<P: Platform, F: FreeFrames<P>> core::fmt::Debug for Cold<P, F> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Cold").field("frames", &self.free.frames()).finish_non_exhaustive()
    }
}

fn place(frame: FrameId) -> (usize, u64) {
    ((frame.0 / GROUP_FRAMES) as usize, 1 << (frame.0 % GROUP_FRAMES))
}

impl<P: Platform, F: FreeFrames<P>> Cold<P, F> {
    /// Returns a tier of frames that are all free and have these contents.
    #[must_use]
    pub fn new(free: F, contents: Contents) -> Self {
        let groups = free.frames().div_ceil(GROUP_FRAMES);
        let bits = if contents == Contents::Zero { u64::MAX } else { 0 };
        Self {
            zero: (0..groups).map(|_| P::U64::new(bits)).collect(),
            recent: (0..groups).map(|_| P::U32::new(RECENT)).collect(),
            free,
            marker: PhantomData,
        }
    }

    /// Returns a frame that the caller has taken, with its contents.
    fn entry(&self, frame: FrameId) -> Entry {
        let (group, bit) = place(frame);
        // Relaxed: only the owner of a frame changes its bit, and who takes the frame sees what the
        // last owner did. Neighbours' bits do not matter.
        let zero = self.zero[group].load(Ordering::Relaxed) & bit != 0;
        Entry::new(frame, if zero { Contents::Zero } else { Contents::Unknown })
    }

    /// Notes the contents of a frame that the caller is about to put back.
    fn note(&self, entry: Entry) {
        let (group, bit) = place(entry.frame());
        match entry.contents() {
            Contents::Zero => self.note_zero(group, bit),
            Contents::Unknown => self.note_unknown(group, bit),
        }
    }

    /// Notes that frames of a group are zero. They are the caller's.
    fn note_zero(&self, group: usize, bits: u64) {
        // Relaxed: putting the frames back releases it.
        if self.zero[group].load(Ordering::Relaxed) & bits != bits {
            self.zero[group].fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// Notes that nothing is known of frames of a group. They are the caller's.
    fn note_unknown(&self, group: usize, bits: u64) {
        // Relaxed: as above. The mark only keeps memory from decaying too early.
        if self.zero[group].load(Ordering::Relaxed) & bits != 0 {
            self.zero[group].fetch_and(!bits, Ordering::Relaxed);
        }
        if self.recent[group].load(Ordering::Relaxed) != RECENT {
            self.recent[group].store(RECENT, Ordering::Relaxed);
        }
    }

    /// Returns the bits of those frames that have unknown contents, of frames that the caller has taken.
    fn unknown(&self, group: u32, frames: u64) -> u64 {
        frames & !self.zero[group as usize].load(Ordering::Relaxed) // Relaxed: as in `entry`.
    }

    /// Puts frames of a group back.
    ///
    /// # Safety
    /// The frames are the caller's.
    unsafe fn put_group(&self, group: u32, frames: u64) {
        let each = (0..GROUP_FRAMES).filter(|bit| frames >> bit & 1 != 0);
        // SAFETY: the caller's promise.
        unsafe {
            self.free.put_many(CpuId(0), each.map(|bit| FrameId(group * GROUP_FRAMES + bit)));
        }
    }

    fn decay_group(&self, group: u32, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        let mut decayed = Decayed::default();
        // Relaxed: a hint, as it is in `note_unknown`.
        if self.recent[group as usize].swap(IDLE, Ordering::Relaxed) == RECENT {
            return decayed;
        }
        let frames = self.free.take_group(group);
        let unknown = self.unknown(group, frames);
        for (at, count) in runs(unknown) {
            discard(FrameId(group * GROUP_FRAMES + at), count);
            decayed += Decayed { frames: count, calls: 1 };
        }
        self.note_zero(group as usize, unknown);
        // SAFETY: they were taken above.
        unsafe { self.put_group(group, frames) };
        decayed
    }
}

/// Returns the runs of set bits: where each begins, and how long it is.
fn runs(bits: u64) -> impl Iterator<Item = (u32, u32)> {
    let mut rest = bits;
    core::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let at = rest.trailing_zeros();
        let count = (rest >> at).trailing_ones();
        rest = if at + count == u64::BITS { 0 } else { rest >> (at + count) << (at + count) };
        Some((at, count))
    })
}

// SAFETY: frames come from and go to `free`, which keeps the promise.
unsafe impl<P: Platform, F: FreeFrames<P>> Level for Cold<P, F> {
    fn frames(&self) -> u32 {
        self.free.frames()
    }

    fn take(&self, core: CpuId, most: u32, mut each: impl FnMut(Entry)) -> (u32, Tier) {
        (self.free.take_many(core, most, |frame| each(self.entry(frame))), Tier::Cold)
    }

    unsafe fn put(&self, core: CpuId, count: u32, entries: impl Iterator<Item = Entry>) {
        let noted = entries.take(count as usize).map(|entry| {
            self.note(entry);
            entry.frame()
        });
        // SAFETY: the caller's promise.
        unsafe { self.free.put_many(core, noted) };
    }

    fn take_run(&self, core: CpuId, order: Order, each: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        let first = self.free.take(core, order)?;
        for at in 0..order.frames() {
            each(self.entry(FrameId(first.0 + at)));
        }
        Some(first)
    }

    unsafe fn put_run(&self, core: CpuId, frame: FrameId, order: Order, contents: Contents) {
        for at in 0..order.frames() {
            self.note(Entry::new(FrameId(frame.0 + at), contents));
        }
        // SAFETY: the caller's promise.
        unsafe { self.free.put(core, frame, order) };
    }

    unsafe fn put_back(&self, core: CpuId, frame: FrameId, order: Order) {
        // What is noted of the frames is still so.
        // SAFETY: the caller's promise.
        unsafe { self.free.put(core, frame, order) };
    }

    fn take_these(&self, first: FrameId, frames: u32) -> bool {
        let (begin, end) = (first.0, first.0 + frames);
        if end > self.frames() {
            return false;
        }
        let of_group = |group: u32| {
            let at = |frame: u32| frame.clamp(group * GROUP_FRAMES, (group + 1) * GROUP_FRAMES);
            let count = at(end) - at(begin);
            if count == 0 {
                0
            } else {
                u64::MAX >> (GROUP_FRAMES - count) << (at(begin) % GROUP_FRAMES)
            }
        };
        let groups = begin / GROUP_FRAMES..end.div_ceil(GROUP_FRAMES);
        for group in groups.clone() {
            let (wanted, taken) = (of_group(group), self.free.take_group(group));
            let had_all = taken & wanted == wanted;
            // SAFETY: the frames were taken above, or in the rounds before, and nobody else has them.
            unsafe {
                self.put_group(group, if had_all { taken & !wanted } else { taken });
                if !had_all {
                    (groups.start..group).for_each(|group| self.put_group(group, of_group(group)));
                    return false;
                }
            }
        }
        true
    }

    fn drain(&self, _core: CpuId) {}

    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        let mut decayed = Decayed::default();
        for group in 0..self.recent.len() as u32 {
            decayed += self.decay_group(group, discard);
        }
        decayed
    }

    fn counts(&self) -> (u32, u32) {
        (0, self.free.free())
    }

    fn validate(&mut self, each: &mut dyn FnMut(Entry)) {
        let zero = &self.zero;
        self.free.validate(|frame| {
            let (group, bit) = place(frame);
            // Relaxed: nobody else is there.
            let known = zero[group].load(Ordering::Relaxed) & bit != 0;
            each(Entry::new(frame, if known { Contents::Zero } else { Contents::Unknown }));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_bits_are_found() {
        let of = |bits| runs(bits).collect::<alloc::vec::Vec<_>>();
        assert_eq!(of(0), []);
        assert_eq!(of(u64::MAX), [(0, 64)]);
        assert_eq!(of(0b0110_0001), [(0, 1), (5, 2)]);
        assert_eq!(of(1 << 63 | 1), [(0, 1), (63, 1)]);
    }
}
