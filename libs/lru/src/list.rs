//! Lists through the frames' own links: no list operation allocates memory.
//!
//! A frame's links belong to the lock of the list that it is linked into. While it is linked into
//! none, they belong to the thread that took it off or is about to add it (see `state.rs`).

use alloc::boxed::Box;

use kilocore_platform::{Atomic, Ordering, Platform, SharedCell};

use crate::folio::Folio;
use crate::frame::FrameId;
use crate::stamp::Stamp;
use crate::state::State;
use crate::tables::{NoMemory, table};

/// The end of a list, in place of a frame's number. No frame has it.
const NONE: u32 = u32::MAX;

/// The neighbours of a frame: the one linked in later, which is nearer to the head, and the one linked
/// in earlier. And when it was linked in.
#[derive(Debug, Clone, Copy)]
struct Links {
    newer: u32,
    older: u32,
    stamp: Stamp,
}

/// What the lists keep of a frame.
pub(crate) struct Frame<P: Platform> {
    pub(crate) state: P::U32,
    links: P::Cell<Links>,
}

/// What the lists keep of all frames.
pub(crate) struct Frames<P: Platform>(Box<[Frame<P>]>);

impl<P: Platform> Frames<P> {
    pub(crate) fn new(count: u32) -> Result<Self, NoMemory> {
        let frame = || Frame {
            state: P::U32::new(State::OUT.0),
            links: P::Cell::new(Links { newer: NONE, older: NONE, stamp: Stamp::FIRST }),
        };
        table(count as usize, || Ok(frame())).map(Self)
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Returns a frame.
    ///
    /// # Panics
    /// If there is no such frame.
    pub(crate) fn at(&self, frame: FrameId) -> &Frame<P> {
        &self.0[frame.0 as usize]
    }

    /// # Safety
    /// The caller owns the frame's links.
    unsafe fn links(&self, frame: u32) -> Links {
        // SAFETY: nobody writes them meanwhile, by the caller's promise.
        self.0[frame as usize].links.with(|links| unsafe { *links })
    }

    /// # Safety
    /// As for [`links`](Self::links).
    unsafe fn change(&self, frame: u32, change: impl FnOnce(&mut Links)) {
        // SAFETY: nobody uses them meanwhile, by the caller's promise.
        self.0[frame as usize].links.with_mut(|links| change(unsafe { &mut *links }));
    }
}

/// Where a frame is linked in, and with which stamp.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Insertion {
    Newest(Stamp),
    Oldest(Stamp),
}

/// The first and the last frame of a list.
#[derive(Debug, Clone, Copy)]
struct Ends {
    newest: u32,
    oldest: u32,
}

/// A list. It belongs to the holder of its lock.
pub(crate) struct Chain<P: Platform> {
    ends: P::Cell<Ends>,
    /// Written under the lock, read by anybody.
    count: P::U32,
}

impl<P: Platform> Chain<P> {
    pub(crate) fn new() -> Self {
        Self { ends: P::Cell::new(Ends { newest: NONE, oldest: NONE }), count: P::U32::new(0) }
    }

    /// Returns the number of frames in it, with all those of its folios. Without the lock it may be out of date.
    pub(crate) fn len(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    fn ends(&self) -> Ends {
        // SAFETY: the callers hold the lock.
        self.ends.with(|ends| unsafe { *ends })
    }

    fn set(&self, ends: Ends, count: u32) {
        // SAFETY: the callers hold the lock.
        self.ends.with_mut(|place| unsafe { *place = ends });
        self.count.store(count, Ordering::Relaxed);
    }

    /// Links a folio in by its head.
    ///
    /// # Safety
    /// The caller holds the list's lock, and owns the head's links.
    pub(crate) unsafe fn push(&self, frames: &Frames<P>, folio: Folio, place: Insertion) {
        // SAFETY: by the caller's promise.
        unsafe {
            match place {
                Insertion::Newest(stamp) => self.push_newest(frames, folio, stamp),
                Insertion::Oldest(stamp) => self.push_oldest(frames, folio, stamp),
            }
        }
    }

    /// Links a folio in at the list's head.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    unsafe fn push_newest(&self, frames: &Frames<P>, folio: Folio, stamp: Stamp) {
        let frame = folio.head;
        let Ends { newest, oldest } = self.ends();
        // SAFETY: the frame's links are the caller's, and those of the list's frames are the lock's.
        unsafe {
            frames.change(frame.0, |links| *links = Links { newer: NONE, older: newest, stamp });
            if newest != NONE {
                frames.change(newest, |links| links.newer = frame.0);
            }
        }
        let oldest = if oldest == NONE { frame.0 } else { oldest };
        self.set(Ends { newest: frame.0, oldest }, self.len() + folio.order.frames());
    }

    /// Links a folio in at the list's tail.
    ///
    /// # Safety
    /// As for [`push`](Self::push).
    unsafe fn push_oldest(&self, frames: &Frames<P>, folio: Folio, stamp: Stamp) {
        let frame = folio.head;
        let Ends { newest, oldest } = self.ends();
        // SAFETY: as in `push_newest`.
        unsafe {
            frames.change(frame.0, |links| *links = Links { newer: oldest, older: NONE, stamp });
            if oldest != NONE {
                frames.change(oldest, |links| links.older = frame.0);
            }
        }
        let newest = if newest == NONE { frame.0 } else { newest };
        self.set(Ends { newest, oldest: frame.0 }, self.len() + folio.order.frames());
    }

    /// Takes a folio off. Its head's links are the caller's then.
    ///
    /// # Safety
    /// The caller holds the list's lock, and the folio is linked into this list.
    pub(crate) unsafe fn unlink(&self, frames: &Frames<P>, folio: Folio) {
        let mut ends = self.ends();
        // SAFETY: the links of the list's frames are the lock's.
        unsafe {
            let Links { newer, older, .. } = frames.links(folio.head.0);
            match newer {
                NONE => ends.newest = older,
                newer => frames.change(newer, |links| links.older = older),
            }
            match older {
                NONE => ends.oldest = newer,
                older => frames.change(older, |links| links.newer = newer),
            }
        }
        self.set(ends, self.len() - folio.order.frames());
    }

    /// Returns the frame that was linked in first.
    ///
    /// # Safety
    /// The caller holds the list's lock.
    pub(crate) unsafe fn oldest(&self) -> Option<FrameId> {
        some(self.ends().oldest)
    }

    /// Returns when the frame that was linked in first was linked in.
    ///
    /// # Safety
    /// The caller holds the list's lock.
    pub(crate) unsafe fn oldest_stamp(&self, frames: &Frames<P>) -> Option<Stamp> {
        // SAFETY: by the caller's promise, and the links of the list's frames are the lock's.
        unsafe { self.oldest().map(|frame| frames.links(frame.0).stamp) }
    }

    /// Returns when a frame was linked in.
    ///
    /// # Safety
    /// As for [`after`](Self::after).
    pub(crate) unsafe fn stamp(&self, frames: &Frames<P>, frame: FrameId) -> Stamp {
        // SAFETY: the links of the list's frames are the lock's.
        unsafe { frames.links(frame.0) }.stamp
    }

    /// Returns the frame that was linked in after another one.
    ///
    /// # Safety
    /// The caller holds the list's lock, and the frame is linked into this list.
    pub(crate) unsafe fn after(&self, frames: &Frames<P>, frame: FrameId) -> Option<FrameId> {
        // SAFETY: the links of the list's frames are the lock's.
        some(unsafe { frames.links(frame.0) }.newer)
    }
}

fn some(frame: u32) -> Option<FrameId> {
    (frame != NONE).then_some(FrameId(frame))
}

#[cfg(test)]
mod tests {
    use kilocore_platform::Native;

    use super::*;

    #[test]
    fn a_frame_costs_sixteen_bytes() {
        assert_eq!(size_of::<Frame<Native>>(), 16);
    }
}
