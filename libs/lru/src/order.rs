//! What differs between lists that keep their pages in different orders.
//!
//! # How to add an order of pages
//! A rival of the striped lists is a file beside this one that implements `Order` and `Reclaiming`
//! (`order.rs`, `reclaiming.rs`); take `s3_fifo.rs` as the pattern. Linking, batches and what is remembered
//! of pages are there already. Three lines make it known:
//!
//! * One line `suite!` in `tests/loom/rivals.rs` puts it through the model checks of all orders. A
//!   test in `tests/shuttle.rs` does the same with three threads.
//! * One line in `tests/rivals.rs` tests that it loses no page. A model of plain vectors belongs
//!   there, too, if the order is exact enough for one.
//! * One line in `evidence/comparisons/src/hit_ratios/contender.rs` measures it. `make hit-ratios` writes the tables of
//!   `docs/evidence/lru-hit-ratios.md`; the text around them is written by hand.

use kilocore_platform::Platform;

use crate::batch::Work;
use crate::frame::{Class, List};
use crate::ghosts::Ghost;
use crate::state::State;
use crate::stripes::ListIndex;

/// What a use does to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touched {
    /// Nothing: there is nothing more to note.
    Nothing,
    /// Its state changes. That is all: no lock and no list.
    Noted(State),
    /// Its state changes, and work on lists is due.
    Moves(State, Work),
}

impl Touched {
    /// A use that only counts, in the frame's word.
    pub(crate) fn counted(state: State) -> Self {
        let more = state.with_uses(state.uses() + 1);
        if more == state { Touched::Nothing } else { Touched::Noted(more) }
    }
}

/// The lists of a stripe that a list of the page cache is made of, oldest first.
pub(crate) type Parts = [Option<ListIndex>; 2];

/// An order in which pages are given up. Whatever it decides, the frame stays on one list or on none:
/// `Ordered` sees to that. What reclaim gives up is decided in `Reclaiming`.
pub trait Order<P: Platform>: Sized + Send + Sync + 'static {
    /// Returns the list to which a page in this state belongs.
    fn list(state: State) -> ListIndex;

    /// Returns the lists that count as one of the page cache's.
    fn parts(&self, list: List) -> Parts;

    /// Returns the state of a page that comes to memory, and perhaps comes back. `active` counts the active
    /// pages of its class, for which it may have to look at each stripe.
    fn fresh(&self, class: Class, ghost: Option<Ghost>, active: impl FnOnce() -> u32) -> State;

    /// Returns the state in which a page is linked into a list, when it is about to be.
    fn placed(&self, state: State) -> State {
        state
    }

    /// Returns the state of a page that reclaim was told to keep.
    fn kept(&self, state: State) -> State {
        state
    }

    /// Returns what a use does to a page that can be reclaimed. May be called again if somebody else
    /// changes the state meanwhile.
    fn touched(&self, state: State) -> Touched;

    /// Returns the state of the same page as one that was not used again lately.
    fn deactivated(&self, state: State) -> State;

    /// Returns what is to be remembered of a page that is given up, if it is to be remembered.
    fn note(&self, state: State) -> Option<u32>;
}
