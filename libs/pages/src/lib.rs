//! A page pool that hands out pages which are still in some cache.
#![cfg_attr(not(feature = "native"), no_std)]
#![warn(missing_docs)]

extern crate alloc;

mod buddy;
mod cold;
mod direct;
mod frame;
mod free_frames;
mod linux_4_18;
mod linux_6_12;
mod llfree;
#[cfg(feature = "native")]
mod native;
mod per_core;
mod policy;
mod private_cache;
mod ring;
mod rule;
mod shared;
mod statistics;
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
pub use policy::{Allocated, PagePolicy};
pub use private_cache::PrivateCache;
pub use rule::Rule;
pub use shared::Shared;
pub use statistics::Statistics;
pub use tier::{Decayed, Level, Tier};
pub use tiered::{BATCH, CORES_PER_STRIPE, Tiered, TieredOptions};
