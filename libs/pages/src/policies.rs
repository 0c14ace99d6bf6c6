//! All policies by name, for those who compare them.
//!
//! # How to add a policy for free pages
//! If it only sizes the lists of cores differently, it is a `Rule` (`rule.rs`): a file such as
//! `linux_4_18.rs`. If it puts free pages in another place below them, it is a `Level`, such as `shared.rs`; if it
//! finds free frames in another way, a `FreeFrames`, such as `llfree.rs`. Then it gets a name here. With
//! that it is simulated (`kilocore-lab pages`) and replayed here (`kilocore bench --replay`). Add it to
//! `tests`: `model.rs` compares it with a plain set, `shuttle.rs` runs three threads on it, and what
//! is atomic in it needs tests under loom, which `make weaken` weakens.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::buddy::Buddy;
use crate::cold::Cold;
use crate::direct::Direct;
use crate::frame::Contents;
use crate::linux_4_18::Linux4_18;
use crate::linux_6_12::Linux6_12;
use crate::llfree::{Geometry, LlFree};
use crate::per_core::PerCore;
use crate::policy::PagePolicy;
use crate::tiered::{Tiered, TieredOptions};

/// A policy of the page pool: which free page an allocation gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The kernel of the paper: lists of at most 186 frames above a buddy system.
    Linux4_18,
    /// A later kernel: lists that grow with what a core releases in a row, above a buddy system.
    Linux6_12,
    /// The paper's three tiers as it describes them: frames move one at a time, each last-level cache has one
    /// list, and a buddy system is below. Each hardware thread's list is as long as the private cache.
    Paper,
    /// This crate's tiers: frames move by the batch, the shared list is in stripes, and LLFree is below.
    Tiered,
    /// LLFree, without lists of cores above it.
    LlFree,
}

/// What a policy needs to know of a machine, and of the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// The frames of the pool.
    pub frames: u32,
    /// What the free frames contain in the beginning.
    pub contents: Contents,
    /// The sizes of this crate's tiers.
    pub tiers: TieredOptions,
    /// The hardware threads of a core, which share its private cache.
    pub threads_per_core: u32,
    /// The sizes of the lists of Linux 6.12.
    pub linux_6_12: Linux6_12,
}

/// There is no policy of this name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownPolicy(String);

impl fmt::Display for UnknownPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no policy {:?}; there are", self.0)?;
        for (at, policy) in Policy::ALL.into_iter().enumerate() {
            write!(f, "{} {}", if at == 0 { "" } else { "," }, policy.name())?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownPolicy {}

impl Policy {
    /// All of them, the baseline first.
    pub const ALL: [Policy; 5] =
        [Policy::Linux4_18, Policy::Linux6_12, Policy::Paper, Policy::Tiered, Policy::LlFree];

    /// Returns its name on command lines and in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux4_18 => "linux-4.18",
            Self::Linux6_12 => "linux-6.12",
            Self::Paper => "paper",
            Self::Tiered => "tiered",
            Self::LlFree => "llfree",
        }
    }

    /// Makes a pool of free frames. Where the policy has a lock that is waited for, it is an `L`.
    #[must_use]
    pub fn make<P: Platform, L: RawLock<P, Thread = ()>>(
        self,
        sizes: &Sizes,
    ) -> Box<dyn PagePolicy> {
        let Sizes { frames, contents, .. } = *sizes;
        let cores = sizes.tiers.cores();
        let buddy = || Cold::<P, _>::new(Buddy::<P, L>::new(frames), contents);
        let llfree = || LlFree::<P>::new(frames, cores, Geometry::for_frames(frames, cores));
        match self {
            Self::Linux4_18 => {
                Box::new(PerCore::<P, _, _>::new(cores, Linux4_18::STANDARD, buddy()))
            }
            Self::Linux6_12 => {
                // No list ever has more than all frames.
                let Linux6_12 { high_min, high_max, .. } = sizes.linux_6_12;
                let high_max = high_max.min(frames.max(high_min));
                let rule = Linux6_12 { high_max, ..sizes.linux_6_12 };
                Box::new(PerCore::<P, _, _>::new(cores, rule, buddy()))
            }
            Self::Paper => {
                let options = TieredOptions {
                    private_frames: sizes.tiers.private_frames * sizes.threads_per_core,
                    batch: 1,
                    cores_per_stripe: u32::MAX,
                    ..sizes.tiers.clone()
                };
                Box::new(Tiered::<P, _>::tiered(&options, Buddy::<P, L>::new(frames), contents))
            }
            Self::Tiered => Box::new(Tiered::<P>::tiered(&sizes.tiers, llfree(), contents)),
            Self::LlFree => {
                Box::new(Direct::<P, _>::new(cores, Cold::<P, _>::new(llfree(), contents)))
            }
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = UnknownPolicy;
    fn from_str(name: &str) -> Result<Self, UnknownPolicy> {
        let found = Self::ALL.into_iter().find(|policy| policy.name() == name);
        found.ok_or_else(|| UnknownPolicy(name.to_string()))
    }
}
