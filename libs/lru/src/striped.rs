//! The page cache's five lists, under one lock or under many.
//!
//! # The idea
//! * **Work waits in batches** on its core, so that a lock is acquired once for 15 or 31 frames.
//! * **Many locks instead of one.** The lists are cut into stripes, and a frame's number says which
//!   stripe is its own. A frame never leaves its stripe. So one lock over the five lists of a stripe is
//!   enough for every operation.
//! * **Neighbours share a stripe**, so that a batch of a sequential write needs one lock. A lock that the
//!   next frame of a batch needs as well is not given back in between.
//!
//! [`Layout`] says how many stripes there are and what has a lock: it makes this the lists of Linux, the
//! first FinerLRU, or the improved one (E.-K. Byun and others, 'Optimizing LRU Lock Management in the
//! Linux Kernel for Improving Parallel Write Throughput in Many-Core CPU Systems', 2023, sections 2.1
//! to 2.3).
//!
//! # Beyond the paper
//! The paper does not say in which order reclaim goes through the stripes, nor how it keeps active and
//! inactive pages in balance. Here reclaim takes from one stripe after the other, few frames from each,
//! and the balance is that of Linux over all stripes together.

use core::array;
use core::error::Error;
use core::fmt;

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform};

use crate::batch::{Batches, LARGEST_BATCH, Taken, Work};
use crate::cluster::Cluster;
use crate::frame::{Class, FrameId, List};
use crate::held::Held;
use crate::list::Frames;
use crate::page_lists::{AlreadyAdded, Fate, PageLists};
use crate::state::State;
use crate::stripes::{Layout, Stripes};

/// How lists are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How the lists are divided.
    pub layout: Layout,
    /// How many frames wait in a batch before their work is done: from 1 to [`LARGEST_BATCH`].
    pub batch: u32,
    /// Whether a batch is sorted by stripe before its work is done. Frames of a random order are mostly of
    /// different stripes, so that without sorting each takes a lock of its own.
    pub sorted: bool,
}

/// Why lists cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionsError {
    /// There has to be a stripe, and not more of them than fit.
    Factor(u32),
    /// A batch has from 1 to [`LARGEST_BATCH`] frames.
    Batch(u32),
    /// There has to be a core.
    NoCores,
    /// A frame's number has fewer bits than are to be ignored.
    GroupBits(u32),
}

/// The most stripes.
pub const LARGEST_FACTOR: u32 = 1 << 16;

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionsError::Factor(factor) => {
                write!(f, "{factor} stripes: there must be from 1 to {LARGEST_FACTOR}")
            }
            OptionsError::Batch(batch) => {
                write!(f, "{batch} frames in a batch: there must be from 1 to {LARGEST_BATCH}")
            }
            OptionsError::NoCores => f.write_str("a machine has at least one core"),
            OptionsError::GroupBits(bits) => {
                write!(f, "groups of frames by {bits} bits: a frame's number has 32")
            }
        }
    }
}

impl Error for OptionsError {}

/// Lists with locks `L`.
pub struct Striped<P: Platform, L: RawLock<P, Thread = ()>> {
    pub(crate) frames: Frames<P>,
    stripes: Stripes<P, L>,
    batches: Batches<P>,
    sorted: bool,
    /// Whose turn it is, by [`Turn`].
    turns: Padded<[P::U32; 2]>,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Striped<P, L> {
    /// Returns empty lists for so many frames, on a machine of so many cores.
    ///
    /// # Errors
    /// If the options are out of their ranges.
    pub fn new(frames: u32, cores: u32, options: Options) -> Result<Self, OptionsError> {
        let Options { layout, batch, sorted } = options;
        if layout.factor == 0 || layout.factor > LARGEST_FACTOR {
            return Err(OptionsError::Factor(layout.factor));
        }
        if batch == 0 || batch > LARGEST_BATCH {
            return Err(OptionsError::Batch(batch));
        }
        if layout.group_bits >= u32::BITS {
            return Err(OptionsError::GroupBits(layout.group_bits));
        }
        if cores == 0 {
            return Err(OptionsError::NoCores);
        }
        Ok(Self {
            frames: Frames::new(frames),
            stripes: Stripes::new(layout),
            batches: Batches::new(cores, batch),
            sorted,
            turns: Padded(array::from_fn(|_| P::U32::new(0))),
        })
    }

    /// Returns how the lists are divided.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.stripes.layout
    }

    fn word(&self, frame: FrameId) -> &P::U32 {
        &self.frames.at(frame).state
    }

    fn state(&self, frame: FrameId) -> State {
        State(self.word(frame).load(Ordering::Relaxed))
    }

    /// Takes the right to unlink a frame. Returns the state in which it is linked.
    ///
    /// Relaxed suffices: the links are written and read under the list's lock. A frame is linked in the
    /// critical section that set the bit. Whoever sees the bit and then holds the lock comes later.
    fn claim(&self, frame: FrameId) -> Option<State> {
        if !self.state(frame).has(State::LISTED) {
            return None;
        }
        let before = State(self.word(frame).fetch_and(!State::LISTED, Ordering::Relaxed));
        before.has(State::LISTED).then_some(before)
    }

    /// Links a frame in. `change` says what its state is to be.
    ///
    /// # Safety
    /// The frame is a member and on no list, and nobody else links it or removes it.
    pub(crate) unsafe fn link(
        &self,
        held: &mut Held<'_, P, L>,
        frame: FrameId,
        place: Place,
        change: impl Fn(State) -> State,
    ) {
        let stripe = self.stripes.layout.stripe(frame);
        let mut state = self.state(frame);
        loop {
            let to = change(state);
            let lock = self.stripes.lock_of(stripe, to.list());
            held.include(lock);
            let listed = to.with(State::LISTED);
            let changed = self.word(frame).compare_exchange(
                state.0,
                listed.0,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            match changed {
                Ok(_) => {
                    let chain = self.stripes.chain(stripe, to.list());
                    let frames = &self.frames;
                    match place {
                        // SAFETY: the list's lock is held, and the frame's links are the caller's, as
                        // it is on no list.
                        Place::Newest => unsafe { chain.push_newest(frames, frame) },
                        // SAFETY: as above.
                        Place::Oldest => unsafe { chain.push_oldest(frames, frame) },
                    }
                    return;
                }
                // Somebody touched it, and it may belong to another list now.
                Err(now) => state = State(now),
            }
        }
    }

    /// Moves a frame to where `change` of its state belongs, if it is on a list.
    fn move_listed(
        &self,
        held: &mut Held<'_, P, L>,
        frame: FrameId,
        place: Place,
        change: impl Fn(State) -> State,
    ) {
        let Some(before) = self.claim(frame) else { return };
        let stripe = self.stripes.layout.stripe(frame);
        let from = self.stripes.lock_of(stripe, before.list());
        let to = self.stripes.lock_of(stripe, change(before).list());
        held.change_to(from, to);
        // SAFETY: the list's lock is held, and the right to unlink the frame was just taken.
        unsafe { self.stripes.chain(stripe, before.list()).unlink(&self.frames, frame) };
        // SAFETY: it was just taken off its list.
        unsafe { self.link(held, frame, place, change) };
    }

    /// Puts a frame into a batch of this core, and does the batch's work if it is full.
    fn later(&self, work: Work, frame: FrameId) {
        if let Some(taken) = self.batches.push(work, frame) {
            self.carry_out(work, taken);
        }
    }

    fn carry_out(&self, work: Work, mut taken: Taken) {
        if self.sorted {
            taken.sort_by(|frame| self.stripes.layout.stripe(frame));
        }
        let mut held = Held::none(&self.stripes);
        for frame in taken.frames().iter().copied() {
            match work {
                // SAFETY: whoever put it into a batch of this kind had the right to link it, and gave it
                // to the batch.
                Work::Add => unsafe { self.link(&mut held, frame, Place::Newest, |state| state) },
                Work::Activate => {
                    self.move_listed(&mut held, frame, Place::Newest, State::activated);
                }
                Work::Deactivate => {
                    self.move_listed(&mut held, frame, Place::Newest, State::deactivated);
                }
                Work::Rotate => {
                    self.move_listed(&mut held, frame, Place::Oldest, State::deactivated);
                }
            }
        }
    }

    /// Takes at most so many frames off the tail of a stripe's list, oldest first.
    pub(crate) fn take_oldest(&self, stripe: u32, list: List, most: usize, taken: &mut Cluster) {
        let chain = self.stripes.chain(stripe, list);
        if chain.len() == 0 {
            return;
        }
        let mut held = Held::none(&self.stripes);
        held.include(self.stripes.lock_of(stripe, list));
        // SAFETY: the list's lock is held in all of this.
        let mut next = unsafe { chain.oldest() };
        while let Some(frame) = next.filter(|_| taken.len() < most) {
            // SAFETY: it is linked into this list: nobody unlinks it without the lock.
            next = unsafe { chain.after(&self.frames, frame) };
            // Another thread may have the right to unlink it, and wait for the lock.
            if self.claim(frame).is_some() {
                // SAFETY: the right to unlink it was just taken.
                unsafe { chain.unlink(&self.frames, frame) };
                taken.push(frame);
            }
        }
    }

    /// The number of frames of all stripes on a list.
    pub(crate) fn total(&self, list: List) -> u32 {
        (0..self.stripes.layout.factor).map(|stripe| self.stripes.chain(stripe, list).len()).sum()
    }

    /// The stripe whose turn it is.
    pub(crate) fn next(&self, turn: Turn) -> u32 {
        self.turns[turn as usize].fetch_add(1, Ordering::Relaxed) % self.stripes.layout.factor
    }

    pub(crate) fn stripes(&self) -> &Stripes<P, L> {
        &self.stripes
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
    fn change_unlisted(&self, frame: FrameId, change: impl Fn(State) -> State) -> bool {
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

    pub(crate) fn activate_isolated(&self, frame: FrameId) {
        self.change_unlisted(frame, State::activated);
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>> fmt::Debug for Striped<P, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Striped").field("layout", &self.layout()).finish_non_exhaustive()
    }
}

/// For what stripes come in turn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn {
    Reclaim,
    Deactivation,
}

/// Where a frame is linked in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    Newest,
    Oldest,
}

// SAFETY: `isolate_frame` clears the bit by which a frame is known to be on a list, and reports whether
// this call did. The bit is set only by whoever took the frame off or added it.
unsafe impl<P: Platform, L: RawLock<P, Thread = ()>> PageLists<P> for Striped<P, L> {
    fn frames(&self) -> u32 {
        self.frames.len()
    }

    fn add(&self, frame: FrameId, class: Class) -> Result<(), AlreadyAdded> {
        let (out, new) = (State::OUT.0, State::new(class).0);
        // Acquire: the links may have been used by whoever removed it.
        self.word(frame)
            .compare_exchange(out, new, Ordering::Acquire, Ordering::Relaxed)
            .map_err(|_| AlreadyAdded(frame))?;
        self.later(Work::Add, frame);
        Ok(())
    }

    fn touch(&self, frame: FrameId) {
        let mut state = self.state(frame);
        loop {
            if !state.has(State::MEMBER) || state.has(State::UNEVICTABLE) {
                return;
            }
            let used_before = state.has(State::REFERENCED);
            if used_before && state.has(State::ACTIVE) {
                return;
            }
            // The second use promotes it: at once, if it is on no list yet.
            let promoted = used_before && !state.has(State::LISTED);
            let new = match (used_before, promoted) {
                (false, _) => state.with(State::REFERENCED),
                (true, true) => state.activated(),
                (true, false) => state.without(State::REFERENCED),
            };
            let word = self.word(frame);
            match word.compare_exchange(state.0, new.0, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) if used_before && !promoted => return self.later(Work::Activate, frame),
                Ok(_) => return,
                Err(now) => state = State(now),
            }
        }
    }

    fn deactivate(&self, frame: FrameId) {
        if self.state(frame).has(State::LISTED | State::ACTIVE) {
            self.later(Work::Deactivate, frame);
        } else {
            self.change_unlisted(frame, State::deactivated);
        }
    }

    fn rotate(&self, frame: FrameId) {
        if self.state(frame).has(State::LISTED) {
            self.later(Work::Rotate, frame);
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
            self.move_listed(&mut held, frame, Place::Newest, change);
        }
    }

    fn reclaim(&self, class: Class, target: u32, judge: &mut dyn FnMut(FrameId) -> Fate) -> u32 {
        self.reclaim_from(class, target, judge)
    }

    fn drain(&self) {
        for work in Work::ALL {
            for taken in self.batches.take(work) {
                self.carry_out(work, taken);
            }
        }
    }

    fn len(&self, list: List) -> u32 {
        self.total(list)
    }

    fn isolate_frame(&self, frame: FrameId) -> bool {
        let Some(before) = self.claim(frame) else { return false };
        let stripe = self.stripes.layout.stripe(frame);
        let mut held = Held::none(&self.stripes);
        held.include(self.stripes.lock_of(stripe, before.list()));
        // SAFETY: the list's lock is held, and the right to unlink the frame was just taken.
        unsafe { self.stripes.chain(stripe, before.list()).unlink(&self.frames, frame) };
        true
    }

    unsafe fn put_back_frame(&self, frame: FrameId) {
        self.later(Work::Add, frame);
    }

    unsafe fn remove_frame(&self, frame: FrameId) {
        // SAFETY: by the caller's promise.
        unsafe { self.remove(frame) };
    }
}
