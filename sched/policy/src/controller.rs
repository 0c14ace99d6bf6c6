//! What decides how many cores a group of tasks gets.

use crate::policy::GroupState;
use crate::score::{Progress, Score};
use crate::share::Share;

/// What a group did in a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation {
    /// How many cores its tasks can use at all: no more than there are tasks.
    pub(crate) most: u32,
    /// How much they got done, and by what that is known.
    pub(crate) score: Score,
    pub(crate) by: Progress,
    /// The share of their time that they waited for locks.
    pub(crate) waiting: Share,
    /// On how many cores they spun for locks on average, in millionths of a core.
    pub(crate) spinning: u64,
    /// How many tasks there are.
    pub(crate) tasks: u32,
    /// On how many cores they ran and did not spin on average, in millionths of a core.
    pub(crate) useful: u64,
    /// Whether they could have used more cores.
    pub(crate) starved: bool,
}

/// Decides how many cores a group gets, from one window to the next.
pub(crate) trait Controller: core::fmt::Debug {
    /// The constants by which it decides.
    type Options: Copy + core::fmt::Debug;

    /// One for a new group.
    fn new(options: Self::Options) -> Self;

    /// By what it wants to know how much is done, if it goes by that.
    fn progress(&self) -> Option<Progress>;

    /// A window is over. Returns on how many cores the group runs from now on, at least one and at most
    /// [`most`](Observation::most), or `None` if it may use all.
    fn observe(&mut self, seen: &Observation) -> Option<u32>;

    /// What it does with the group at present, for its status.
    fn state(&self) -> GroupState;

    /// The best number of cores that it knows.
    fn best(&self) -> u32;
}
