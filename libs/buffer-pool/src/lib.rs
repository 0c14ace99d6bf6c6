//! A buffer pool for databases and file caches: pages of a store in memory, for many threads.
//!
//! # The idea
//! * **A hit takes no lock.** A thread follows a chain of the page table without locking it, and pins what it
//!   finds by one atomic addition to the frame's word, which also latches the page and counts the hit. Then
//!   it looks again at which page the frame has ([`BufferPool::read`]).
//! * **Which page has to go, LRU lists say** that many cores can write through: those of `kilocore-lru`, or
//!   any other [`PageLists`](kilocore_lru::PageLists). The capacity is that of the whole pool, whatever the
//!   number of stripes in the lists: no page goes while any frame is free.
//! * **What was reported durable is.** A dirty page leaves memory only when the store has taken it. If the store
//!   fails, the page stays. [`BufferPool::sync`] returns `Ok` only if all pages that were changed before are
//!   durable, and after a failed sync never again.
//! * **A slow store keeps nobody waiting** but those who need it: a page is copied, and written from the copy.
//!
//! # An example
//! ```
//! use std::fs::File;
//!
//! use kilocore_buffer_pool::{BufferPool, FileStore, Options, PageId};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("pages");
//! // A file that nobody else has now, and 1000 of its pages of 8 KiB.
//! let file = FileStore::open(path, File::options().read(true).write(true).create(true))?;
//! let pool = BufferPool::new(file, Options::new(1000, 8192))?;
//! {
//!     let mut page = pool.write(PageId(3))?; // nobody else has it meanwhile
//!     page[..5].copy_from_slice(b"hello");
//! } // now it is dirty
//! assert_eq!(&pool.read(PageId(3))?[..5], b"hello");
//! pool.sync()?; // now it is durable
//! assert_eq!(pool.statistics().writes, 1);
//! # Ok(())
//! # }
//! ```
//! `examples/key_value` is a B-tree in a file, whose updates survive a failure of the power, the disk or the
//! program at any point, and whose tests show it with [`FaultyDisk`].
//!
//! # What is defined at the edges
//! | case | what happens |
//! | --- | --- |
//! | capacity 0 | no page can be had: [`PoolError::NoCapacity`], also for those who would wait |
//! | capacity 1 | one page at a time; asking for a second while the first is pinned is as below |
//! | all pages pinned | [`PoolError::AllPinned`], or a sleep until one is not ([`WhenPinned`]) |
//! | a page with 262,144 guards | to ask for one more is a panic; all else goes on |
//! | more stripes, or cores, than pages | the same as otherwise; any positive number of either is allowed |
//! | a page asked for by many threads | one reads it, the others wait for that; if it fails, the next tries |
//! | a thread with a guard of a page asks for a conflicting one | it waits for itself, for ever |
//! | a pool that is dropped | what was not written is lost, as if the program had ended: call `sync` first |
//!
//! # What it costs
//! For each frame 24 bytes here, 4 to 8 in the page table and a quarter for the dirty page, and what the lists
//! need, 28 bytes for those of [`BufferPool::new`]: at most 61 bytes. Beside that 256 bytes for each core, and
//! what the lists need for locks and batches. All is allocated when the pool is made; reading a page from the store
//! allocates nothing, and writing one allocates a copy of it. The memory of pages comes from the system when they
//! are first used.
//!
//! # Decisions
//! * *One word for each frame* (`word.rs`) has its state and counts pins, shared latches and hits.
//!   A count of hits in a word for each core cost a tenth of the hit path, and more with two
//!   threads.
//! * *It remembers pages that left* (`Policy::RESISTANT`). Without that, a working set of more than
//!   half of the frames that follows another one never gets its place
//!   (`docs/evidence/lru-hit-ratios.md`).
//! * *After a failed sync, none succeeds* any more: in Linux, a second `fsync` succeeds without
//!   having written what the first could not.
//! * *The disk of the tests has Linux's page cache over it* (`faulty_disk.rs`): what a failed
//!   `fsync` could not write is shown, and taken for clean. A random search over it checks what is
//!   promised (`tests/lives.rs`).
//! * *The example writes its root once more before it builds on it.* A sync alone writes nothing
//!   that the system takes for clean.
#![warn(missing_docs)]

mod access;
mod copy;
mod dirty;
mod error;
mod evict;
mod faulty_disk;
mod file_store;
mod frames;
mod free;
mod guards;
mod memory;
mod open_file;
mod options;
mod page;
mod pool;
mod resize;
mod serial;
mod statistics;
mod store;
mod table;
mod tables;
mod word;
mod write_back;

pub use error::{OptionsError, PoolError};
pub use faulty_disk::FaultyDisk;
pub use file_store::FileStore;
pub use guards::{PageMut, PageRef, Pinned};
pub use open_file::OpenFileError;
pub use options::{Options, WhenPinned};
pub use page::PageId;
pub use pool::{BufferPool, DefaultLists};
pub use statistics::Statistics;
pub use store::Store;

// The example of the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
