//! Reclaim: which pages to do without.
//!
//! As in Linux, the oldest inactive pages are looked at, and active pages become inactive, the oldest
//! first, while there are too few inactive ones. Stripes come in turn, and few frames of each are
//! looked at, so that all stripes lose as many. If no inactive page can go, active ones are looked at, too.

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::cluster::{CLUSTER, Cluster};
use crate::frame::{Class, FrameId, List};
use crate::held::Held;
use crate::page_lists::Fate;
use crate::state::State;
use crate::striped::{Place, Striped, Turn};

/// So many frames of 4 KiB are a gibibyte.
const PER_GIB: u64 = 1 << 18;

impl<P: Platform, L: RawLock<P, Thread = ()>> Striped<P, L> {
    pub(crate) fn reclaim_from(
        &self,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32 {
        let factor = self.layout().factor;
        let inactive = List::inactive(class);
        let mut unseen = self.total(inactive) + self.total(List::active(class));
        let (mut reclaimed, mut visits, mut in_vain) = (0, 0, 0);
        let (mut low, mut fruitless, mut kept) = (false, false, 0);
        // The active pages of a stripe may become inactive only after all others' have.
        while reclaimed < target && unseen > 0 && in_vain < 2 * factor {
            // To add up all stripes takes time, and the balance changes slowly.
            if visits % factor == 0 {
                low = self.inactive_is_low(class);
                fruitless = kept >= self.total(inactive);
            }
            visits += 1;
            let most = (target - reclaimed).min(unseen).min(CLUSTER as u32);
            let mut cluster = Cluster::EMPTY;
            if fruitless {
                let stripe = self.next(Turn::Deactivation);
                self.take_oldest(stripe, List::active(class), most as usize, &mut cluster);
            } else {
                if low {
                    self.deactivate_some(class);
                }
                let stripe = self.next(Turn::Reclaim);
                self.take_oldest(stripe, inactive, most as usize, &mut cluster);
            }
            let seen = cluster.len() as u32;
            in_vain = if seen == 0 { in_vain + 1 } else { 0 };
            unseen -= seen;
            let gained = self.judge(cluster, judge);
            reclaimed += gained;
            kept = if gained > 0 { 0 } else { kept + seen };
        }
        reclaimed
    }

    /// Whether so many pages are active that some should become inactive. The inactive ones are a fourth
    /// of a gibibyte, and a smaller part of more.
    fn inactive_is_low(&self, class: Class) -> bool {
        let inactive = u64::from(self.total(List::inactive(class)));
        let active = u64::from(self.total(List::active(class)));
        let gibibytes = (inactive + active) / PER_GIB;
        let ratio = if gibibytes > 0 { (10 * gibibytes).isqrt() } else { 1 };
        inactive * ratio < active
    }

    /// Makes the oldest active pages of a stripe inactive.
    fn deactivate_some(&self, class: Class) {
        let mut cluster = Cluster::EMPTY;
        let stripe = self.next(Turn::Deactivation);
        self.take_oldest(stripe, List::active(class), CLUSTER, &mut cluster);
        let mut held = Held::none(self.stripes());
        while let Some(frame) = cluster.pop() {
            let inactive = |state: State| state.without(State::ACTIVE);
            // SAFETY: this thread has taken it off its list.
            unsafe { self.link(&mut held, frame, Place::Newest, inactive) };
        }
    }

    /// Decides about pages that were taken off. Returns how many are reclaimed.
    fn judge(&self, cluster: Cluster, judge: &mut dyn FnMut(FrameId) -> Fate) -> u32 {
        let mut judging = Judging { lists: self, unjudged: cluster, kept: Cluster::EMPTY };
        let mut reclaimed = 0;
        // It is in `unjudged` while its fate is decided, in case that panics.
        while let Some(frame) = judging.unjudged.first() {
            let fate = judge(frame);
            judging.unjudged.pop();
            match fate {
                Fate::Reclaim => {
                    // SAFETY: it was taken off its list by this thread, and goes back to none.
                    unsafe { self.remove(frame) };
                    reclaimed += 1;
                }
                Fate::Activate => {
                    self.activate_isolated(frame);
                    judging.kept.push(frame);
                }
                Fate::Keep => judging.kept.push(frame),
            }
        }
        reclaimed
    }
}

/// Pages that reclaim has taken off. What was not reclaimed goes back at the end.
struct Judging<'a, P: Platform, L: RawLock<P, Thread = ()>> {
    lists: &'a Striped<P, L>,
    unjudged: Cluster,
    kept: Cluster,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Drop for Judging<'_, P, L> {
    fn drop(&mut self) {
        let mut held = Held::none(self.lists.stripes());
        for cluster in [&mut self.kept, &mut self.unjudged] {
            while let Some(frame) = cluster.pop() {
                // SAFETY: this thread has taken it off its list, and did not remove it.
                unsafe { self.lists.link(&mut held, frame, Place::Newest, |state| state) };
            }
        }
    }
}
