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
//! inactive pages in balance. [`Policy`] says it here, and `reclaim.rs` does it. The balance is that of
//! Linux over all stripes together. Three things are not in the paper:
//!
//! * [`ReclaimFrom::OldestTail`] makes stripes give up pages nearly in the order of one list.
//! * [`Policy::returns`] makes pages active that come back soon, as Linux has done since 3.15. Linux counts
//!   activations as well as evictions to tell how soon that is. Here only evictions count, so that a
//!   use shares no word between cores.
//! * [`Promotion::AtReclaim`] takes all list work away from uses.

use core::array;
use core::fmt;

use kilocore_locks::RawLock;
use kilocore_platform::{Padded, Platform};

use crate::batch::Work;
use crate::frame::{Class, FrameId, List};
use crate::ghosts::Ghost;
use crate::options::{Options, OptionsError, Policy, Promotion, ReclaimFrom};
use crate::order::{Order, Parts, Touched};
use crate::ordered::{Keeps, Ordered};
use crate::page_lists::Fate;
use crate::reclaiming::Reclaiming;
use crate::state::State;
use crate::stripes::{Layout, ListIndex};
use crate::turns::Turns;

/// An active and an inactive list for each class, cut into stripes.
///
/// # How far reclaim is from the order of one list
/// Of the inactive pages of a class, exact LRU order gives up the one that was added first. (A page that
/// moved to the list later counts as added then.) With [`ReclaimFrom::OldestTail`], batches of *B* frames
/// and *C* cores:
///
/// * **One core.** No page is given up while another one stays that was added *B* or more pages before
///   it. All frames of a batch have one stamp. A page with an older stamp than the tails of all other
///   stripes goes first, and of one stripe's pages, the older one goes first. So two pages can only be
///   given up in the wrong order if they were in the same batch. A page that still waits in a batch
///   was added after all that do not.
/// * **Many cores that add equally fast.** The bound is *B* · *C*. While a page waits in its core's
///   batch, its core adds at most *B* − 1 others, and so do the other cores.
/// * **Cores that do not.** A page that waits in the batch of an idle core can stay as long as nobody
///   calls [`drain`](crate::PageLists::drain). It gets its stamp then. Counted from its stamp on, the
///   bound is *B* for each batch whose work is being done at that moment, and so *B* · *C* again.
///
/// A large folio counts as one page in all this: it ends the batch that it comes to, or waits there like
/// a page.
///
/// Neither the factor nor the number of frames in a group is in the bound. So it is the same for 1,000
/// pages in 256 stripes, of which most are empty. Two things are left out. A page that `judge` keeps is
/// as new as one that was just added. And while another thread takes a frame off, reclaim may pass over
/// that stripe, and take up to 32 frames of any other.
///
/// The price is a look at all tails of a list, sixteen of them in a cache line, whenever reclaim acquires
/// a lock. It then takes off what was added together, so about a batch.
///
/// With [`ReclaimFrom::EachInTurn`] there is no such bound: each stripe loses as many pages, however old
/// they are.
///
/// # Orderings
/// What a thread wrote before it removed a frame is seen by whoever adds it next. There is no other
/// promise about memory.
pub type Striped<P, L> = Ordered<P, L, TwoLists<P>>;

/// The order of [`Striped`].
pub struct TwoLists<P: Platform> {
    pub(crate) policy: Policy,
    /// Whose turn it is, by [`Turn`].
    turns: Padded<[Turns<P>; 2]>,
}

impl<P: Platform> fmt::Debug for TwoLists<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TwoLists").field("policy", &self.policy).finish_non_exhaustive()
    }
}

/// For what stripes come in turn.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Turn {
    Reclaim,
    Deactivation,
}

impl<P: Platform> TwoLists<P> {
    /// The stripe whose turn it is, of so many.
    pub(crate) fn next(&self, turn: Turn, factor: u32) -> u32 {
        self.turns[turn as usize].next(factor)
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Striped<P, L> {
    /// Returns empty lists for so many frames, on a machine of so many cores, with [`Policy::PLAIN`].
    ///
    /// # Errors
    /// If the options are out of their ranges, or there is not so much memory.
    pub fn new(frames: u32, cores: u32, options: Options) -> Result<Self, OptionsError> {
        Self::with_policy(frames, cores, options, Policy::PLAIN)
    }

    /// Returns empty lists for so many frames, on a machine of so many cores.
    ///
    /// # Errors
    /// If the options are out of their ranges, or there is not so much memory.
    pub fn with_policy(
        frames: u32,
        cores: u32,
        options: Options,
        policy: Policy,
    ) -> Result<Self, OptionsError> {
        options.check(cores)?;
        let turns = Padded(array::from_fn(|_| Turns::new()));
        let keeps = Keeps { tails: policy.from == ReclaimFrom::OldestTail, ghosts: policy.returns };
        Self::empty(frames, cores, options, keeps, TwoLists { policy, turns })
    }

    /// Returns how the lists are divided.
    #[must_use]
    pub fn layout(&self) -> Layout {
        self.stripes.layout
    }
}

/// A page that was used so often is an active one: when it came, and once again.
pub(crate) const USES_TO_PROMOTE: u32 = 2;

impl<P: Platform> Order<P> for TwoLists<P> {
    fn list(state: State) -> ListIndex {
        ListIndex::of(state.list())
    }

    fn parts(&self, list: List) -> Parts {
        [Some(ListIndex::of(list)), None]
    }

    fn fresh(&self, class: Class, ghost: Option<Ghost>, active: impl FnOnce() -> u32) -> State {
        let state = State::new(class);
        // To count the active pages takes a look at each stripe, but only where a page is known.
        let soon = ghost.is_some_and(|ghost| ghost.distance.0 <= active());
        if soon { state.with(State::ACTIVE) } else { state }
    }

    fn touched(&self, state: State) -> Touched {
        if self.policy.promotion == Promotion::AtReclaim {
            return Touched::counted(state);
        }
        let used_before = state.has(State::REFERENCED);
        if used_before && state.has(State::ACTIVE) {
            return Touched::Nothing;
        }
        // The second use promotes it: at once, if it is on no list yet.
        match (used_before, state.has(State::LISTED)) {
            (false, _) => Touched::Noted(state.with(State::REFERENCED)),
            (true, false) => Touched::Noted(state.activated()),
            (true, true) => Touched::Moves(state.without(State::REFERENCED), Work::Activate),
        }
    }

    fn deactivated(&self, state: State) -> State {
        // One more use is then as good as for a page that has just come.
        let uses = state.uses().min(USES_TO_PROMOTE - 1);
        state.deactivated().with_uses(uses)
    }

    fn note(&self, _: State) -> Option<u32> {
        Some(0)
    }
}

impl<P: Platform> Reclaiming<P> for TwoLists<P> {
    fn reclaim<L>(
        lists: &Ordered<P, L, Self>,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32
    where
        L: RawLock<P, Thread = ()>,
    {
        lists.reclaim_from(class, target, judge)
    }
}
