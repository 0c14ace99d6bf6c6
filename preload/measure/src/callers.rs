//! The places where a lock is taken, and where threads wait for it.
//!
//! A stack walk takes microseconds. So the caller is determined only for some acquisitions, before
//! the lock is requested. They are chosen from the timed acquisitions, and separately from those
//! that have to wait; each of the two has its own [pace](crate::pace). A chosen acquisition stands
//! for the ones before it that were skipped.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::{CallerBlock, LockBlock, UnitId};

use crate::clock;
use crate::recorder::Recorder;

/// The largest number of places that are recorded for one lock.
const MOST_PLACES: usize = 32;

/// The caller of an acquisition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taker {
    /// The site of the caller.
    pub(crate) site: UnitId,
    /// The number of acquisitions that this one stands for.
    pub(crate) weight: u64,
}

/// An event of an acquisition that is counted at its place.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Event {
    /// The lock was acquired.
    Take,
    /// The acquisition had to wait for this number of cycles.
    Wait(u64),
}

impl Recorder {
    /// Is called when a timed acquisition is requested. Determines the caller if it is this
    /// acquisition's turn, and returns whether it has done so.
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

    /// Does the same for an acquisition that has to wait. Returns the caller if it was determined.
    pub(crate) fn look_at_waiter(self) -> Option<Taker> {
        let thread = self.thread;
        let weight = thread.waiting.pass(clock::now().cycles, 1, || thread.random())?;
        Some(Taker { site: self.taker()?, weight })
    }

    /// Returns the site that takes a lock now.
    #[cold]
    #[inline(never)]
    fn taker(self) -> Option<UnitId> {
        // The recorder's own mutex is not looked at while the recorder measures itself.
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

    /// Returns the record of a place at which `lock` is taken. Makes the record if there is none.
    /// Returns `None` if there is no room.
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

    /// Adds a place at the end of a list, or returns the place that another thread has just added.
    fn append(self, link: &core::sync::atomic::AtomicU32, site: UnitId) -> Option<UnitId> {
        let fresh = self.aside(|| {
            self.allocate(|place: *mut CallerBlock| {
                // SAFETY: the block is new and zeroed, and only this thread knows it.
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
