//! Lists that work in batches, in whatever order they keep their pages.
//!
//! # The idea
//! Everything here holds for all orders: who may link and unlink a frame, which lock that takes, what
//! waits in batches, and what is remembered of pages that left. An [`Order`] decides the rest: to which
//! list a page belongs, and what a use does to it. What reclaim gives up follows in `reclaiming.rs`.

use core::fmt;

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::batch::{Batches, Taken, Work};
use crate::folio::{Folio, FolioOrder};
use crate::frame::{Class, FrameId, List, PageHash};
use crate::ghosts::Ghosts;
use crate::held::Held;
use crate::list::{Frames, Insertion};
use crate::options::{Options, OptionsError};
use crate::order::Order;
use crate::page_lists::AlreadyAdded;
use crate::stamp::{Clock, Stamp};
use crate::state::State;
use crate::stripes::Stripes;

/// Lists with locks `L` and an order `O`.
pub struct Ordered<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> {
    pub(crate) frames: Frames<P>,
    pub(crate) stripes: Stripes<P, L>,
    pub(crate) batches: Batches<P>,
    sorted: bool,
    clock: Clock<P>,
    ghosts: Option<Ghosts<P>>,
    pub(crate) order: O,
}

/// What lists keep besides their frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keeps {
    /// The stamp of each list's tail.
    pub(crate) tails: bool,
    /// Ghosts of pages that left.
    pub(crate) ghosts: bool,
}

impl<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> Ordered<P, L, O> {
    /// Returns empty lists. The options have been checked.
    ///
    /// # Errors
    /// If there is not so much memory.
    pub(crate) fn empty(
        frames: u32,
        cores: u32,
        options: Options,
        keeps: Keeps,
        order: O,
    ) -> Result<Self, OptionsError> {
        let ghosts = if keeps.ghosts { Some(Ghosts::new(frames)?) } else { None };
        Ok(Self {
            frames: Frames::new(frames)?,
            stripes: Stripes::new(options.layout, keeps.tails)?,
            batches: Batches::new(cores, options.batch)?,
            sorted: options.sorted,
            clock: Clock::new(),
            ghosts,
            order,
        })
    }

    /// Lets work on folios of up to `largest` wait in batches, as on single pages. Without this they end the
    /// batch that they come to. As many folios then wait on each core as a batch has, whatever their size.
    #[must_use]
    pub fn letting_wait(mut self, largest: FolioOrder) -> Self {
        self.batches.largest = largest;
        self
    }

    /// A stamp for frames that are about to be linked in together. Where nobody compares tails, there is
    /// no need to share a clock.
    pub(crate) fn stamp(&self) -> Stamp {
        if self.stripes.has_tails() { self.clock.tick() } else { Stamp::FIRST }
    }

    /// Puts a folio into a batch of this core, and does the batch's work if it is full or the folio
    /// is not to wait.
    pub(crate) fn later(&self, work: Work, folio: Folio) {
        if let Some(taken) = self.batches.push(work, folio) {
            self.carry_out(work, taken);
        }
    }

    pub(crate) fn carry_out(&self, work: Work, mut taken: Taken) {
        if taken.frames().is_empty() {
            return;
        }
        if self.sorted {
            taken.sort_by(|frame| self.stripes.layout.stripe(frame));
        }
        let stamp = self.stamp();
        let newest = Insertion::Newest(stamp);
        let deactivated = |state: State| self.order.deactivated(state);
        let mut held = Held::none(&self.stripes);
        for frame in taken.frames().iter().copied() {
            match work {
                // SAFETY: whoever put it into a batch of this kind had the right to link it, and gave it
                // to the batch.
                Work::Add => unsafe { self.link(&mut held, frame, newest, |state| state) },
                Work::Activate => self.move_listed(&mut held, frame, newest, State::activated),
                Work::Deactivate => self.move_listed(&mut held, frame, newest, deactivated),
                Work::Rotate => {
                    let oldest = Insertion::Oldest(stamp.long_before());
                    self.move_listed(&mut held, frame, oldest, deactivated);
                }
            }
        }
    }

    pub(crate) fn add_named(
        &self,
        folio: Folio,
        class: Class,
        page: Option<PageHash>,
    ) -> Result<(), AlreadyAdded> {
        let Folio { head: frame, order } = folio;
        let (out, new) = (State::OUT.0, State::new(class).of_folio(order).0);
        // Acquire: the links may have been used by whoever removed it.
        self.word(frame)
            .compare_exchange(out, new, Ordering::Acquire, Ordering::Relaxed)
            .map_err(|_| AlreadyAdded(frame))?;
        let ghost = self.ghosts.as_ref().and_then(|ghosts| ghosts.arrive(frame, page));
        let active = || self.count(List::active(class));
        let fresh = self.order.fresh(class, ghost, active);
        if fresh != State::new(class) {
            // Others may have touched it meanwhile. Nobody else has a reason to change the rest.
            self.change_unlisted(frame, |state| State(state.0 | fresh.0));
        }
        self.later(Work::Add, folio);
        Ok(())
    }

    /// The number of frames of all stripes on a list.
    pub(crate) fn count(&self, list: List) -> u32 {
        let parts = self.order.parts(list).into_iter().flatten();
        parts.map(|part| self.stripes.total(part)).sum()
    }

    /// Ends the membership of a folio that is given up for want of memory.
    ///
    /// # Safety
    /// The caller has taken it off its list, and puts it back into none.
    pub(crate) unsafe fn give_up(&self, folio: Folio) {
        if let Some(ghosts) = &self.ghosts
            && let Some(note) = self.order.note(self.state(folio.head))
        {
            ghosts.leave(folio, note);
        }
        // SAFETY: by the caller's promise.
        unsafe { self.remove(folio.head) };
    }

    pub(crate) fn activate_isolated(&self, frame: FrameId) {
        self.change_unlisted(frame, State::activated);
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> fmt::Debug for Ordered<P, L, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ordered").field("layout", &self.stripes.layout).finish_non_exhaustive()
    }
}
