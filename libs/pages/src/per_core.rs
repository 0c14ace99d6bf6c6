//! A list of free frames for each core: the private-hot tier, and what kernels have.
//!
//! A released frame becomes the newest of its core's list, and an allocation takes the newest, because
//! that is the likeliest to be in the core's private cache. An empty list is refilled from the tier
//! below, and one that is too long spills its oldest frames there. How many, a [`Rule`] says. This one
//! algorithm is therefore the pool of the paper and those of Linux.
//!
//! A core's list is behind a lock, since a thread may be moved or lose its core at any time. The lock may be
//! cheap for threads that run on the core, and costly for others ([`core_lock`](crate::core_lock)). Nobody
//! waits for it: who finds it held takes a neighbour's list if that is cheap, or goes to the tier below.

use alloc::boxed::Box;
use core::iter;

use kilocore_platform::{CpuId, Padded, Platform, SharedCell};

use crate::core_lock::CoreLock;
use crate::frame::{Contents, Entry, FrameId};
use crate::policy::{Allocated, PagePolicy};
use crate::ring::{HeldRing, Ring};
use crate::rule::Rule;
use crate::statistics::{Counts, DirectCounts, Statistics};
use crate::tier::{Decayed, Level, Tier, put_frames};

/// So many lists are tried before the tier below. More than two would have to lose their cores at the
/// same time to be all held.
const LISTS_TRIED: usize = 3;

/// How often somebody looks for the last free frame on lists that are held. The pauses in between are
/// twice as long each time, and some hundred microseconds in all. Somebody from afar may have a list for as
/// long as an interrupt takes to another core, and in a virtual machine that is some ten microseconds.
const LOOKS: u32 = 13;

struct CoreList<P: Platform, R: Rule> {
    ring: Ring<P, CoreLock<P>>,
    /// Of the ring's holder.
    state: P::Cell<R::State>,
    counts: Counts<P>,
}

struct HeldList<'a, P: Platform, R: Rule> {
    ring: HeldRing<'a, P, CoreLock<P>>,
    list: &'a CoreList<P, R>,
}

impl<P: Platform, R: Rule> HeldList<'_, P, R> {
    #[inline(always)]
    fn state<T>(&mut self, change: impl FnOnce(&mut R::State) -> T) -> T {
        // SAFETY: the ring is held, and nobody uses the state without it.
        self.list.state.with_mut(|state| change(unsafe { &mut *state }))
    }
}

/// A list for each core, sized by a rule, above another tier.
pub struct PerCore<P: Platform, R: Rule, N: Level> {
    lists: Box<[Padded<CoreList<P, R>>]>,
    rule: R,
    below: N,
    direct: DirectCounts<P>,
}

impl<P: Platform, R: Rule, N: Level> core::fmt::Debug for PerCore<P, R, N> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PerCore")
            .field("cores", &self.lists.len())
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

impl<P: Platform, R: Rule, N: Level> PerCore<P, R, N> {
    /// Returns empty lists for so many cores above a tier. No cores are taken for one.
    #[must_use]
    pub fn new(cores: u32, rule: R, below: N) -> Self {
        let list = |lock| {
            Padded(CoreList {
                ring: Ring::new(rule.room(), lock),
                state: P::Cell::new(R::State::default()),
                counts: Counts::new(),
            })
        };
        Self {
            lists: CoreLock::of_cores(cores.max(1)).map(list).collect(),
            rule,
            below,
            direct: DirectCounts::new(cores),
        }
    }

    /// Returns the tier below the lists.
    #[must_use]
    pub fn below(&self) -> &N {
        &self.below
    }

    /// Acquires the list of a core, or a neighbour's.
    #[inline(always)]
    fn acquire(&self, core: CpuId) -> Option<HeldList<'_, P, R>> {
        let own = core.0 as usize;
        let own = if own < self.lists.len() { own } else { own % self.lists.len() };
        let list = &self.lists[own].0;
        match list.ring.attempt_at_home() {
            Some(ring) => Some(HeldList { ring, list }),
            None => self.acquire_near(own),
        }
    }

    /// Acquires a neighbour's list, where that is cheaper than to go to the tier below. While a thread that
    /// holds a list has lost its core, others on that core come here each time.
    #[cold]
    fn acquire_near(&self, own: usize) -> Option<HeldList<'_, P, R>> {
        let near = self.lists[own + 1..].iter().chain(&self.lists[..own]);
        let mut cheap = near.take(LISTS_TRIED - 1).filter(|list| list.ring.is_cheap_from_afar());
        cheap.find_map(|list| Self::attempt(list))
    }

    /// Acquires a list that is probably another core's.
    fn attempt(list: &CoreList<P, R>) -> Option<HeldList<'_, P, R>> {
        Some(HeldList { ring: list.ring.attempt_from_afar()?, list })
    }

    /// Refills an empty list, and takes a frame.
    #[cold]
    fn refill(&self, core: CpuId, list: &mut HeldList<'_, P, R>) -> Option<Allocated> {
        let most = list.state(|state| self.rule.refill(state)).clamp(1, list.ring.room());
        let (count, tier) = self.below.take(core, most, |entry| list.ring.push_oldest(entry));
        list.list.counts.refilled(count, tier);
        match list.ring.pop() {
            Some(entry) => Some(Allocated { entry, tier }),
            None => self.raid(Some(&mut list.ring), most),
        }
    }

    /// Takes a frame from any list: the last that there are. The caller may hold an empty list. Then that gets
    /// up to `most` frames, but not more than the other list keeps. So the caller does not come back for each
    /// frame, which would keep the list from those who run at its home.
    ///
    /// Who holds another list has it for a moment only, unless it lost its core. So this looks a few times.
    fn raid(
        &self,
        mut own: Option<&mut HeldRing<'_, P, CoreLock<P>>>,
        most: u32,
    ) -> Option<Allocated> {
        let looks = if P::CHECKED { 2 } else { LOOKS };
        for look in 0..looks {
            let mut held = false;
            for list in self.lists.iter().map(|list| &list.0) {
                let is_own = own.as_ref().is_some_and(|own| own.is_of(&list.ring));
                if is_own || list.ring.is_idle_and_empty() {
                    continue;
                }
                let Some(mut list) = Self::attempt(list) else {
                    held = true;
                    continue;
                };
                let Some(entry) = list.ring.pop_oldest() else { continue };
                if let Some(own) = &mut own {
                    let more = (list.ring.len() / 2).min(most - 1);
                    iter::from_fn(|| list.ring.pop_oldest())
                        .take(more as usize)
                        .for_each(|entry| own.push(entry));
                }
                return Some(Allocated { entry, tier: Tier::Private });
            }
            if !held {
                break;
            }
            P::pause(1 << look);
        }
        None
    }

    /// Allocates past the lists, which are all held.
    #[cold]
    fn allocate_below(&self, core: CpuId) -> Option<Allocated> {
        let mut taken = None;
        let (_, tier) = self.below.take(core, 1, |entry| taken = Some(entry));
        let allocated =
            taken.map(|entry| Allocated { entry, tier }).or_else(|| self.raid(None, 1))?;
        let zero = allocated.entry.contents() == Contents::Zero;
        self.direct.allocated(core, 1, zero, allocated.tier);
        Some(allocated)
    }

    /// Lets the oldest frames of a list go.
    #[cold]
    fn spill(&self, core: CpuId, list: &mut HeldList<'_, P, R>, count: u32) {
        list.list.counts.spilled(count);
        let oldest = iter::from_fn(|| list.ring.pop_oldest());
        // SAFETY: frames on the list are the list's, and the caller holds it.
        unsafe { self.below.put(core, count, oldest) };
    }
}

// SAFETY: a frame is on one list or below, and moves only under the list's lock, which orders what its
// owners do.
unsafe impl<P: Platform, R: Rule, N: Level> PagePolicy for PerCore<P, R, N> {
    fn frames(&self) -> u32 {
        self.below.frames()
    }

    #[inline]
    fn allocate(&self) -> Option<Allocated> {
        let core = P::cpu();
        let Some(mut list) = self.acquire(core) else { return self.allocate_below(core) };
        list.state(|state| self.rule.on_allocate(state));
        let allocated = match list.ring.pop() {
            Some(entry) => Allocated { entry, tier: Tier::Private },
            None => self.refill(core, &mut list)?,
        };
        list.list.counts.allocated(allocated.entry.contents() == Contents::Zero);
        Some(allocated)
    }

    #[inline]
    unsafe fn release(&self, entry: Entry) {
        let core = P::cpu();
        let Some(mut list) = self.acquire(core) else {
            self.direct.released(core, 1);
            // SAFETY: the caller's promise.
            return unsafe { self.below.put(core, 1, iter::once(entry)) };
        };
        list.ring.push(entry);
        list.list.counts.released();
        let len = list.ring.len();
        // Whatever the rule says, there has to be room for the next one.
        let full = u32::from(list.ring.room() == 0);
        let surplus = list.state(|state| self.rule.on_release(state, len)).max(full);
        if surplus > 0 {
            self.spill(core, &mut list, surplus);
        }
    }

    fn allocate_run(&self, frames: u32, each: &mut dyn FnMut(Entry)) -> Option<FrameId> {
        let core = P::cpu();
        self.direct.take_run(&self.below, core, frames, each).or_else(|| {
            self.drain();
            self.direct.take_run(&self.below, core, frames, each)
        })
    }

    unsafe fn release_run(&self, first: FrameId, frames: u32, contents: Contents) {
        let core = P::cpu();
        self.direct.released(core, frames);
        // SAFETY: the caller's promise.
        unsafe { put_frames(&self.below, core, first, frames, contents) };
    }

    fn allocate_these(&self, first: FrameId, frames: u32) -> bool {
        self.drain();
        let taken = self.below.take_these(first, frames);
        if taken {
            self.direct.allocated(P::cpu(), frames, false, Tier::Cold);
        }
        taken
    }

    fn drain(&self) {
        let core = P::cpu();
        for list in self.lists.iter().filter(|list| !list.ring.is_idle_and_empty()) {
            if let Some(mut list) = Self::attempt(list) {
                let count = list.ring.len();
                self.spill(core, &mut list, count);
            }
        }
        self.below.drain(core);
    }

    fn tick(&self) {
        let core = P::cpu();
        for list in &self.lists {
            if let Some(mut list) = Self::attempt(list) {
                let len = list.ring.len();
                let surplus = list.state(|state| self.rule.on_tick(state, len));
                if surplus > 0 {
                    self.spill(core, &mut list, surplus);
                }
            }
        }
    }

    fn decay(&self, discard: &mut dyn FnMut(FrameId, u32)) -> Decayed {
        self.below.decay(discard)
    }

    fn statistics(&self) -> Statistics {
        let mut all = self.direct.read();
        for list in &self.lists {
            all += list.counts.read();
            all.private_now += list.ring.len();
        }
        let (shared, cold) = self.below.counts();
        Statistics { shared_now: shared, cold_now: cold, ..all }
    }

    fn validate(&mut self, each: &mut dyn FnMut(Entry)) {
        for list in &mut self.lists {
            let ring = &mut list.0.ring;
            assert!(ring.is_free(), "nobody has acquired it");
            assert!(ring.len() <= self.rule.room(), "a list keeps to its bound");
            ring.for_each(&mut *each);
        }
        self.below.validate(each);
    }
}
