//! Counts of what a pool has done, by tier.

use alloc::boxed::Box;
use core::ops::AddAssign;

use kilocore_platform::{Atomic, AtomicInt, CpuId, Ordering, Padded, Platform};

use crate::frame::{Contents, Entry, FrameId};
use crate::tier::{Level, Tier, take_frames};

/// What a pool has done, and where its free frames are.
///
/// Frames that a core's list was refilled with are counted where they came from, when they came. So the
/// allocations from the private tier are those that did not need one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// How many frames were allocated.
    pub allocated: u64,
    /// Of these, frames that were known to be zero.
    pub zero: u64,
    /// How many frames were released.
    pub released: u64,
    /// Frames that lists of cores were refilled with from the shared tier.
    pub from_shared: u64,
    /// Frames that lists of cores were refilled with from the cold tier.
    pub from_cold: u64,
    /// Frames that lists of cores spilled into the tier below.
    pub spilled: u64,
    /// Frames free on lists of cores now.
    pub private_now: u32,
    /// Frames free on lists of last-level caches now.
    pub shared_now: u32,
    /// Frames free in the cold tier now.
    pub cold_now: u32,
}

impl Statistics {
    /// Returns the frames that were released by a core and allocated again before they left its list.
    #[must_use]
    pub fn from_private(&self) -> u64 {
        self.allocated.saturating_sub(self.from_shared + self.from_cold)
    }
}

impl AddAssign for Statistics {
    fn add_assign(&mut self, more: Statistics) {
        self.allocated += more.allocated;
        self.zero += more.zero;
        self.released += more.released;
        self.from_shared += more.from_shared;
        self.from_cold += more.from_cold;
        self.spilled += more.spilled;
        self.private_now += more.private_now;
        self.shared_now += more.shared_now;
        self.cold_now += more.cold_now;
    }
}

/// The counts of one core. Whoever holds the core's list counts without atomic additions.
pub(crate) struct Counts<P: Platform> {
    allocated: P::U64,
    zero: P::U64,
    released: P::U64,
    from_shared: P::U64,
    from_cold: P::U64,
    spilled: P::U64,
}

impl<P: Platform> Counts<P> {
    pub(crate) fn new() -> Self {
        let zero = || P::U64::new(0);
        Self {
            allocated: zero(),
            zero: zero(),
            released: zero(),
            from_shared: zero(),
            from_cold: zero(),
            spilled: zero(),
        }
    }

    /// Counts, for who holds the list.
    #[inline(always)]
    fn bump(word: &P::U64, by: u64) {
        // A checker has enough to do.
        if !P::CHECKED {
            // Relaxed: only the holder of the list writes it.
            word.store(word.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
        }
    }

    #[inline(always)]
    pub(crate) fn allocated(&self, zero: bool) {
        Self::bump(&self.allocated, 1);
        if zero {
            Self::bump(&self.zero, 1);
        }
    }

    #[inline(always)]
    pub(crate) fn released(&self) {
        Self::bump(&self.released, 1);
    }

    pub(crate) fn refilled(&self, count: u32, from: Tier) {
        match from {
            Tier::Private => {}
            Tier::Shared => Self::bump(&self.from_shared, count.into()),
            Tier::Cold => Self::bump(&self.from_cold, count.into()),
        }
    }

    pub(crate) fn spilled(&self, count: u32) {
        Self::bump(&self.spilled, count.into());
    }

    pub(crate) fn read(&self) -> Statistics {
        let read = |word: &P::U64| word.load(Ordering::Relaxed); // Relaxed: counts order nothing.
        Statistics {
            allocated: read(&self.allocated),
            zero: read(&self.zero),
            released: read(&self.released),
            from_shared: read(&self.from_shared),
            from_cold: read(&self.from_cold),
            spilled: read(&self.spilled),
            ..Statistics::default()
        }
    }
}

/// Counts of those who have no list, or found every list held. Each core has a line of them: on a simulated
/// machine of 64 cores, one line for all made allocations of a pool without lists seventy times slower.
pub(crate) struct DirectCounts<P: Platform>(Box<[Padded<Direct<P>>]>);

struct Direct<P: Platform> {
    allocated: P::U64,
    zero: P::U64,
    released: P::U64,
    from_shared: P::U64,
}

impl<P: Platform> DirectCounts<P> {
    pub(crate) fn new(cores: u32) -> Self {
        let zero = || P::U64::new(0);
        let line = |_| {
            Padded(Direct {
                allocated: zero(),
                zero: zero(),
                released: zero(),
                from_shared: zero(),
            })
        };
        Self((0..cores.max(1)).map(line).collect())
    }

    fn of(&self, core: CpuId) -> &Direct<P> {
        &self.0[core.0 as usize % self.0.len()]
    }

    fn add(word: &P::U64, by: u64) {
        if !P::CHECKED {
            word.fetch_add(by, Ordering::Relaxed); // Relaxed: counts order nothing.
        }
    }

    pub(crate) fn allocated(&self, core: CpuId, count: u32, zero: bool, from: Tier) {
        let own = self.of(core);
        Self::add(&own.allocated, count.into());
        if zero {
            Self::add(&own.zero, count.into());
        }
        if from == Tier::Shared {
            Self::add(&own.from_shared, count.into());
        }
    }

    /// Takes a run from a tier, as [`take_frames`] does, and counts it.
    pub(crate) fn take_run<N: Level>(
        &self,
        level: &N,
        core: CpuId,
        frames: u32,
        each: &mut dyn FnMut(Entry),
    ) -> Option<FrameId> {
        let mut zero = 0;
        let mut counted = |entry: Entry| {
            zero += u32::from(entry.contents() == Contents::Zero);
            each(entry);
        };
        let first = take_frames(level, core, frames, &mut counted)?;
        self.allocated(core, zero, true, Tier::Cold);
        self.allocated(core, frames.max(1) - zero, false, Tier::Cold);
        Some(first)
    }

    pub(crate) fn released(&self, core: CpuId, count: u32) {
        Self::add(&self.of(core).released, count.into());
    }

    pub(crate) fn read(&self) -> Statistics {
        let read = |word: &P::U64| word.load(Ordering::Relaxed); // Relaxed: counts order nothing.
        let mut all = Statistics::default();
        for own in &self.0 {
            let (allocated, from_shared) = (read(&own.allocated), read(&own.from_shared));
            all += Statistics {
                allocated,
                zero: read(&own.zero),
                released: read(&own.released),
                from_shared,
                from_cold: allocated.saturating_sub(from_shared),
                ..Statistics::default()
            };
        }
        all
    }
}
