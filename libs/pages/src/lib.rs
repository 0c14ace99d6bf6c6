//! A page pool that hands out pages which are still in some cache.
//!
//! Whoever gets a page overwrites it first: with zeros, or with what it reads from a disk or a network. That
//! takes several times as long if the page is in memory and not in a cache. So it matters which of the free
//! pages one gets.
//!
//! # The idea
//! * **Private-hot:** the pages that a core released last are in its private cache. It gets them back first,
//!   the newest of them first. Its list is as long as that cache is large.
//! * **Shared-hot:** what a core's list has too much is still in the last-level cache. It goes onto a list
//!   that all cores below that cache use, so that a core which only allocates gets the warm pages of one
//!   which only releases.
//! * **Cold:** all others. Their memory goes back to the operating system when it lies idle.
//!
//! The tiers are those of Yang, Noh and Hong's *Improved Cache-hot Page Allocation Technique for Reducing
//! Page Initialization Latency of Linux Based Systems*. Pages that are known to be zero are not initialized
//! again.
//!
//! # An example
//! ```
//! use kilocore_pages::{PagePool, PoolOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // At most 1000 pages of 4 KiB at a time. The tiers are as large as this machine's caches.
//! let pool = PagePool::new(&PoolOptions::new(1000))?;
//! let mut page = pool.allocate()?; // all zero
//! page[..5].copy_from_slice(b"hello");
//! drop(page); // on the list of this core
//! assert!(pool.allocate()?.iter().all(|byte| *byte == 0)); // the same page, initialized in the cache
//! let run = pool.allocate_run(100)?; // neighbours
//! assert_eq!(run.len(), 100 * 4096);
//! # drop(run);
//! pool.decay(); // now and then: idle memory goes back
//! # assert_eq!(pool.statistics().allocated, 102);
//! # Ok(())
//! # }
//! ```
//! [`LargeBlocks`] serves the large blocks of a whole Rust program from a pool.
//!
//! # Policies
//! A [`PagePool`] has real memory. Which frame is allocated, a [`PagePolicy`] says, and that is generic over
//! the [`Platform`](kilocore_platform::Platform): the same source runs here, under model checkers and on
//! simulated machines.
//!
//! | policy | lists of cores | below them |
//! | --- | --- | --- |
//! | [`Tiered`] | [`PrivateCache`]: as long as that | [`Shared`] above [`Cold`] |
//! | Linux 4.18 | [`PerCore`] with [`Linux4_18`]: at most 186 pages | [`Cold`] |
//! | Linux 6.12 | [`PerCore`] with [`Linux6_12`]: as long as what a core releases in a row | [`Cold`] |
//! | [`Direct`] | none | any of these |
//!
//! [`Policy`] has them by name.
//!
//! The cold tier stands on an allocator of frames: [`LlFree`], whose bitmaps need no lock, or [`Buddy`],
//! which is what kernels have.
//!
//! # What is defined at the edges
//! | case | what happens |
//! | --- | --- |
//! | no page is free | [`OutOfPages`]. Pages on lists of other cores and caches are found first. It can also happen while all free pages are in the hands of threads that move them or give their memory back |
//! | a page is released twice, or is not the pool's | impossible with [`Page`] and [`PageRun`]. By address: a panic in a guarded pool ([`PoolOptions::guarded`]), and for foreign addresses in any |
//! | not enough address space | [`PoolError::Map`], which names the limit |
//! | a limit on memory (cgroup) | pages take memory when they are used. The hot tiers keep what they have, at most the size of the caches; [`PagePool::trim`] gives all of it back |
//! | huge pages that were set aside ([`Backing::HugeTlb`]) | the system takes no part of them back, so that idle pages are cleared and stay |
//! | `fork` | the child can use its copy of the pool and of the pages. Pages that other threads were moving at that moment are lost to the child |
//! | `vfork` | the child must not use the pool. It has its parent's memory, and the kernel does not restart its sequences |
//! | a signal handler | may allocate and release, also while it interrupts a thread that does |
//! | a thread loses its core while it holds a list | nobody waits: others use another list, or the tier below |
//! | no restartable sequences (before glibc 2.35, other processors than x86-64, a filter of system calls) | a page takes twice as long, as lists need atomic exchanges. Decided when the pool is made |
//! | a filter that forbids `membarrier` is installed later | cores keep using their own lists. Frames on lists of other cores are not found |
//!
//! # Features
//! `native`, on by default, has the pool of real memory. It needs `std`, Linux and `libc`. Without it the crate
//! is `no_std` and needs `alloc`.
//!
//! # What it costs
//! For each page four bits for the allocator and what is known of the contents, and one more if guarded. For
//! each core 4 bytes for each page of its private cache, and for each last-level cache 4 to 8 bytes for each
//! page of that. All is allocated when the pool is made.
//!
//! # Where it departs from the paper
//! The tiers are the paper's, with what it leaves open decided thus:
//!
//! * *One algorithm for all pools* (`per_core.rs`): a list for each core, refilled from below and
//!   spilling there. A rule of a few lines makes it the paper's, that of Linux 4.18 or that of
//!   6.12. What is below is a `Level`: the shared tier is one, above the cold one. So policies
//!   differ by what they decide, and by nothing else.
//! * *A core's list is acquired at home without an atomic exchange* (`core_lock.rs`; in `platform`:
//!   `native/restartable.rs`). Two exchanges took two thirds of an allocation and a release. On
//!   x86-64 with glibc 2.35, a thread that runs on the core looks at the lock and stores to it in a
//!   restartable sequence of Linux. Whoever comes from another core exchanges the word, has the
//!   kernel restart what runs there (`membarrier`), and looks whether its exchange still stands.
//!   Measured on two cores of an EPYC 9005, a page allocated and released took 15.5 ns before and
//!   7.6 now; mimalloc took 14. Why at most one thread has the lock, the source argues, and a test
//!   goes through all executions of a model. Where anything is missing, all use exchanges. That is
//!   decided when a pool is made. It is also so under checkers and in the simulator, which
//!   therefore charges too much for a lock at home rather than too little for one elsewhere.
//! * *A list's length can be read without its lock*. A lock from afar costs a system call and
//!   interrupts a core, so statistics need none, and lists that are empty are not acquired. Who
//!   finds its own list held goes a tier down rather than to a neighbour's, since all threads of
//!   that core do so until the holder runs again. With sixteen threads on two cores, a page then
//!   took half as long as with the neighbours' lists. Whoever takes the last frames from another
//!   core's list takes a batch: one at a time, it kept that list from its own core nearly all the
//!   time, which then found no frame at all.
//! * *The shared list is per last-level cache, and in stripes* (`shared.rs`), one for eight cores.
//!   A core takes from another stripe if its own is empty, and the bound is that of all of them.
//! * *Contents travel with the frame*, as a bit of its entry, and lie in a bitmap while it is cold.
//!   A page that has never been used, or whose memory went back, is not initialized again.
//! * *Decay has no clock* (`cold.rs`): a group of 64 frames is idle if nothing came back since the
//!   last call.
//! * *That memory went back is no promise that it is zero* (`giving_back.rs`). Of a part of a huge
//!   page that was set aside, the kernel gives nothing back and reports success. So the process
//!   tries once with a page of its own, and pools on such huge pages clear what is idle.
#![cfg_attr(not(feature = "native"), no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod buddy;
mod cold;
mod core_lock;
mod direct;
mod frame;
mod free_frames;
mod linux_4_18;
mod linux_6_12;
mod llfree;
#[cfg(feature = "native")]
mod native;
mod per_core;
mod policies;
mod policy;
mod private_cache;
mod ring;
mod rule;
mod shared;
mod statistics;
mod tables;
mod tier;
mod tiered;
mod try_lock;

pub use buddy::Buddy;
pub use cold::Cold;
pub use direct::Direct;
pub use frame::{Contents, Entry, FrameId, MOST_FRAMES, Order};
pub use free_frames::{FreeFrames, GROUP_FRAMES};
pub use linux_4_18::Linux4_18;
pub use linux_6_12::Linux6_12;
pub use llfree::{Geometry, LlFree};
#[cfg(feature = "native")]
pub use native::{
    Backing, LargeBlocks, OutOfPages, PAGE_BYTES, Page, PageBytes, PagePool, PageRun, PoolError,
    PoolOptions, UninitPage,
};
pub use per_core::PerCore;
pub use policies::{Policy, Sizes, UnknownPolicy};
pub use policy::{Allocated, PagePolicy};
pub use private_cache::PrivateCache;
pub use rule::Rule;
pub use shared::{NO_CACHE, Shared};
pub use statistics::Statistics;
pub use tier::{Decayed, Level, Tier};
pub use tiered::{BATCH, CORES_PER_STRIPE, Tiered, TieredOptions};

// The example of the README is compiled and run with the tests.
#[cfg(all(doctest, feature = "native"))]
#[doc = include_str!("../README.md")]
struct Readme;
