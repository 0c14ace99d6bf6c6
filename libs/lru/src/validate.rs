//! What must hold of the lists, checked.

use alloc::vec::Vec;

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::frame::{FrameId, List};
use crate::order::Order;
use crate::ordered::Ordered;
use crate::stamp::Stamp;
use crate::state::State;
use crate::stripes::{ListIndex, MOST_LISTS};

impl<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> Ordered<P, L, O> {
    /// Returns the frames of a stripe's list, oldest first.
    ///
    /// # Panics
    /// If there is no such stripe.
    pub fn oldest_first(&mut self, stripe: u32, list: List) -> Vec<FrameId> {
        let parts = self.order.parts(list).into_iter().flatten();
        parts.flat_map(|part| self.chain_oldest_first(stripe, part)).collect()
    }

    fn chain_oldest_first(&self, stripe: u32, list: ListIndex) -> Vec<FrameId> {
        let chain = self.stripes.chain(stripe, list);
        let mut frames = Vec::new();
        // SAFETY: the callers have the lists for themselves, and so this thread has all locks.
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
    /// on a list is on that one, once, and on no other; other frames are on none; the counts are right,
    /// and so is what is known of tails.
    ///
    /// # Panics
    /// If that does not hold.
    pub fn validate(&mut self) {
        let mut linked = alloc::vec![0_u32; self.frames.len() as usize];
        let most = |list: &ListIndex| {
            usize::from(list.0) < List::ALL.len() || self.stripes.has_more_lists()
        };
        for stripe in 0..self.stripes.layout.factor {
            for list in (0..MOST_LISTS as u8).map(ListIndex).filter(most) {
                let frames = self.chain_oldest_first(stripe, list);
                let chain = self.stripes.chain(stripe, list);
                let of_folio = |frame: &FrameId| self.state(*frame).order().frames();
                let all: u32 = frames.iter().map(of_folio).sum();
                assert_eq!(all, chain.len(), "{list:?} of stripe {stripe}");
                // SAFETY: nobody else has the lists.
                let tail = unsafe { chain.oldest_stamp(&self.frames) };
                if let Some(published) = self.stripes.published_tail(stripe, list) {
                    assert_eq!(published, Stamp::to_word(tail), "{list:?} of stripe {stripe}");
                }
                for frame in frames {
                    let state = self.state(frame);
                    assert!(state.has(State::MEMBER | State::LISTED), "{frame:?}: {state:?}");
                    assert_eq!(O::list(state), list, "{frame:?}");
                    assert_eq!(self.stripes.layout.stripe(frame), stripe, "{frame:?}");
                    linked[frame.0 as usize] += 1;
                }
            }
        }
        for (frame, times) in linked.into_iter().enumerate() {
            let state = self.state(FrameId(frame as u32));
            assert_eq!(times, u32::from(state.has(State::LISTED)), "frame {frame}: {state:?}");
        }
    }
}
