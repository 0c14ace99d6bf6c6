//! The layout of a recording. A recording is the file that `libkilocore_measure.so` writes while a
//! program runs, and that `kilocore-lock-profile` reads afterwards.
//!
//! # A file that is valid at every instant
//! The program may end at any time: by `_exit`, by a signal, or because the power fails. So the
//! recording is a shared mapping of a file that is written in place, and no final step is needed.
//! It consists of a [`FileHeader`] and blocks. Each block begins with a [`BlockHeader`], and its
//! size is a multiple of [`UNIT`] bytes. A block is allocated by advancing [`FileHeader::used`].
//! Blocks are never freed or moved. Fresh space contains zeros. So if a writer died before it wrote
//! the header of its block, a reader finds units of kind [`kind::NONE`], which it skips one by one.
//! The file may be much longer than what is in use; the rest is a hole.
//!
//! # Who writes what
//! * Counters of exclusive acquisitions are in shards, one for each lock and core. Only the holder
//!   of the lock writes them. So plain loads and stores suffice, and no cache line is transferred
//!   that the program would not have transferred.
//! * Counters of shared acquisitions are in shards, one for each lock and thread slot. A slot below
//!   [`SHARED_SLOT`] belongs to the living thread with that number. The last slot is shared by all
//!   other threads, which add to it atomically.
//! * Waiters add to their counters atomically. The cost does not matter, because a waiter has lost
//!   time anyway.
//!
//! All words are in the byte order of the machine, which the magic number shows. A reference to a
//! block is a [`UnitId`]: the distance from the start of the file in units, or 0 for none.
//!
//! The crate is `no_std`, because it is linked into other people's programs. It depends on
//! `kilocore-platform` without its features, which is `no_std`, too, and depends on nothing.
#![no_std]

mod buckets;
mod layout;
pub mod majority;
pub mod sparse;

pub use buckets::{BUCKETS, bucket_lower_bound, bucket_of};
pub use layout::{
    BarrierBlock, Block, BlockHeader, CallerBlock, ConditionBlock, ContentionBlock, FileHeader,
    Histogram, HistogramBlock, LARGEST_BLOCK, LockBlock, MAGIC, MAX_FILE_BYTES, MAX_FRAMES, MET,
    ModuleBlock, NESTED, NO_NUMBER, Nested, PATH_BYTES, SHARDS, SHARED_SLOT, ShardBlock, SiteBlock,
    SparseHistogram, THREADS, ThreadBlock, UNIT, UnitId, VERSION, attribute, family, kind, lack,
    mode,
};
