//! What must hold of the lists, checked.

use alloc::vec::Vec;

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::frame::{FrameId, List};
use crate::state::State;
use crate::striped::Striped;

impl<P: Platform, L: RawLock<P, Thread = ()>> Striped<P, L> {
    /// Returns the frames of a stripe's list, oldest first.
    ///
    /// # Panics
    /// If there is no such stripe.
    pub fn oldest_first(&mut self, stripe: u32, list: List) -> Vec<FrameId> {
        let chain = self.stripes().chain(stripe, list);
        let mut frames = Vec::new();
        // SAFETY: nobody else has the lists, and so this thread has all locks.
        let mut next = unsafe { chain.oldest() };
        // More of them than there are frames would be a circle.
        while let Some(frame) = next.filter(|_| frames.len() <= self.frames.len() as usize) {
            frames.push(frame);
            // SAFETY: it is linked into this list.
            next = unsafe { chain.after(&self.frames, frame) };
        }
        frames
    }

    /// Checks what must hold while no thread is in a function of the lists: a frame that is said to be
    /// on a list is on that one, once, and on no other; other frames are on none; the counts are right.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn validate(&mut self) {
        let mut linked = alloc::vec![0_u32; self.frames.len() as usize];
        for stripe in 0..self.layout().factor {
            for list in List::ALL {
                let frames = self.oldest_first(stripe, list);
                let count = self.stripes().chain(stripe, list).len() as usize;
                assert_eq!(frames.len(), count, "{list:?} of stripe {stripe}");
                for frame in frames {
                    let state = State(self.frames.at(frame).state.load(Ordering::Relaxed));
                    assert!(state.has(State::MEMBER | State::LISTED), "{frame:?}: {state:?}");
                    assert_eq!(state.list(), list, "{frame:?}");
                    assert_eq!(self.layout().stripe(frame), stripe, "{frame:?}");
                    linked[frame.0 as usize] += 1;
                }
            }
        }
        for (frame, times) in linked.into_iter().enumerate() {
            let state = State(self.frames.at(FrameId(frame as u32)).state.load(Ordering::Relaxed));
            assert_eq!(times, u32::from(state.has(State::LISTED)), "frame {frame}: {state:?}");
        }
    }
}
