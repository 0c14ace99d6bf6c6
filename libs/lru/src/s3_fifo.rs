//! S3-FIFO: three queues, first in, first out.
//!
//! # The idea
//! * **A small queue** takes what comes. Most pages are used once and leave by it soon.
//! * **The main queue** takes those that were used again by then, and those that come back.
//! * **The ghost queue** remembers pages that left by the small queue.
//! * **A use only counts**, in two bits of the frame's word. It takes no lock and moves nothing.
//!
//! The source is J. Yang and others, 'FIFO queues are all you need for cache eviction', SOSP 2023.
//!
//! # Where it departs from the source
//! * Both queues are linked lists under one lock, and not rings: a frame can then be taken out of the
//!   middle. Each class of pages has its own two. Additions wait in batches, as for the other lists here.
//! * The ghost queue is a table of hashes (`ghosts.rs`), as the paper suggests. It holds a page for as long
//!   as fewer pages left by the small queue than there are frames for the main one.
//! * The use for which a page came to memory counts as one. So a page is used again with a count of
//!   two. The paper asks for more than one use after the first in its algorithm 1, but for any use in
//!   its text.
//! * A page that cannot be given up goes back to the head of its queue.

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::cluster::{CLUSTER, Cluster};
use crate::frame::{Class, FrameId, List};
use crate::ghosts::Ghost;
use crate::options::{Options, OptionsError};
use crate::order::{Order, Parts, Touched};
use crate::ordered::{Keeps, Ordered};
use crate::page_lists::Fate;
use crate::reclaiming::Reclaiming;
use crate::state::{MOST_USES, State};
use crate::stripes::{Layout, ListIndex};

/// Pages in the queues of S3-FIFO. The small queue of a class is its inactive list, and the main queue is
/// its active one.
///
/// What a thread wrote before it removed a frame is seen by whoever adds it next. There is no other
/// promise about memory.
pub type S3Fifo<P, L> = Ordered<P, L, SmallAndMain>;

/// The order of [`S3Fifo`].
#[derive(Debug, Clone, Copy)]
pub struct SmallAndMain {
    small_percent: u32,
    ghosts: u32,
}

/// How the queues of S3-FIFO are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct S3FifoOptions {
    /// The small queue's share of the frames, from 0 to 100. The paper has 10.
    pub small_percent: u32,
    /// How many frames wait in a batch before they enter a queue: from 1 to
    /// [`LARGEST_BATCH`](crate::LARGEST_BATCH).
    pub batch: u32,
}

impl S3FifoOptions {
    /// Those of the paper, with the batch of Linux.
    pub const PAPER: S3FifoOptions = S3FifoOptions { small_percent: 10, batch: 15 };
}

/// A page goes from the small queue to the main one if it was used so often: when it came, and again.
const USES_TO_STAY: u32 = 2;

impl<P: Platform, L: RawLock<P, Thread = ()>> S3Fifo<P, L> {
    /// Returns empty queues for so many frames, on a machine of so many cores.
    ///
    /// # Errors
    /// If the options are out of their ranges, or there is not so much memory.
    pub fn new(frames: u32, cores: u32, options: S3FifoOptions) -> Result<Self, OptionsError> {
        let S3FifoOptions { small_percent, batch } = options;
        if small_percent > 100 {
            return Err(OptionsError::Percent(small_percent));
        }
        let options = Options { layout: Layout::STOCK, batch, sorted: false };
        options.check(cores)?;
        let ghosts = frames - percent(frames, small_percent);
        let keeps = Keeps { tails: false, ghosts: true };
        let order = SmallAndMain { small_percent, ghosts };
        Self::empty(frames, cores, options, keeps, order)
    }
}

fn percent(of: u32, percent: u32) -> u32 {
    (u64::from(of) * u64::from(percent) / 100) as u32
}

impl<P: Platform> Order<P> for SmallAndMain {
    fn list(state: State) -> ListIndex {
        ListIndex::of(state.list())
    }

    fn parts(&self, list: List) -> Parts {
        [Some(ListIndex::of(list)), None]
    }

    fn fresh(&self, class: Class, ghost: Option<Ghost>, _: impl FnOnce() -> u32) -> State {
        let state = State::new(class);
        let comes_back = ghost.is_some_and(|ghost| ghost.distance.0 <= self.ghosts);
        if comes_back { state.with(State::ACTIVE) } else { state }
    }

    fn touched(&self, state: State) -> Touched {
        Touched::counted(state)
    }

    fn deactivated(&self, state: State) -> State {
        state.deactivated().with_uses(0)
    }

    fn note(&self, state: State) -> Option<u32> {
        // What leaves by the main queue had its chance.
        (!state.has(State::ACTIVE)).then_some(0)
    }
}

impl<P: Platform> Reclaiming<P> for SmallAndMain {
    fn reclaim<L>(
        lists: &Ordered<P, L, Self>,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32
    where
        L: RawLock<P, Thread = ()>,
    {
        lists.reclaim_from_queues(class, target, judge)
    }
}

/// One of the two queues of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Queue {
    Small,
    Main,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> S3Fifo<P, L> {
    fn reclaim_from_queues(
        &self,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32 {
        let mut unseen = self.queue_len(class, Queue::Small) + self.queue_len(class, Queue::Main);
        // Enough to bring all counts to zero. Others may go on counting, and this has to end.
        let mut spares = unseen.saturating_mul(MOST_USES + 1);
        let (mut reclaimed, mut kept) = (0, 0);
        while reclaimed < target && unseen > 0 {
            let most = (target - reclaimed).min(unseen).min(CLUSTER as u32);
            let queue = self.queue_to_take_from(class, kept);
            let mut taken = Cluster::EMPTY;
            self.take_oldest(0, list_of(class, queue), most, None, &mut taken);
            if taken.is_empty() {
                // Others have just taken all of them.
                break;
            }
            let leaving = self.spare_used(queue, taken, &mut spares);
            let seen = leaving.frames();
            // The last folio may have more frames than were asked for.
            unseen = unseen.saturating_sub(seen);
            let gained = self.judge(leaving, judge);
            reclaimed += gained;
            kept = if gained > 0 { 0 } else { kept + seen };
        }
        reclaimed
    }

    fn queue_len(&self, class: Class, queue: Queue) -> u32 {
        self.stripes.total(list_of(class, queue))
    }

    /// The small queue while it has its share, and else the main one. If so many pages were kept one
    /// after the other as the small queue has, none of those can go, and it is the main one, too.
    fn queue_to_take_from(&self, class: Class, kept: u32) -> Queue {
        let (small, main) =
            (self.queue_len(class, Queue::Small), self.queue_len(class, Queue::Main));
        let share = percent(small + main, self.order.small_percent).max(1);
        let small_has_enough = small >= share && kept < small;
        if main == 0 || small > 0 && small_has_enough { Queue::Small } else { Queue::Main }
    }

    /// Puts those back, at the head of the main queue, that were used often enough. Returns the others.
    fn spare_used(&self, queue: Queue, mut taken: Cluster, spares: &mut u32) -> Cluster {
        let enough = if queue == Queue::Small { USES_TO_STAY } else { 1 };
        let (mut used, mut others) = (Cluster::EMPTY, Cluster::EMPTY);
        while let Some(folio) = taken.pop() {
            let stays = *spares > 0 && self.state(folio.head).uses() >= enough;
            *spares -= u32::from(stays);
            if stays { &mut used } else { &mut others }.push(folio);
        }
        let moved = |state: State| match queue {
            Queue::Small => state.activated().with_uses(0),
            Queue::Main => state.with_uses(state.uses().saturating_sub(1)),
        };
        // SAFETY: this thread has taken them off their queue.
        unsafe { self.link_all(used, moved) };
        others
    }
}

fn list_of(class: Class, queue: Queue) -> ListIndex {
    ListIndex::of(match queue {
        Queue::Small => List::inactive(class),
        Queue::Main => List::active(class),
    })
}
