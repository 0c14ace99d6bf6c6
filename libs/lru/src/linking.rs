//! Linking frames into their lists, and taking them off.
//!
//! A frame belongs to whoever cleared its bit `LISTED` (see `state.rs`), and its list belongs to the
//! holder of the list's lock. All that changes lists is here.

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::cluster::Cluster;
use crate::folio::Folio;
use crate::frame::FrameId;
use crate::held::Held;
use crate::list::Insertion;
use crate::order::Order;
use crate::ordered::Ordered;
use crate::stamp::Stamp;
use crate::state::State;
use crate::stripes::ListIndex;

impl<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> Ordered<P, L, O> {
    pub(crate) fn word(&self, frame: FrameId) -> &P::U32 {
        &self.frames.at(frame).state
    }

    pub(crate) fn state(&self, frame: FrameId) -> State {
        State(self.word(frame).load(Ordering::Relaxed))
    }

    /// Takes the right to unlink a frame. Returns the state in which it is linked.
    ///
    /// Relaxed suffices: the links are written and read under the list's lock. A frame is linked in the
    /// critical section that set the bit. Whoever sees the bit and then holds the lock comes later.
    fn claim(&self, frame: FrameId) -> Option<State> {
        let mut state = self.state(frame);
        // A frame that is on no list is left alone: it may be about to leave.
        while state.has(State::LISTED) {
            let (listed, claimed) = (state.0, state.without(State::LISTED).0);
            let word = self.word(frame);
            match word.compare_exchange(listed, claimed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(state),
                Err(now) => state = State(now),
            }
        }
        None
    }

    /// Unlinks a folio.
    ///
    /// # Safety
    /// The caller holds the lock of the list, into which the folio is linked, and has the right to unlink
    /// it.
    unsafe fn unlink(&self, stripe: u32, list: ListIndex, folio: Folio) {
        // SAFETY: by the caller's promise.
        unsafe {
            self.stripes.chain(stripe, list).unlink(&self.frames, folio);
            self.stripes.publish_tail(&self.frames, stripe, list);
        }
    }

    /// Links a frame in. `change` says what its state is to be.
    ///
    /// # Safety
    /// The frame is a member and on no list, and nobody else links it or removes it.
    pub(crate) unsafe fn link(
        &self,
        held: &mut Held<'_, P, L>,
        frame: FrameId,
        place: Insertion,
        change: impl Fn(State) -> State,
    ) {
        let stripe = self.stripes.layout.stripe(frame);
        let mut state = self.state(frame);
        loop {
            let place_of = |state| self.order.placed(change(state));
            let lock = self.stripes.lock_of(stripe, O::list(place_of(state)));
            held.include(lock);
            // Asked again with the lock, as the order may have changed before.
            let to = place_of(state);
            let list = O::list(to);
            if self.stripes.lock_of(stripe, list) != lock {
                continue;
            }
            let listed = to.with(State::LISTED);
            let changed = self.word(frame).compare_exchange(
                state.0,
                listed.0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match changed {
                Ok(_) => {
                    let folio = listed.folio(frame);
                    // SAFETY: the list's lock is held, and the frame's links are the caller's, as it is on
                    // no list.
                    unsafe {
                        self.stripes.chain(stripe, list).push(&self.frames, folio, place);
                        self.stripes.publish_tail(&self.frames, stripe, list);
                    }
                    return;
                }
                // Somebody touched it, and it may belong to another list now.
                Err(now) => state = State(now),
            }
        }
    }

    /// Moves a frame to where `change` of its state belongs, if it is on a list.
    pub(crate) fn move_listed(
        &self,
        held: &mut Held<'_, P, L>,
        frame: FrameId,
        place: Insertion,
        change: impl Fn(State) -> State,
    ) {
        let Some(before) = self.claim(frame) else { return };
        let stripe = self.stripes.layout.stripe(frame);
        let from = O::list(before);
        let to = self.stripes.lock_of(stripe, O::list(change(before)));
        held.change_to(self.stripes.lock_of(stripe, from), to);
        // SAFETY: the list's lock is held, and the right to unlink the frame was just taken.
        unsafe { self.unlink(stripe, from, before.folio(frame)) };
        // SAFETY: it was just taken off its list.
        unsafe { self.link(held, frame, place, change) };
    }

    /// Takes a frame off its list. Returns whether it was on one. Its links and its membership are the
    /// caller's then.
    pub(crate) fn take_off(&self, frame: FrameId) -> bool {
        let Some(before) = self.claim(frame) else { return false };
        let stripe = self.stripes.layout.stripe(frame);
        let mut held = Held::none(&self.stripes);
        held.include(self.stripes.lock_of(stripe, O::list(before)));
        // SAFETY: the list's lock is held, and the right to unlink the frame was just taken.
        unsafe { self.unlink(stripe, O::list(before), before.folio(frame)) };
        true
    }

    /// Takes folios off the tail of a stripe's list, oldest first, until they have `most` frames. The last
    /// one may have more than were missing. Takes none that came later than `until`.
    pub(crate) fn take_oldest(
        &self,
        stripe: u32,
        list: ListIndex,
        most: u32,
        until: Option<Stamp>,
        taken: &mut Cluster,
    ) {
        let chain = self.stripes.chain(stripe, list);
        if chain.len() == 0 {
            return;
        }
        let mut held = Held::none(&self.stripes);
        held.include(self.stripes.lock_of(stripe, list));
        // SAFETY: the list's lock is held in all of this.
        let mut next = unsafe { chain.oldest() };
        while let Some(frame) = next.filter(|_| taken.frames() < most) {
            // SAFETY: it is linked into this list: nobody unlinks it without the lock.
            let stamp = unsafe { chain.stamp(&self.frames, frame) };
            if until.is_some_and(|until| until.is_before(stamp)) {
                return;
            }
            // SAFETY: as above.
            next = unsafe { chain.after(&self.frames, frame) };
            // Another thread may have the right to unlink it, and wait for the lock.
            if let Some(before) = self.claim(frame) {
                let folio = before.folio(frame);
                // SAFETY: the right to unlink it was just taken.
                unsafe { self.unlink(stripe, list, folio) };
                taken.push(folio);
            }
        }
    }

    /// Links folios in that were taken off, as the newest.
    ///
    /// # Safety
    /// The caller has taken them off their lists, and does nothing more with them.
    pub(crate) unsafe fn link_all(&self, mut cluster: Cluster, change: impl Fn(State) -> State) {
        if cluster.is_empty() {
            return;
        }
        let newest = Insertion::Newest(self.stamp());
        let mut held = Held::none(&self.stripes);
        while let Some(folio) = cluster.pop() {
            // SAFETY: by the caller's promise.
            unsafe { self.link(&mut held, folio.head, newest, &change) };
        }
    }

    /// Ends the membership of a frame.
    ///
    /// # Safety
    /// The caller has taken it off its list, and puts it back into none.
    pub(crate) unsafe fn remove(&self, frame: FrameId) {
        // Release: whoever adds it again may use its links at once.
        self.word(frame).store(State::OUT.0, Ordering::Release);
    }

    /// Changes a member's state unless it is on a list.
    pub(crate) fn change_unlisted(&self, frame: FrameId, change: impl Fn(State) -> State) -> bool {
        let mut state = self.state(frame);
        while state.has(State::MEMBER) && !state.has(State::LISTED) {
            let (old, new) = (state.0, change(state).0);
            let word = self.word(frame);
            match word.compare_exchange(old, new, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(now) => state = State(now),
            }
        }
        false
    }
}
