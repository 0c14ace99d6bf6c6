//! Batches: work on lists that waits on its core until there is enough of it for one acquisition of a
//! lock.
//!
//! Linux keeps a batch for each kind of work on each core, and relies on not being preempted while it
//! puts a frame into one. In user space a thread may be preempted there and go on elsewhere. So the
//! batches of a core have a lock of their own, which is uncontended while threads stay on their cores.
//! It is held for as long as it takes to put one frame in, or to copy a full batch out.

use core::sync::atomic::Ordering;

use alloc::boxed::Box;

use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, Padded, Platform};

use crate::folio::{Folio, FolioOrder};
use crate::frame::FrameId;
use crate::tables::{NoMemory, table};

/// The largest batch. Linux had 15 until 2024, and has 31 since.
pub const LARGEST_BATCH: u32 = 31;

/// What is to be done with the frames of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Link it in. The frame is in no other batch of this kind, and nobody else links it.
    Add,
    /// Move it to its active list.
    Activate,
    /// Move it to its inactive list.
    Deactivate,
    /// Move it to the tail of its inactive list, where it is reclaimed next.
    Rotate,
}

impl Work {
    pub(crate) const ALL: [Work; 4] = [Work::Add, Work::Activate, Work::Deactivate, Work::Rotate];
}

/// The frames of a batch, taken out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taken {
    frames: [FrameId; LARGEST_BATCH as usize],
    len: u32,
}

impl Taken {
    pub(crate) fn frames(&mut self) -> &mut [FrameId] {
        &mut self.frames[..self.len as usize]
    }

    /// Sorts them by stripe. Those of one stripe stay in the order in which they came.
    pub(crate) fn sort_by(&mut self, stripe: impl Fn(FrameId) -> u32) {
        // A stable sort would need memory.
        let mut keyed = [(0, 0, FrameId(0)); LARGEST_BATCH as usize];
        for (place, (key, frame)) in keyed.iter_mut().zip(&*self.frames()).enumerate() {
            *key = (stripe(*frame), place, *frame);
        }
        let keyed = &mut keyed[..self.len as usize];
        keyed.sort_unstable();
        for (frame, key) in self.frames().iter_mut().zip(keyed) {
            *frame = key.2;
        }
    }
}

/// Frames that wait for one kind of work. All words are used under the core's lock.
struct Batch<P: Platform> {
    len: P::U32,
    /// As many as make it full.
    frames: Box<[P::U32]>,
}

impl<P: Platform> Batch<P> {
    fn new(full: u32) -> Result<Self, NoMemory> {
        let frames = table(full as usize, || Ok(P::U32::new(0)))?;
        Ok(Self { len: P::U32::new(0), frames })
    }

    /// Puts a folio in. Returns all of them if it is full then, or if the folio is not to wait.
    fn push(&self, folio: Folio, waits: bool) -> Option<Taken> {
        let len = self.len.load(Ordering::Relaxed);
        self.frames[len as usize].store(folio.head.0, Ordering::Relaxed);
        self.len.store(len + 1, Ordering::Relaxed);
        let is_full = len as usize + 1 == self.frames.len();
        (is_full || !waits).then(|| self.take())
    }

    fn take(&self) -> Taken {
        let len = self.len.load(Ordering::Relaxed);
        let mut taken = Taken { frames: [FrameId(0); LARGEST_BATCH as usize], len };
        for (frame, word) in taken.frames().iter_mut().zip(&self.frames) {
            *frame = FrameId(word.load(Ordering::Relaxed));
        }
        self.len.store(0, Ordering::Relaxed);
        taken
    }
}

/// The batches of a core.
struct Core<P: Platform> {
    lock: Ttas<P>,
    batches: [Batch<P>; Work::ALL.len()],
}

impl<P: Platform> Core<P> {
    fn with<R>(&self, work: Work, action: impl FnOnce(&Batch<P>) -> R) -> R {
        RawLock::<P>::acquire(&self.lock, &mut ());
        let result = action(&self.batches[work as usize]);
        // SAFETY: this thread has just acquired it.
        unsafe { RawLock::<P>::release(&self.lock, &mut ()) };
        result
    }
}

/// The batches of all cores.
pub(crate) struct Batches<P: Platform> {
    cores: Box<[Padded<Core<P>>]>,
    /// Folios of a larger order do not wait.
    pub(crate) largest: FolioOrder,
}

impl<P: Platform> Batches<P> {
    /// Returns empty batches that are full with so many frames.
    pub(crate) fn new(cores: u32, full: u32) -> Result<Self, NoMemory> {
        let batch = || Batch::new(full);
        let core = || {
            let batches = [batch()?, batch()?, batch()?, batch()?];
            Ok(Padded(Core { lock: RawLock::<P>::new(), batches }))
        };
        Ok(Self { cores: table(cores as usize, core)?, largest: FolioOrder::PAGE })
    }

    /// Puts a folio into a batch of this core. Returns the batch if that is to be done at once, because it
    /// is full or the folio is not to wait. Its work is the caller's then.
    pub(crate) fn push(&self, work: Work, folio: Folio) -> Option<Taken> {
        let core = P::cpu().0 as usize % self.cores.len();
        let waits = folio.order <= self.largest;
        self.cores[core].with(work, |batch| batch.push(folio, waits))
    }

    /// Takes all batches of a kind, one after the other. Their work is the caller's.
    pub(crate) fn take(&self, work: Work) -> impl Iterator<Item = Taken> + '_ {
        self.cores.iter().map(move |core| core.with(work, Batch::take))
    }
}
