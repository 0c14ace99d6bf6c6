//! The interface of page lists, for all orders that say what reclaim gives up.

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::batch::Work;
use crate::folio::{Folio, FolioOrder};
use crate::frame::{Class, FrameId, List, PageHash};
use crate::held::Held;
use crate::list::Insertion;
use crate::order::{Order, Touched};
use crate::ordered::Ordered;
use crate::page_lists::{AlreadyAdded, Fate, PageLists};
use crate::state::State;

/// An order that says what reclaim gives up.
pub trait Reclaiming<P: Platform>: Order<P> {
    /// Does what [`PageLists::reclaim`] does, in this order.
    fn reclaim<L>(
        lists: &Ordered<P, L, Self>,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32
    where
        L: RawLock<P, Thread = ()>;
}

// SAFETY: `isolate_frame` clears the bit by which a frame is known to be on a list, and reports whether
// this call did. The bit is set only by whoever took the frame off or added it.
unsafe impl<P: Platform, L: RawLock<P, Thread = ()>, O: Reclaiming<P>> PageLists<P>
    for Ordered<P, L, O>
{
    fn frames(&self) -> u32 {
        self.frames.len()
    }

    fn add_folio(
        &self,
        head: FrameId,
        order: FolioOrder,
        class: Class,
        page: Option<PageHash>,
    ) -> Result<(), AlreadyAdded> {
        let frames = self.frames.len();
        assert!(order.fits(head, frames), "no folio of {order:?} begins at {head:?} of {frames}");
        self.add_named(Folio { head, order }, class, page)
    }

    fn touch(&self, frame: FrameId) {
        let mut state = self.state(frame);
        loop {
            if !state.has(State::MEMBER) || state.has(State::UNEVICTABLE) {
                return;
            }
            let (new, work) = match self.order.touched(state) {
                Touched::Nothing => return,
                Touched::Noted(new) => (new, None),
                Touched::Moves(new, work) => (new, Some(work)),
            };
            let word = self.word(frame);
            match word.compare_exchange(state.0, new.0, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => {
                    return work.into_iter().for_each(|work| self.later(work, state.folio(frame)));
                }
                Err(now) => state = State(now),
            }
        }
    }

    fn deactivate(&self, frame: FrameId) {
        let deactivated = |state: State| self.order.deactivated(state);
        let state = self.state(frame);
        if !state.has(State::LISTED) {
            self.change_unlisted(frame, deactivated);
        } else if O::list(deactivated(state)) != O::list(state) {
            self.later(Work::Deactivate, state.folio(frame));
        }
    }

    fn rotate(&self, frame: FrameId) {
        let state = self.state(frame);
        if state.has(State::LISTED) {
            self.later(Work::Rotate, state.folio(frame));
        }
    }

    fn set_evictable(&self, frame: FrameId, evictable: bool) {
        let change = |state: State| match evictable {
            true => state.without(State::UNEVICTABLE),
            false => state.without(State::ACTIVE).with(State::UNEVICTABLE),
        };
        let is_done = |state: State| state.has(State::UNEVICTABLE) != evictable;
        // It may get on a list or off it meanwhile.
        loop {
            let state = self.state(frame);
            if !state.has(State::MEMBER) || is_done(state) || self.change_unlisted(frame, change) {
                return;
            }
            let mut held = Held::none(&self.stripes);
            self.move_listed(&mut held, frame, Insertion::Newest(self.stamp()), change);
        }
    }

    fn reclaim(&self, class: Class, target: u32, judge: &mut dyn FnMut(FrameId) -> Fate) -> u32 {
        O::reclaim(self, class, target, judge)
    }

    fn drain(&self) {
        for work in Work::ALL {
            for taken in self.batches.take(work) {
                self.carry_out(work, taken);
            }
        }
    }

    fn len(&self, list: List) -> u32 {
        self.count(list)
    }

    fn isolate_frame(&self, frame: FrameId) -> bool {
        self.take_off(frame)
    }

    unsafe fn put_back_frame(&self, frame: FrameId) {
        self.later(Work::Add, self.state(frame).folio(frame));
    }

    unsafe fn remove_frame(&self, frame: FrameId) {
        // SAFETY: by the caller's promise.
        unsafe { self.remove(frame) };
    }
}
