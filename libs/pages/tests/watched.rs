//! A pool whose frames have memory that the checker watches: two owners at a time are a race.

use kilocore_pages::{Contents, Entry, FrameId, PagePolicy};
use kilocore_platform::{Platform, SharedCell};

/// A pool, and a word for each of its frames, which is zero at first.
pub(crate) struct Watched<P: Platform, A: PagePolicy> {
    pub(crate) policy: A,
    memory: Box<[P::Cell<u32>]>,
}

impl<P: Platform, A: PagePolicy> Watched<P, A> {
    pub(crate) fn new(policy: A) -> Self {
        let memory = (0..policy.frames()).map(|_| P::Cell::new(0)).collect();
        Self { policy, memory }
    }

    fn read(&self, frame: FrameId) -> u32 {
        // SAFETY: the frame is the caller's, which is what the checker finds out.
        self.memory[frame.0 as usize].with(|word| unsafe { *word })
    }

    fn write(&self, frame: FrameId, value: u32) {
        // SAFETY: as above.
        self.memory[frame.0 as usize].with_mut(|word| unsafe { *word = value });
    }

    /// Allocates a frame and writes into it, as its owner does.
    pub(crate) fn allocate(&self, owner: u32) -> Option<FrameId> {
        let entry = self.policy.allocate()?.entry;
        self.own(entry, owner);
        Some(entry.frame())
    }

    fn own(&self, entry: Entry, owner: u32) {
        if entry.contents() == Contents::Zero {
            assert_eq!(self.read(entry.frame()), 0, "a frame that is said to be zero is zero");
        }
        self.write(entry.frame(), owner);
    }

    /// Releases a frame into which nobody else has written meanwhile.
    pub(crate) fn release(&self, frame: FrameId, owner: u32) {
        assert_eq!(self.read(frame), owner, "somebody else has got the frame, too");
        // SAFETY: the caller has allocated it and uses it no more.
        unsafe { self.policy.release(Entry::new(frame, Contents::Unknown)) };
    }

    /// Releases a frame after making it zero.
    pub(crate) fn release_zero(&self, frame: FrameId, owner: u32) {
        assert_eq!(self.read(frame), owner, "somebody else has got the frame, too");
        self.write(frame, 0);
        // SAFETY: as above, and it is zero.
        unsafe { self.policy.release(Entry::new(frame, Contents::Zero)) };
    }

    pub(crate) fn allocate_run(&self, frames: u32, owner: u32) -> Option<FrameId> {
        self.policy.allocate_run(frames, &mut |entry| self.own(entry, owner))
    }

    /// Allocates just these frames, if they are free. Returns whether they were.
    pub(crate) fn allocate_these(&self, first: FrameId, frames: u32, owner: u32) -> bool {
        let taken = self.policy.allocate_these(first, frames);
        if taken {
            (first.0..first.0 + frames).for_each(|frame| self.write(FrameId(frame), owner));
        }
        taken
    }

    pub(crate) fn release_run(&self, first: FrameId, frames: u32, owner: u32) {
        for at in 0..frames {
            assert_eq!(self.read(FrameId(first.0 + at)), owner, "the run is one owner's");
        }
        // SAFETY: as above.
        unsafe { self.policy.release_run(first, frames, Contents::Unknown) };
    }

    /// Gives memory back, which is zero afterwards.
    pub(crate) fn decay(&self) {
        self.policy.decay(&mut |first, count| {
            (first.0..first.0 + count).for_each(|frame| self.write(FrameId(frame), 0));
        });
    }

    /// Returns the frames that are free, each of which is so once.
    pub(crate) fn free(&mut self) -> Vec<u32> {
        let mut free = Vec::new();
        let memory = &self.memory;
        self.policy.validate(&mut |entry| {
            let frame = entry.frame();
            if entry.contents() == Contents::Zero {
                // SAFETY: nobody else is there.
                let word = memory[frame.0 as usize].with(|word| unsafe { *word });
                assert_eq!(word, 0, "a free frame that is said to be zero is zero");
            }
            free.push(frame.0);
        });
        free.sort_unstable();
        let count = free.len();
        free.dedup();
        assert_eq!(free.len(), count, "no frame is free twice");
        free
    }
}
