//! Which memory of a program gains by lying elsewhere, on a machine with several memory nodes.
//!
//! # The idea
//! * **The program need not be changed.** What it refers to comes as a stream (`kilocore-references`),
//!   while it runs or from a file.
//! * **The same references meet several memories** (`kilocore-placement`): pages that stay where they are
//!   used first, lie with each node in turn, migrate as under Linux, or have copies.
//! * **Each row pays for its own pages**: files, stacks, the heap, and what each place of the program has
//!   allocated, if the stream says who did ([`Site`]).
//! * **A mapping's verdict** is the simplest remedy that gains nearly as much as the best: [`Verdict`].
//!
//! [`Adviser`] is the whole.
//!
//! # What it cannot tell
//! There are no caches: a reference that a cache would have served counts as one to memory. Gains are upper
//! ends for that reason, and only what is small enough for a core's caches is left out of the advice
//! ([`Thresholds::cached_bytes`]). A memory serves any number of references at a time, so that a node whose memory
//! is short of bandwidth is not seen as one; [`Advice::loads`] says how evenly they are spread.

mod adviser;
mod allocators;
mod blocks;
mod code;
mod frame;
mod kind;
mod ledger;
mod outcome;
mod page_use;
mod regions;
mod rows;
mod sites;
mod sums;
mod verdict;

pub use adviser::Adviser;
pub use frame::Frame;
pub use kind::{Bytes, Kind};
pub use outcome::{Advice, MappingAdvice};
pub use sites::Site;
pub use sums::{Placement, PlacementCosts};
pub use verdict::{Gain, Reason, Remedy, Thresholds, Verdict};
