//! Call sites: who created or first took a lock.
//!
//! A site is the return addresses of the innermost callers, found by [walking](crate::walk) the
//! stack, unless the thread has just come the same way. A walk takes microseconds, and programs
//! create locks by the million. Once the same [`NEAR`] innermost
//! callers have belonged to the same site [`CONFIRMATIONS`] times in a row they are taken to do
//! so always, and after [`FULL_WALKS`] walks they decide in any case.

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_lock_recording::{MAX_FRAMES, SiteBlock, UnitId};

use crate::modules;
use crate::recorder::Recorder;
use crate::state::SITE_BUCKETS;
use crate::walk::{Chain, Frames, stack_pointer, walk};

/// Stack walks to the full depth in a process.
const FULL_WALKS: u32 = 20_000;

/// Callers that suffice afterwards.
const NEAR: usize = 3;

/// Full walks from the same innermost callers that must lead to the same site.
const CONFIRMATIONS: u32 = 48;

/// Bits of a unit's number; the rest of a word in the table counts confirmations.
const UNIT_BITS: u32 = 22;

/// Mixes words into one.
fn hash(words: &[u64], seed: u64) -> u64 {
    words.iter().fold(seed.wrapping_add(1), |state, word| {
        (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

/// Callers that tell where a lock is taken.
const TAKING: usize = 8;

/// Seed of the sites at which locks are taken, which share the table of sites with lock families.
const TAKING_FAMILY: u32 = 200;

/// Such sites in a process: recursion may make any number.
const MOST_TAKING: u32 = 8192;

/// A call site that was looked at but not yet looked up.
#[derive(Debug)]
pub(crate) struct Caller {
    frames: Frames,
    full: bool,
    family: u32,
}

impl Recorder {
    /// Who is calling this library. May take microseconds; not to be called with the tables
    /// locked.
    #[inline(never)]
    pub(crate) fn caller(self, family: u32) -> Caller {
        let thread = self.thread;
        self.caller_along(&thread.chain, stack_pointer(), MAX_FRAMES, family)
    }

    /// The same for who takes a lock.
    #[inline(never)]
    pub(crate) fn taking_caller(self) -> Caller {
        let thread = self.thread;
        self.caller_along(&thread.taking, stack_pointer(), TAKING, TAKING_FAMILY)
    }

    /// The callers as seen from the stack pointer `stack` of the caller.
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

    /// The word that tells the last site with these innermost frames, and how often in a row.
    fn near_site(self, frames: &Frames, family: u32) -> &'static AtomicU32 {
        let hash = hash(frames.innermost(NEAR), u64::from(family));
        &self.state().near_sites[(hash >> 20) as usize % SITE_BUCKETS]
    }

    /// The site of `caller`, created if it is new; `None` if the recording is full. The tables
    /// must be locked.
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
        while let Some(site) = self.block::<SiteBlock>(unit) {
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
            // SAFETY: a fresh block of zeros, known to this thread only.
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
