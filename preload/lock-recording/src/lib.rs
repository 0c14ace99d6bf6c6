//! The layout of a recording: the file that `libkilocore_measure.so` writes while the program
//! runs and that `kilocore-lock-profile` reads afterwards.
//!
//! # A file that is valid at every instant
//! The program may end at any time: by `_exit`, by a signal, by the power switch. The recording
//! is therefore a shared mapping of a file, written in place, and needs no closing act. It is a
//! [`FileHeader`] followed by blocks, each a multiple of [`UNIT`] bytes that begins with a
//! [`BlockHeader`]. Blocks are allocated by advancing [`FileHeader::used`], and are never freed
//! or moved. Fresh space reads zero, so a block whose writer died before it wrote the header
//! reads as units of kind [`kind::NONE`], which a reader steps over one by one.
//!
//! # Who writes what
//! * Counters of exclusive acquisitions lie in shards, one per lock and core, and are written by
//!   the holder of the lock alone: plain loads and stores suffice, and no cache line moves that
//!   the program would not have moved.
//! * Counters of shared acquisitions lie in shards per lock and thread slot. A slot below
//!   [`SHARED_SLOT`] belongs to the living thread with that number; the last one is shared by all
//!   the others, who add to it atomically.
//! * What only a waiter writes is added atomically: it has lost its time anyway.
//!
//! All words are in the byte order of the machine, which the magic number shows. References
//! between blocks are [`UnitId`]s: the distance from the start of the file in units, 0 for none.
//!
//! The crate is `no_std` and depends on nothing, because it is linked into other people's
//! programs.
#![no_std]

mod buckets;
mod layout;
pub mod majority;
pub mod sparse;

pub use buckets::{BUCKETS, bucket_lower_bound, bucket_of};
pub use layout::{
    BarrierBlock, Block, BlockHeader, CallerBlock, ConditionBlock, ContentionBlock, FileHeader,
    Histogram, HistogramBlock, LockBlock, MAGIC, MAX_FILE_BYTES, MAX_FRAMES, MET, ModuleBlock,
    NESTED, NO_NUMBER, Nested, PATH_BYTES, SHARDS, SHARED_SLOT, ShardBlock, SiteBlock,
    SparseHistogram, THREADS, ThreadBlock, UNIT, UnitId, VERSION, attribute, family, kind, mode,
};
