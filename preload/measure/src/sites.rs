//! Call sites, which say who created or first took a lock.
//!
//! A site consists of the return addresses of the innermost callers. They are found by
//! [walking](crate::walk) the stack, unless the thread has just come the same way. A walk takes
//! microseconds, and programs create millions of locks. So if the same [`NEAR`] innermost callers
//! have belonged to the same site [`CONFIRMATIONS`] times in a row, the recorder assumes that they
//! always do. After [`FULL_WALKS`] walks it assumes this in any case.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{MAX_FRAMES, SiteBlock, UnitId};

use crate::modules;
use crate::recorder::Recorder;
use crate::state::SITE_BUCKETS;
use crate::walk::{Chain, Frames, stack_pointer, walk};

/// The number of stack walks to the full depth in a process.
const FULL_WALKS: u32 = 20_000;

/// The number of innermost callers that suffice afterwards.
const NEAR: usize = 3;

/// The number of full walks from the same innermost callers that must lead to the same site.
const CONFIRMATIONS: u32 = 48;

/// The number of bits of a unit's number. The other bits of a word in the table count
/// confirmations.
const UNIT_BITS: u32 = 22;

/// Mixes words into one.
fn hash(words: &[u64], seed: u64) -> u64 {
    words.iter().fold(seed.wrapping_add(1), |state, word| {
        (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

/// The number of callers that say where a lock is taken.
const TAKING: usize = 8;

/// The hash seed for the sites at which locks are taken. They share the table of sites with lock
/// families.
const TAKING_FAMILY: u32 = 200;

/// The largest number of sites at which locks are taken, in a process. Without this limit,
/// recursion could make any number of them.
const MOST_TAKING: u32 = 8192;

/// A call site whose frames are known, and which has not been searched in the table yet.
#[derive(Debug)]
pub(crate) struct Caller {
    frames: Frames,
    full: bool,
    family: u32,
}

impl Recorder {
    /// Returns the caller of this library. This may take microseconds, so the tables must not be
    /// locked.
    #[inline(never)]
    pub(crate) fn caller(self, family: u32) -> Caller {
        let thread = self.thread;
        self.caller_along(&thread.chain, stack_pointer(), MAX_FRAMES, family)
    }

    /// Does the same for a caller that takes a lock.
    #[inline(never)]
    pub(crate) fn taking_caller(self) -> Caller {
        let thread = self.thread;
        self.caller_along(&thread.taking, stack_pointer(), TAKING, TAKING_FAMILY)
    }

    /// Returns the callers, as seen from the stack pointer `stack` of the calling function.
    #[inline(always)]
    fn caller_along(self, chain: &Chain, stack: usize, depth: usize, family: u32) -> Caller {
        if let Some(frames) = chain.unchanged(stack) {
            return Caller { frames, full: true, family };
        }
        let own = modules::own_range(self);
        let frames = walk(own, NEAR, None);
        let word = self.near_site(&frames, family).load(Ordering::Acquire);
        let sure = word >> UNIT_BITS >= CONFIRMATIONS
            || (word != 0 && self.state().walks.load(Ordering::Relaxed) >= FULL_WALKS);
        if sure {
            return Caller { frames, full: false, family };
        }
        if family != TAKING_FAMILY {
            self.state().walks.fetch_add(1, Ordering::Relaxed);
        }
        Caller { frames: walk(own, depth, Some((chain, stack))), full: true, family }
    }

    /// Returns the word that contains the last site with these innermost frames, and how often in a
    /// row it was the same.
    fn near_site(self, frames: &Frames, family: u32) -> &'static AtomicU32 {
        let hash = hash(frames.innermost(NEAR), u64::from(family));
        &self.state().near_sites[(hash >> 20) as usize % SITE_BUCKETS]
    }

    /// Returns the site of `caller`. Creates the site if it is new. Returns `None` if the recording
    /// is full or there are too many sites at which locks are taken. The tables must be locked.
    pub(crate) fn site(self, caller: &Caller) -> Option<UnitId> {
        let frames = &caller.frames;
        let near = self.near_site(frames, caller.family);
        let known = near.load(Ordering::Acquire);
        if !caller.full {
            return Some(known & ((1 << UNIT_BITS) - 1));
        }
        let hash = hash(frames.all(), u64::from(caller.family));
        let head = &self.state().sites[(hash >> 20) as usize % SITE_BUCKETS];
        let mut unit = head.load(Ordering::Acquire);
        for _ in 0..self.most_blocks() {
            let Some(site) = self.block::<SiteBlock>(unit) else { break };
            if site.hash.load(Ordering::Relaxed) == hash {
                let same = known & ((1 << UNIT_BITS) - 1) == unit;
                let times = if same { (known >> UNIT_BITS) + 1 } else { 0 };
                near.store(unit | times.min(CONFIRMATIONS) << UNIT_BITS, Ordering::Release);
                return Some(unit);
            }
            unit = site.next.load(Ordering::Relaxed);
        }
        if caller.family == TAKING_FAMILY
            && self.state().caller_sites.fetch_add(1, Ordering::Relaxed) >= MOST_TAKING
        {
            return None;
        }
        modules::note(self, frames.all());
        let next = head.load(Ordering::Relaxed);
        let unit = self.allocate(|site: *mut SiteBlock| {
            // SAFETY: the block is new and zeroed, and only this thread knows it.
            let site = unsafe { &mut *site };
            *site.hash.get_mut() = hash;
            *site.next.get_mut() = next;
            for (to, from) in site.frames.iter_mut().zip(frames.all()) {
                *to.get_mut() = *from;
            }
        })?;
        head.store(unit, Ordering::Release);
        near.store(unit, Ordering::Release);
        Some(unit)
    }
}
