//! Where a lock is taken, and where it is waited for.
//!
//! A stack walk takes microseconds, so that only some acquisitions are looked at, before the lock is
//! asked for: of the timed ones, and of those that have to wait, each with a [pace](crate::sampling)
//! of its own. Each stands for those before it that were passed over.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::{CallerBlock, LockBlock, UnitId};

use crate::clock;
use crate::recorder::Recorder;

/// Places at which a lock is taken that are told apart.
const MOST_PLACES: usize = 32;

/// Who takes a lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker {
    /// The site.
    pub(crate) site: UnitId,
    /// How many acquisitions it stands for.
    pub(crate) weight: u64,
}

/// What is counted of an acquisition.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// That it was.
    Take,
    /// That it had to wait so many cycles.
    Wait(u64),
}

impl Recorder {
    /// At the request of an acquisition that is timed: looks who makes it, if it is its turn, and
    /// says whether it did.
    #[inline(always)]
    pub(crate) fn look_at_taker(self, now: u64) -> bool {
        let thread = self.thread;
        thread.taker.set(0);
        let random = || thread.random();
        let Some(weight) = thread.takes.pass(now, thread.weight.get(), random) else {
            return false;
        };
        thread.taker_weight.set(weight);
        thread.taker.set(self.taker().unwrap_or(0));
        true
    }

    /// The same for an acquisition that has to wait.
    pub(crate) fn look_at_waiter(self) -> Option<Taker> {
        let thread = self.thread;
        let weight = thread.waiting.pass(clock::now().cycles, 1, || thread.random())?;
        Some(Taker { site: self.taker()?, weight })
    }

    /// The site that takes a lock now.
    #[cold]
    #[inline(never)]
    fn taker(self) -> Option<UnitId> {
        // Not while the recorder measures itself.
        if self.thread.busy.get() {
            return None;
        }
        self.aside(|| {
            let caller = self.taking_caller();
            let _tables = self.lock_tables()?;
            self.site(&caller)
        })
    }

    /// Counts an event at the place of `taker`.
    #[cold]
    #[inline(never)]
    pub(crate) fn count_taker(self, lock: &LockBlock, taker: Taker, event: Event) {
        let Some(place) = self.place(lock, taker.site) else { return };
        match event {
            Event::Take => {
                place.acquisitions.fetch_add(taker.weight, Ordering::Relaxed);
            }
            Event::Wait(cycles) => {
                place.contended.fetch_add(taker.weight, Ordering::Relaxed);
                place.wait.fetch_add(cycles.saturating_mul(taker.weight), Ordering::Relaxed);
            }
        }
    }

    /// The record of a place at which `lock` is taken, made if there is none; `None` if there is no
    /// room.
    fn place(self, lock: &LockBlock, site: UnitId) -> Option<&'static CallerBlock> {
        let mut link = &lock.callers;
        for _ in 0..MOST_PLACES {
            let unit = match link.load(Ordering::Acquire) {
                0 => self.append(link, site)?,
                unit => unit,
            };
            let place = self.block::<CallerBlock>(unit)?;
            if place.site.load(Ordering::Relaxed) == site {
                return Some(place);
            }
            link = &place.next;
        }
        None
    }

    /// Adds a place at the end of a list, or finds the one that somebody else has just added.
    fn append(self, link: &core::sync::atomic::AtomicU32, site: UnitId) -> Option<UnitId> {
        let fresh = self.aside(|| {
            self.allocate(|place: *mut CallerBlock| {
                // SAFETY: a fresh block of zeros, known to this thread only.
                *unsafe { &mut *place }.site.get_mut() = site;
            })
        })?;
        match link.compare_exchange(0, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Some(fresh),
            // The loser of a race leaves an empty block behind.
            Err(theirs) => Some(theirs),
        }
    }
}
