//! LRU lists of pages that many cores can write through.
//!
//! A page cache keeps its pages in lists, by which it knows which of them to do without. Every new page
//! goes into a list, and in Linux one lock protects all lists of a node's memory. Many threads that write
//! files then queue up for that lock.
//!
//! # The idea
//! * [`Striped`] has the five lists of Linux's page cache, cut into stripes. A frame's number says which
//!   stripe is its own, and each stripe has a lock.
//! * Work on lists waits in batches on the core that asked for it. Sixteen neighbours share a stripe, so
//!   that a batch of a sequential write takes one lock once.
//! * [`Layout`] says how many stripes there are and what has a lock of its own. It makes this the lists
//!   of Linux ([`Layout::STOCK`]), the first FinerLRU ([`Layout::first_finer`]) or the improved one
//!   ([`Layout::finer`]). [`Index::Hashed`] and [`Options::sorted`] go beyond the paper.
//!   [`Layout::for_machine`] chooses.
//! * [`Policy`] says which pages stripes give up: those of the oldest tail ([`Policy::BALANCED`]), without
//!   forgetting which pages left ([`Policy::RESISTANT`]), or with uses that only count
//!   ([`Policy::LAZY`]).
//! * [`Shares`]: which stripe gives up pages next, for lists that a program keeps itself, as Linux does.
//! * [`FolioOrder`]: frames that belong together go through the lists as one
//!   ([`add_folio`](PageLists::add_folio)).
//! * [`S3Fifo`] and [`MultiGeneration`] are the rivals: other orders behind the same interface,
//!   [`PageLists`]. They share all but the order with the striped lists.
//!
//! The source is E.-K. Byun and others, 'Optimizing LRU Lock Management in the Linux Kernel for Improving
//! Parallel Write Throughput in Many-Core CPU Systems', 2023.
//!
//! # An example
//! ```
//! use kilocore_locks::Mcs;
//! use kilocore_lru::{Class, Fate, FrameId, Layout, Options, PageLists, Striped};
//! use kilocore_platform::Native;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let options = Options { layout: Layout::finer(8), batch: 15, sorted: true };
//! let lists: Striped<Native, Mcs<Native>> = Striped::new(1000, 4, options)?;
//! for frame in 0..1000 {
//!     lists.add(FrameId(frame), Class::File)?; // its page has just been read
//! }
//! // Pages that are used a second time are the last to go.
//! lists.touch(FrameId(7));
//! lists.touch(FrameId(7));
//! lists.drain();
//! // Ten frames are needed. Dirty pages stay where they are.
//! let mut free = Vec::new();
//! let is_dirty = |frame: FrameId| frame.0 % 2 == 0;
//! lists.reclaim(Class::File, 10, &mut |frame| {
//!     if is_dirty(frame) {
//!         return Fate::Keep;
//!     }
//!     free.push(frame);
//!     Fate::Reclaim
//! });
//! assert_eq!(free.len(), 10);
//! assert!(!free.contains(&FrameId(7)));
//! # Ok(())
//! # }
//! ```
//!
//! # What it costs
//! Sixteen bytes for each frame, 128 bytes for each lock, and for each core 128 bytes and 16 for each
//! frame of a batch. To compare tails takes 20 bytes for each stripe, and to remember pages 12 for each
//! frame. All is allocated when the lists are made, and nothing after that.
//!
//! # Where it departs from the paper
//! The lists are FinerLRU's, with what its paper leaves open decided thus:
//!
//! * *One source for the lists of Linux, the first FinerLRU and the improved one.* They differ in
//!   how many locks there are and in what each is over (`stripes.rs`); all else is the same code.
//! * *A bit of the frame's word is the right to unlink it* (`state.rs`), as in Linux. The paper's
//!   first version takes the locks of two lists for a move. Here they are acquired in the order of
//!   their numbers, also where one of them is still held from the frame before (`held.rs`). A plant
//!   that leaves this out ends in a deadlock that loom finds.
//! * *Reclaim takes from the stripe whose tail is the oldest*, or from each in turn (`options.rs`,
//!   `reclaim.rs`). A stamp for each batch is enough to compare tails (`stamp.rs`). `Striped`
//!   states how far that is from the order of one list, and argues for it. The balance of active
//!   and inactive pages is that of all stripes together.
//! * *Pages that come back soon are active at once*, as an option. What is remembered of a page is
//!   a word in a table of fixed size (`ghosts.rs`), which is also the ghost queue of S3-FIFO.
//! * *Rivals share all but the order* (`order.rs`, `ordered.rs`, `linking.rs`): S3-FIFO, a
//!   multi-generation LRU, and striped lists whose uses only count. So they are compared by what
//!   they decide, and their checks are the same. docs/evidence/lru-hit-ratios.md shows what each is
//!   good at.
//! * *A sorted batch* takes each lock once. It is an option, as a sequential write does not need
//!   it. In the simulation it pays with few stripes, and not with 256 (`docs/evidence/lru.md`).
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

mod batch;
mod cluster;
mod folio;
mod frame;
mod generation;
mod ghosts;
mod held;
mod judging;
mod linking;
mod list;
mod multi_generation;
mod options;
mod order;
mod ordered;
mod page_lists;
mod reclaim;
mod reclaiming;
mod s3_fifo;
mod shares;
mod stamp;
mod state;
mod striped;
mod stripes;
mod tables;
mod tiers;
mod turns;
mod validate;

pub use batch::LARGEST_BATCH;
pub use folio::FolioOrder;
pub use frame::{Class, FrameId, List, PageHash};
pub use multi_generation::{Generations, MultiGeneration};
pub use options::{Options, OptionsError, Policy, Promotion, ReclaimFrom};
pub use ordered::Ordered;
pub use page_lists::{AlreadyAdded, Fate, Isolated, PageLists};
pub use s3_fifo::{S3Fifo, S3FifoOptions, SmallAndMain};
pub use shares::{Round, Shares};
pub use striped::{Striped, TwoLists};
pub use stripes::{Index, LARGEST_FACTOR, Layout, Locking};

// The example of the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
