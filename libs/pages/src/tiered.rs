//! The pool of the paper: private-hot, shared-hot and cold.
//!
//! # Source
//! Seokwoo Yang, Sunhyeon Noh, Seongsoo Hong: *Improved Cache-hot Page Allocation Technique for Reducing
//! Page Initialization Latency of Linux Based Systems*.
//!
//! # The idea
//! A page that is still in some cache is initialized faster than one in memory. A kernel knows which
//! pages a core released last, and gives them to that core again. Others may be in the cache that all
//! cores share, but no core knows of those of another. So what a core's list has too much goes onto a list
//! that is shared, before it goes back among all others.

use alloc::boxed::Box;
use alloc::vec;

use kilocore_platform::Platform;

use crate::cold::Cold;
use crate::frame::Contents;
use crate::free_frames::FreeFrames;
use crate::llfree::LlFree;
use crate::per_core::PerCore;
use crate::private_cache::PrivateCache;
use crate::shared::Shared;

/// The frames that are moved between tiers together: their entries fill a cache line.
pub const BATCH: u32 = 16;

/// A list for each core, bounded by its private cache; one for each last-level cache, bounded by that;
/// and all others.
pub type Tiered<P, F = LlFree<P>> = PerCore<P, PrivateCache, Shared<P, Cold<P, F>>>;

/// The sizes of the tiers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TieredOptions {
    /// For each core, which last-level cache it is below. Caches are numbered from 0.
    pub last_level_caches: Box<[u32]>,
    /// The frames that a core's private cache has room for.
    pub private_frames: u32,
    /// The frames that each last-level cache has room for. 0 leaves the shared tier out.
    pub shared_frames: u32,
    /// The frames that are moved together: [`BATCH`], or fewer for small caches.
    pub batch: u32,
    /// So many cores of a last-level cache share a stripe of its list.
    pub cores_per_stripe: u32,
}

impl TieredOptions {
    /// Cores that share one last-level cache.
    #[must_use]
    pub fn one_cache(cores: u32, private_frames: u32, shared_frames: u32) -> Self {
        Self {
            last_level_caches: vec![0; cores.max(1) as usize].into(),
            private_frames,
            shared_frames,
            batch: BATCH.min(private_frames.div_ceil(4).max(1)),
            cores_per_stripe: CORES_PER_STRIPE,
        }
    }

    /// Returns the number of cores.
    #[must_use]
    pub fn cores(&self) -> u32 {
        self.last_level_caches.len().max(1) as u32
    }
}

/// How many cores share a stripe by default.
///
/// A core that only takes from the shared tier, or only puts there, uses it once in sixteen pages. To
/// initialize these takes some microseconds, and a stripe is held for a tenth of one, so eight cores seldom
/// meet. With fewer, the order of the whole list suffers: on a simulated machine of eight hardware threads,
/// two stripes cost two percent of the latency of a browser's pages.
pub const CORES_PER_STRIPE: u32 = 8;

impl<P: Platform, F: FreeFrames<P>> Tiered<P, F> {
    /// Returns a pool of free frames with these contents.
    #[must_use]
    pub fn tiered(options: &TieredOptions, free: F, contents: Contents) -> Self {
        let rule = PrivateCache { frames: options.private_frames, batch: options.batch };
        let shared = Shared::new(
            &options.last_level_caches,
            options.shared_frames,
            options.cores_per_stripe,
            Cold::new(free, contents),
        );
        PerCore::new(options.cores(), rule, shared)
    }
}
