//! The shared-hot tier: frames that are presumably in a last-level cache.
//!
//! Each last-level cache has a list of its own, since what lies in one is not near to the cores of
//! another. A core's list spills its oldest frames there by the batch, and any core below the same cache
//! refills from it by the batch: the newest first. What is too much goes on to the cold tier.
//!
//! # Departures from the paper
//! * The paper has one list for a machine, and moves frames one by one. A batch here is as large as a
//!   cache line has entries, so a transfer between cores costs one line for the lock and one for sixteen
//!   frames.
//! * A list is divided into *stripes*, one for a few neighbouring cores. A core takes from another stripe
//!   if its own is empty, and puts into another one if its own is full. So the bound holds for the cache
//!   as a whole, but the order is only that of each stripe. Docs of [`TieredOptions`] say how many there
//!   are.
//! * A lot that is larger than a list has room for leaves its newest frames there.
//!
//! [`TieredOptions`]: crate::TieredOptions

use alloc::boxed::Box;
use alloc::collections::TryReserveError;

use kilocore_platform::{Atomic, CpuId, Ordering, Padded, Platform};

use crate::frame::{Contents, Entry, FrameId, Order};
use crate::ring::{HeldRing, Ring};
use crate::tables::table;
use crate::tier::{Decayed, Level, Tier};
use crate::try_lock::TryLock;

/// A part of the list of a last-level cache.
struct Stripe<P: Platform> {
    ring: Ring<P>,
    /// How many frames it has, for those who look for one: they need not acquire every stripe.
    len: P::U32,
}

/// A stripe that the caller has acquired.
struct HeldStripe<'a, P: Platform> {
    ring: HeldRing<'a, P>,
    len: &'a P::U32,
}

impl<P: Platform> Stripe<P> {
    fn new(bound: u32) -> Result<Self, TryReserveError> {
        Ok(Self { ring: Ring::try_new(bound, TryLock::new())?, len: P::U32::new(0) })
    }

    fn len(&self) -> u32 {
        self.len.load(Ordering::Relaxed) // Relaxed: a hint.
    }

    fn attempt(&self) -> Option<HeldStripe<'_, P>> {
        Some(HeldStripe { ring: self.ring.attempt()?, len: &self.len })
    }

    /// Acquires it, and waits for its holder if it has one.
    fn acquire(&self) -> HeldStripe<'_, P> {
        HeldStripe { ring: self.ring.acquire(), len: &self.len }
    }
}

impl<P: Platform> Drop for HeldStripe<'_, P> {
    fn drop(&mut self) {
        // Relaxed: a hint. Only who holds the stripe writes it.
        self.len.store(self.ring.len(), Ordering::Relaxed);
    }
}

/// In a table of cores, stands for the last-level cache of one that is not there.
pub const NO_CACHE: u32 = u32::MAX;

/// The lists of all last-level caches, above the cold tier.
pub struct Shared<P: Platform, N: Level> {
    /// The stripes of all caches, those of one cache together.
    stripes: Box<[Padded<Stripe<P>>]>,
    /// The most frames of a stripe.
    bound: u32,
    /// For each core, its stripe.
    stripe_of: Box<[u32]>,
    /// For each stripe, the first one of its cache and the first one after them.
    cache_of: Box<[(u32, u32)]>,
    below: N,
}

impl<P: Platform, N: Level> core::fmt::Debug for Shared<P, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Shared").field("stripes", &self.stripes.len()).finish_non_exhaustive()
    }
}

impl<P: Platform, N: Level> Shared<P, N> {
    /// So many frames at most leave a list while a drain of all holds it: meanwhile others wait, and the processor runs no
    /// other thread.
    const DRAIN_LOT: u32 = if P::CHECKED { 2 } else { 2048 };

    /// Returns empty lists. `caches` says for each core which last-level cache it is below; caches are
    /// numbered from 0. A core that is not there, [`NO_CACHE`], has no part in that, and if it comes it uses the first
    /// list. Each cache has room for `frames`, and a stripe for every `cores_per_stripe` of
    /// its cores. No cores at all are taken for one.
    ///
    /// # Panics
    /// If there is no memory for the lists.
    #[must_use]
    pub fn new(caches: &[u32], frames: u32, cores_per_stripe: u32, below: N) -> Self {
        Self::try_new(caches, frames, cores_per_stripe, below).expect("memory for the lists")
    }

    /// Does what [`new`](Self::new) does, for those who go on without lists: a kernel.
    ///
    /// # Errors
    /// If there is no memory for the lists. What was allocated is freed, and `below` is dropped.
    pub fn try_new(
        caches: &[u32],
        frames: u32,
        cores_per_stripe: u32,
        below: N,
    ) -> Result<Self, TryReserveError> {
        let caches = if caches.is_empty() { &[0] } else { caches };
        let cores_of = |cache| caches.iter().filter(move |&&other| other == cache).count() as u32;
        let there = caches.iter().filter(|&&cache| cache != NO_CACHE);
        let count = there.max().map_or(1, |most| most + 1);
        let cores_per_stripe = cores_per_stripe.max(1);
        let most = (0..count).map(|cache| cores_of(cache).div_ceil(cores_per_stripe)).max();
        let stripes_per_cache = most.unwrap_or(1).max(1);
        let bound = frames / stripes_per_cache;
        let stripes = count * stripes_per_cache;
        let mut seen = table(count, |_| Ok(0))?;
        let range = |cache| (cache * stripes_per_cache, (cache + 1) * stripes_per_cache);
        Ok(Self {
            stripe_of: table(caches.len() as u32, |core| {
                let cache = caches[core as usize];
                if cache == NO_CACHE {
                    return Ok(0);
                }
                let nth = seen[cache as usize];
                seen[cache as usize] += 1;
                Ok(cache * stripes_per_cache + nth / cores_per_stripe)
            })?,
            stripes: table(stripes, |_| Ok(Padded(Stripe::new(bound)?)))?,
            cache_of: table(stripes, |stripe| Ok(range(stripe / stripes_per_cache)))?,
            bound,
            below,
        })
    }

    /// Takes up to `most` frames, which is positive, from the lists of the core's cache only, and calls
    /// `each` with them, the newest first. Returns how many there were, or `None` if others held every
    /// list that has any.
    ///
    /// [`Level::take`] looks into the tier below, too, and then into other caches' lists. This one is for
    /// those who have their own way there: a kernel.
    ///
    /// It acquires a list, so that what was done to a frame before it was put there happened before.
    pub fn take_near(&self, core: CpuId, most: u32, mut each: impl FnMut(Entry)) -> Option<u32> {
        Self::take_from(self.stripes_near(core), most, &mut each)
    }

    /// Puts up to `count` frames, the oldest first, onto a list of the core's cache, and what is then too
    /// much into the tier below, in one lot. Returns false, and has taken none, if others hold all of these
    /// lists, or if there is no room for any frame.
    ///
    /// It releases the list to who acquires it next, so that what was done to the frames before happened
    /// before.
    ///
    /// # Safety
    /// The frames are the caller's, unless this returns false.
    pub unsafe fn put_near(
        &self,
        core: CpuId,
        count: u32,
        entries: impl Iterator<Item = Entry>,
    ) -> bool {
        let Some(mut stripe) = self.stripe_for(core, count) else { return false };
        let mut entries = entries.take(count as usize);
        let surplus = (stripe.ring.len() + count).saturating_sub(self.bound);
        if surplus > 0 {
            let listed = core::iter::from_fn(|| stripe.ring.pop_oldest());
            let oldest = listed.chain(entries.by_ref());
            // SAFETY: frames on the list are the list's, and the caller holds it. The others are the
            // caller's.
            unsafe { self.below.put(core, surplus, oldest.take(surplus as usize)) };
        }
        for entry in entries {
            stripe.ring.push(entry);
        }
        true
    }

    /// Moves all frames of all lists into the tier below, and returns how many. It waits for those who hold
    /// a list. So no frame that was put onto a list before, as happens-before has it, is there afterwards,
    /// unless it was taken and put again meanwhile. [`Level::drain`], which waits for nobody, leaves out what
    /// others hold.
    ///
    /// The caller must not have interrupted a holder, nor keep one from running: a kernel calls it outside
    /// of interrupts.
    pub fn drain_all(&self, core: CpuId) -> u32 {
        let mut drained = 0;
        for stripe in self.stripes.iter().filter(|stripe| !stripe.ring.is_idle_and_empty()) {
            // What is put meanwhile is behind the frames that were there. So these are gone after as many.
            let mut left = u32::MAX;
            while left > 0 {
                // Others wait for who holds a list.
                let (lot, remaining) = P::unpreempted(|| {
                    let mut held = stripe.acquire();
                    let there = held.ring.len().min(left);
                    let lot = self.drain_stripe(core, &mut held, there.min(Self::DRAIN_LOT));
                    (lot, there - lot)
                });
                drained += lot;
                left = remaining;
            }
        }
        drained
    }

    /// Moves so many frames of a stripe into the tier below, which it has. Returns how many.
    fn drain_stripe(&self, core: CpuId, held: &mut HeldStripe<'_, P>, count: u32) -> u32 {
        if count > 0 {
            let oldest = core::iter::from_fn(|| held.ring.pop_oldest());
            // SAFETY: frames on the list are the list's, and the caller holds it.
            unsafe { self.below.put(core, count, oldest.take(count as usize)) };
        }
        count
    }

    /// Returns the stripes of the core's cache, its own first.
    fn stripes_near(&self, core: CpuId) -> impl Iterator<Item = &Stripe<P>> + Clone {
        let own = self.stripe_of[core.0 as usize % self.stripe_of.len()];
        let (first, end) = self.cache_of[own as usize];
        (own..end).chain(first..own).map(|stripe| &self.stripes[stripe as usize].0)
    }

    /// Takes the newest frames of one of these stripes. Returns how many, or `None` if others held all
    /// that have any.
    fn take_from<'a>(
        stripes: impl Iterator<Item = &'a Stripe<P>>,
        most: u32,
        each: &mut impl FnMut(Entry),
    ) -> Option<u32> {
        let mut found_held = false;
        for stripe in stripes.filter(|stripe| stripe.len() > 0) {
            let Some(mut held) = stripe.attempt() else {
                found_held = true;
                continue;
            };
            let mut taken = 0;
            while taken < most
                && let Some(entry) = held.ring.pop()
            {
                each(entry);
                taken += 1;
            }
            if taken > 0 {
                return Some(taken);
            }
        }
        (!found_held).then_some(0)
    }

    /// Acquires a stripe near a core for so many more frames: one that has room, if there is one.
    fn stripe_for(&self, core: CpuId, count: u32) -> Option<HeldStripe<'_, P>> {
        if self.bound == 0 {
            return None;
        }
        let wanted = count.min(self.bound);
        let near = self.stripes_near(core);
        let roomy = near.clone().filter(|stripe| stripe.len() + wanted <= self.bound);
        roomy.chain(near).find_map(Stripe::attempt)
    }
}

// SAFETY: a frame is in one ring or below, and moves only under the ring's lock.
unsafe impl<P: Platform, N: Level> Level for Shared<P, N> {
    fn frames(&self) -> u32 {
        self.below.frames()
    }

    fn take(&self, core: CpuId, most: u32, mut each: impl FnMut(Entry)) -> (u32, Tier) {
        if let Some(near @ 1..) = self.take_near(core, most, &mut each) {
            return (near, Tier::Shared);
        }
        let (taken, tier) = self.below.take(core, most, &mut each);
        if taken > 0 {
            return (taken, tier);
        }
        // Rather a frame of another cache than none.
        let all = self.stripes.iter().map(|stripe| &stripe.0);
        (Self::take_from(all, most, &mut each).unwrap_or(0), Tier::Shared)
    }

    unsafe fn put(&self, core: CpuId, count: u32, mut entries: impl Iterator<Item = Entry>) {
        // SAFETY: the caller's promise. What the lists have not taken is still the caller's.
        unsafe {
            if !self.put_near(core, count, entries.by_ref()) {
                self.below.put(core, count, entries);
            }
        }
    }

    fn take_run(&self, core: CpuId, order: Order, each: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        self.below.take_run(core, order, each)
    }

    unsafe fn put_run(&self, core: CpuId, frame: FrameId, order: Order, contents: Contents) {
        // SAFETY: the caller's promise.
        unsafe { self.below.put_run(core, frame, order, contents) };
    }

    unsafe fn put_back(&self, core: CpuId, frame: FrameId, order: Order) {
        // SAFETY: the caller's promise.
        unsafe { self.below.put_back(core, frame, order) };
    }

    fn take_these(&self, first: FrameId, frames: u32) -> bool {
        self.below.take_these(first, frames)
    }

    fn drain(&self, core: CpuId) {
        for stripe in &self.stripes {
            if let Some(mut held) = stripe.attempt() {
                let count = held.ring.len();
                self.drain_stripe(core, &mut held, count);
            }
        }
        self.below.drain(core);
    }

    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        self.below.decay(discard)
    }

    fn counts(&self) -> (u32, u32) {
        let (shared, cold) = self.below.counts();
        (shared + self.stripes.iter().map(|stripe| stripe.len()).sum::<u32>(), cold)
    }

    fn validate(&mut self, each: &mut dyn FnMut(Entry)) {
        for stripe in &mut self.stripes {
            let ring = &mut stripe.0.ring;
            assert!(ring.attempt().is_some(), "nobody has acquired it");
            assert!(ring.len() <= self.bound, "a stripe keeps to its bound");
            ring.for_each(&mut *each);
        }
        self.below.validate(each);
    }
}
