//! A few frames that reclaim has taken off their lists.

use crate::frame::FrameId;

/// So many frames are taken off at a time, as in Linux.
pub(crate) const CLUSTER: usize = 32;

/// At most [`CLUSTER`] frames, oldest first.
#[derive(Debug)]
pub(crate) struct Cluster {
    frames: [FrameId; CLUSTER],
    /// Those from here to the end are there.
    first: usize,
    end: usize,
}

impl Cluster {
    pub(crate) const EMPTY: Cluster = Cluster { frames: [FrameId(0); CLUSTER], first: 0, end: 0 };

    pub(crate) fn len(&self) -> usize {
        self.end - self.first
    }

    /// Adds a frame.
    ///
    /// # Panics
    /// If so many were added already.
    pub(crate) fn push(&mut self, frame: FrameId) {
        self.frames[self.end] = frame;
        self.end += 1;
    }

    /// Returns the oldest one.
    pub(crate) fn first(&self) -> Option<FrameId> {
        self.frames[self.first..self.end].first().copied()
    }

    /// Takes the oldest one out.
    pub(crate) fn pop(&mut self) -> Option<FrameId> {
        let frame = self.first()?;
        self.first += 1;
        Some(frame)
    }
}
