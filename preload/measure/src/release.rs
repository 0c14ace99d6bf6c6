//! Releasing a lock of any family. A release ends a hold and may begin a think time.

use core::sync::atomic::Ordering;

use crate::away::is_notable;
use crate::clock;
use crate::recorder::Recorder;
use crate::thread::{HELD, Held};

impl Recorder {
    /// Records that the calling thread is about to release the lock at `address`.
    #[inline(always)]
    pub(crate) fn releasing(self, address: usize) -> Released {
        let held = &self.thread.held[..self.thread.depth.get().min(HELD)];
        let Some(index) = held.iter().rposition(|held| held.get().object == address) else {
            return Released::QUIETLY;
        };
        if held[index].get().again != 0 {
            let entry = held[index].get();
            held[index].set(Held { again: entry.again - 1, ..entry });
            return Released::QUIETLY;
        }
        if self.thread.timed.get() {
            return self.releasing_timed(index);
        }
        self.remove(index);
        if self.thread.depth.get() == 0 && self.thread.times_next() {
            self.thread.last_release.set(clock::now().cycles);
        }
        Released::QUIETLY
    }

    /// Does the same for a lock in a section that is timed.
    #[inline(never)]
    fn releasing_timed(self, index: usize) -> Released {
        let now = clock::now().cycles;
        let held = &self.thread.held[..self.thread.depth.get().min(HELD)];
        if index + 1 < held.len() {
            self.hand_over(index, now);
        }
        let entry = held[index].get();
        let state = self.state();
        let overhead = state.hold_overhead.load(Ordering::Relaxed) + entry.inner;
        let mut own = now.saturating_sub(entry.start).saturating_sub(overhead);
        let mut outside = 0;
        let mut end = now;
        if is_notable(own, self.thread.weight.get()) {
            (own, outside) = self.on_processor(index, own, now);
            end = clock::now().cycles;
        }
        // SAFETY: the pointer is null or points to a block of the recording, which is never
        // unmapped.
        if let Some(shard) = unsafe { entry.shard.as_ref() } {
            let weight = self.weight_of(own, &self.thread.hold_debt, entry.lock, end);
            self.count_hold(shard, own, weight, entry.atomic);
        }
        if index > 0 {
            let outer = &held[index - 1];
            let value = outer.get();
            let around = state.think_overhead.load(Ordering::Relaxed);
            let taken = end.saturating_sub(entry.request) + around + outside;
            outer.set(Held { inner: value.inner + taken, ..value });
        }
        self.remove(index);
        if self.thread.depth.get() == 0 {
            self.count_think(end);
            self.thread.draw_skip(now);
            self.thread.last_release.set(end);
        }
        // SAFETY: the record lies in the recording, which is never unmapped.
        let waiters = unsafe { &(*entry.lock).waiters }.load(Ordering::Relaxed);
        if waiters != 0 { Released { at: end } } else { Released::QUIETLY }
    }

    /// Returns two numbers for a hold of `own` cycles that ends at `now`: how much of it was on the
    /// processor, and for how long the thread was away before the hold, inside the outer lock if
    /// there is one.
    #[cold]
    #[inline(never)]
    fn on_processor(self, index: usize, own: u64, now: u64) -> (u64, u64) {
        let away = self.settle(now);
        let inside = away.cycles.min(own);
        let outside = away.cycles - inside;
        if away.by_will {
            self.count_sleep(away.cycles, 0);
            let count = |index: usize, cycles| {
                let held: Held = self.thread.held[index].get();
                // SAFETY: the record lies in the recording, which is never unmapped.
                let asleep = unsafe { &(*held.lock).asleep[held.mode.index()] };
                asleep.fetch_add(self.weighted(cycles), Ordering::Relaxed);
            };
            count(index, inside);
            if let Some(around) = index.checked_sub(1) {
                count(around, outside);
            }
        }
        (own - inside, outside)
    }

    /// Is called after the release. Waking a waiter takes long, and this time is neither a hold nor
    /// a think time.
    #[inline(always)]
    pub(crate) fn released(self, released: Released) {
        if released.at != 0 {
            self.discount(clock::now().cycles.saturating_sub(released.at));
        }
    }
}

/// What the recorder knows about a release.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Released {
    /// The time of the release in cycles, if it is timed and a thread waits that it may wake.
    /// Otherwise 0.
    at: u64,
}

impl Released {
    /// No thread is woken, or the time does not matter.
    const QUIETLY: Self = Self { at: 0 };
}
