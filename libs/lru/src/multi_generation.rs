//! A multi-generation LRU, in the manner of Linux 6.12.
//!
//! # The idea
//! * **Generations.** A class has three lists, numbered from the oldest to the youngest. Reclaim takes from
//!   the oldest. If that is empty, the next one is the oldest, and a new youngest one is opened.
//! * **Tiers.** A use through a file descriptor only counts, in the frame's word. The count says in which
//!   tier of its generation a page is: 0 for one use, 1 for two, and 2 for more.
//! * **Feedback.** Reclaim counts which tiers' pages come back. A tier whose pages come back more often than
//!   those of tier 0 is protected: its pages go to the next generation and not away.
//! * **One lock** is over all of it.
//!
//! The source is the description in the documentation of Linux 6.12 ('Multi-Gen LRU', in its part on
//! memory management), and its public interface. No code is from there.
//!
//! # Where it departs from Linux
//! * A page that reclaim was told to keep goes to the next generation.
//! * There are no page tables here. So all uses are those of the file kind, and no walk makes pages young
//!   again. What the caller of reclaim activates goes to the youngest generation.
//! * Linux has from two to four generations, and opens one when the young ones are too few or too small.
//!   Here one is opened when the oldest is empty, and there are always three.
//! * The rates of return are compared directly, with half the old counts kept when a generation ends.
//!   Linux has a controller with a moving average.
//! * A page comes back *soon* if no more pages left after it than there are frames. Linux asks whether its
//!   generation was one of the last four. Such a page starts in the second oldest generation.

use core::array;
use core::fmt;

use kilocore_locks::RawLock;
use kilocore_platform::{Atomic, Ordering, Padded, Platform};

use crate::cluster::{CLUSTER, Cluster};
use crate::frame::{Class, FrameId, List};
use crate::generation::{GENERATION_LISTS, GENERATIONS, Sequence};
use crate::ghosts::Ghost;
use crate::held::Held;
use crate::options::{Options, OptionsError};
use crate::order::{Order, Parts, Touched};
use crate::ordered::{Keeps, Ordered};
use crate::page_lists::Fate;
use crate::reclaiming::Reclaiming;
use crate::state::State;
use crate::stripes::{Layout, ListIndex};
use crate::tiers::{Tier, Tiers};

/// Pages in generations. The inactive list of a class is its oldest generation, and the other two are the
/// active list.
///
/// What a thread wrote before it removed a frame is seen by whoever adds it next. There is no other
/// promise about memory.
pub type MultiGeneration<P, L> = Ordered<P, L, Generations<P>>;

/// The number of the unevictable list. Those of the generations come before it.
const UNEVICTABLE: ListIndex = ListIndex(2 * GENERATION_LISTS as u8);

/// The order of [`MultiGeneration`].
pub struct Generations<P: Platform> {
    /// The number of each class's oldest generation. Changed under the lock, read by anybody.
    oldest: Padded<[P::U32; 2]>,
    tiers: Padded<[Tiers<P>; 2]>,
    frames: u32,
}

impl<P: Platform> Generations<P> {
    fn oldest(&self, class: Class) -> Sequence {
        Sequence(self.oldest[class as usize].load(Ordering::Relaxed))
    }

    fn tiers(&self, class: Class) -> &Tiers<P> {
        &self.tiers[class as usize]
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>> MultiGeneration<P, L> {
    /// Returns empty generations for so many frames, on a machine of so many cores, with batches of so many
    /// frames: from 1 to [`LARGEST_BATCH`](crate::LARGEST_BATCH).
    ///
    /// # Errors
    /// If the options are out of their ranges, or there is not so much memory.
    pub fn new(frames: u32, cores: u32, batch: u32) -> Result<Self, OptionsError> {
        let options = Options { layout: Layout::STOCK, batch, sorted: false };
        options.check(cores)?;
        let order = Generations {
            oldest: Padded(array::from_fn(|_| P::U32::new(0))),
            tiers: Padded(array::from_fn(|_| Tiers::new())),
            frames,
        };
        Self::empty(frames, cores, options, Keeps { tails: false, ghosts: true }, order)
    }
}

/// The list of a class's generation.
fn list_of(class: Class, sequence: Sequence) -> ListIndex {
    ListIndex((class as u32 * GENERATION_LISTS + sequence.generation().0) as u8)
}

// A state on no list yet says where it belongs by two bits, which `placed` turns into a generation:
// `ACTIVE` for the youngest, and `REFERENCED` for the second oldest.
impl<P: Platform> Order<P> for Generations<P> {
    fn list(state: State) -> ListIndex {
        if state.has(State::UNEVICTABLE) {
            return UNEVICTABLE;
        }
        ListIndex((state.class() as u32 * GENERATION_LISTS + state.generation().0) as u8)
    }

    fn parts(&self, list: List) -> Parts {
        let (class, active) = match list {
            List::InactiveAnonymous => (Class::Anonymous, false),
            List::ActiveAnonymous => (Class::Anonymous, true),
            List::InactiveFile => (Class::File, false),
            List::ActiveFile => (Class::File, true),
            List::Unevictable => return [Some(UNEVICTABLE), None],
        };
        let oldest = self.oldest(class);
        let nth = |n: u32| Some(list_of(class, oldest.after(n)));
        if active { [nth(1), nth(2)] } else { [nth(0), None] }
    }

    fn fresh(&self, class: Class, ghost: Option<Ghost>, _: impl FnOnce() -> u32) -> State {
        let state = State::new(class);
        let Some(ghost) = ghost.filter(|ghost| ghost.distance.0 <= self.frames) else {
            return state;
        };
        self.tiers(class).came_back(Tier(ghost.note));
        state.with(State::REFERENCED)
    }

    fn placed(&self, state: State) -> State {
        if state.has(State::UNEVICTABLE) {
            return state;
        }
        let younger = if state.has(State::ACTIVE) {
            GENERATIONS - 1
        } else {
            u32::from(state.has(State::REFERENCED))
        };
        let sequence = self.oldest(state.class()).after(younger);
        state.without(State::ACTIVE | State::REFERENCED).with_generation(sequence.generation())
    }

    fn kept(&self, state: State) -> State {
        // To the next generation: reclaim would find it again before all others otherwise.
        state.with(State::REFERENCED)
    }

    fn touched(&self, state: State) -> Touched {
        Touched::counted(state)
    }

    fn deactivated(&self, state: State) -> State {
        self.placed(state.deactivated().with_uses(0))
    }

    fn note(&self, state: State) -> Option<u32> {
        let tier = Tier::of(state);
        self.tiers(state.class()).left(tier);
        Some(tier.0)
    }
}

impl<P: Platform> Reclaiming<P> for Generations<P> {
    fn reclaim<L>(
        lists: &Ordered<P, L, Self>,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32
    where
        L: RawLock<P, Thread = ()>,
    {
        lists.reclaim_from_generations(class, target, judge)
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>> MultiGeneration<P, L> {
    fn reclaim_from_generations(
        &self,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32 {
        let all = (0..GENERATION_LISTS).map(|n| self.stripes.total(list_of(class, Sequence(n))));
        let mut unseen: u32 = all.sum();
        // Each page may be protected once. Then it has no uses any more, unless others go on using it.
        let mut spares = unseen;
        let (mut reclaimed, mut empty) = (0, 0);
        // All generations empty: others have just taken the pages.
        while reclaimed < target && unseen > 0 && empty < GENERATIONS {
            let most = (target - reclaimed).min(unseen).min(CLUSTER as u32);
            let oldest = self.order.oldest(class);
            let mut taken = Cluster::EMPTY;
            self.take_oldest(0, list_of(class, oldest), most, None, &mut taken);
            if taken.is_empty() {
                empty += 1;
                self.end_oldest(class, oldest);
                continue;
            }
            empty = 0;
            let leaving = self.protect_tiers(class, taken, &mut spares);
            // The last folio may have more frames than were asked for.
            unseen = unseen.saturating_sub(leaving.frames());
            reclaimed += self.judge(leaving, judge);
        }
        reclaimed
    }

    /// Moves pages of protected tiers to the next generation. Returns the others.
    fn protect_tiers(&self, class: Class, mut taken: Cluster, spares: &mut u32) -> Cluster {
        let tiers = self.order.tiers(class);
        let protected = tiers.first_protected();
        let (mut spared, mut others) = (Cluster::EMPTY, Cluster::EMPTY);
        while let Some(folio) = taken.pop() {
            let tier = Tier::of(self.state(folio.head));
            let stays = *spares > 0 && protected.is_some_and(|first| tier >= first);
            *spares -= u32::from(stays);
            if stays {
                tiers.stayed(tier);
            }
            if stays { &mut spared } else { &mut others }.push(folio);
        }
        // SAFETY: this thread has taken them off their list.
        unsafe { self.link_all(spared, |state| state.with(State::REFERENCED).with_uses(0)) };
        others
    }

    /// Makes the next generation the oldest one, if `oldest` is still that and is empty.
    fn end_oldest(&self, class: Class, oldest: Sequence) {
        let mut held = Held::none(&self.stripes);
        held.include(self.stripes.lock_of(0, UNEVICTABLE));
        let chain = self.stripes.chain(0, list_of(class, oldest));
        if self.order.oldest(class) == oldest && chain.len() == 0 {
            let word = &self.order.oldest[class as usize];
            word.store(oldest.after(1).0, Ordering::Relaxed);
            self.order.tiers(class).age();
        }
    }
}

impl<P: Platform> fmt::Debug for Generations<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generations").field("frames", &self.frames).finish_non_exhaustive()
    }
}
