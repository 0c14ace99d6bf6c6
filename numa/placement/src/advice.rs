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
//!
//! # Decisions
//! * **An observer learns what each burst has cost** in each memory (`kilocore-placement`:
//!   `observer.rs`). It is a type parameter, and nobody is an observer, too. So costs are
//!   attributed to mappings, and a simulation that wants no such thing is compiled without it.
//! * **Mappings and places of allocation, because people can act on them.** A policy is a column
//!   that only a system could choose. An array or a file is something that somebody may fill from
//!   another thread, or make copies of. A heap is not; so its blocks are told apart by who
//!   allocates them.
//! * **Where a page should have been is computed** from the counts of each node's references, and
//!   not simulated: no policy knows the whole run, but whoever reads the report does.
//! * **The simplest remedy counts first.** Copies gain as much as a move where only one node uses a
//!   page, but a move needs no care later.
//! * **Queues at memories are left out.** The threads of a stream have clocks of their own, and the
//!   slow ones would seem to queue with references that others made long before.
//! * **What is small is left alone**, since there are no caches in the simulation. A threshold is
//!   cruder than a cache would be, but a cache needs the lines within a page, which a stream does
//!   not have.
//! * **Rows are bounded** (`rows.rs`): mappings of about the same size have 32 rows and a common
//!   one.
//! * **Addresses become names in the end of the chain** (`numa-advice`: `code.rs`, `sites.rs`). A
//!   stream and a trace have return addresses and mapped files, so recording needs no symbols. A
//!   place is told from others by up to four functions. More would divide places by who calls whom
//!   far outside.
//! * **A page belongs to the block that has its middle.** References within a page are not known.
//!   This rule gives each page to one block, and each block of a page's size has one.
//! * **Pages are looked up again only after something changed.** A page remembers its row and the
//!   state of the ledger for which that holds. When a page passes to another block, what its best
//!   home would have saved is entered for the old one, and it stays where it lies.

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
mod results;
mod rows;
mod sites;
mod study;
mod sums;
mod verdict;

pub use adviser::Adviser;
pub use frame::Frame;
pub use kind::{Bytes, MemoryKind};
pub use outcome::{Advice, MappingAdvice};
pub use results::Results;
pub use sites::Site;
pub use sums::{Placement, PlacementCosts};
pub use verdict::{Gain, Reason, Remedy, Thresholds, Verdict};
