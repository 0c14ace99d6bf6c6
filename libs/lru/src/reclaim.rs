//! Reclaim from striped lists: which pages to do without.
//!
//! As in Linux, the oldest inactive pages are looked at, and active pages become inactive, the
//! oldest first, while there are too few inactive ones. Few frames of a stripe are looked at before
//! the next stripe is chosen: the next one in turn, or the one whose tail is the oldest. If no
//! inactive page can go, active ones are looked at, too. Without that, a buffer pool whose inactive
//! pages were all pinned had no room, though active ones could go.
//!
//! Where uses only count ([`Promotion::AtReclaim`]), reclaim first looks at the counts. An inactive page
//! that was used again becomes an active one. An active page that was used since it was last looked at
//! stays one, for one use less. So that this ends while others go on using pages, there is a limit to how
//! many pages of a reclaim are spared.

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::cluster::{CLUSTER, Cluster};
use crate::frame::{Class, FrameId, List};
use crate::options::{Promotion, ReclaimFrom};
use crate::page_lists::Fate;
use crate::stamp::Stamp;
use crate::state::{MOST_USES, State};
use crate::striped::{Striped, Turn, USES_TO_PROMOTE};
use crate::stripes::ListIndex;

/// So many frames of 4 KiB are a gibibyte.
const PER_GIB: u64 = 1 << 18;

/// How many pages of a class there are in all stripes.
#[derive(Debug, Clone, Copy)]
struct Counts {
    inactive: u32,
    active: u32,
}

impl Counts {
    /// Whether so many pages are active that some should become inactive. The inactive ones are a half of
    /// up to a gibibyte, and a smaller part of more.
    fn inactive_is_low(self) -> bool {
        let (inactive, active) = (u64::from(self.inactive), u64::from(self.active));
        let gibibytes = (inactive + active) / PER_GIB;
        let ratio = if gibibytes > 0 { (10 * gibibytes).isqrt() } else { 1 };
        inactive * ratio < active
    }
}

/// What has been done in a reclaim.
struct Progress {
    class: Class,
    /// So many pages may still be judged.
    unseen: u32,
    /// So many pages may still be spared because they were used.
    spares: u32,
    /// So many looks at stripes have found nothing, one after the other.
    in_vain: u32,
    /// So many pages were judged, one after the other, and none could go.
    kept: u32,
    /// Whether there are too few inactive pages.
    low: bool,
    /// So many inactive pages there are, as far as this thread knows.
    inactive: u32,
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Striped<P, L> {
    pub(crate) fn reclaim_from(
        &self,
        class: Class,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32 {
        let factor = self.layout().factor;
        let counts = self.counts(class);
        let all = counts.inactive + counts.active;
        // Nobody has to be spared more often than two bits can count, and once to become active.
        let spares = match self.order.policy.promotion {
            Promotion::AtUse => 0,
            Promotion::AtReclaim => all.saturating_mul(MOST_USES + 1),
        };
        let low = counts.inactive_is_low();
        let mut progress = Progress {
            class,
            unseen: all,
            spares,
            in_vain: 0,
            kept: 0,
            low,
            inactive: counts.inactive,
        };
        let (mut reclaimed, mut visits) = (0, 0);
        // The active pages of a stripe may become inactive only after all others' have.
        while reclaimed < target && progress.unseen > 0 && progress.in_vain < 2 * factor {
            // To add up all stripes takes time, and the balance changes slowly.
            if visits == factor {
                let counts = self.counts(class);
                visits = 0;
                progress.low = counts.inactive_is_low();
                progress.inactive = counts.inactive;
            }
            visits += 1;
            reclaimed += self.visit(&mut progress, target - reclaimed, judge);
        }
        reclaimed
    }

    /// Looks at some of the oldest pages of a stripe. Returns how many were given up.
    fn visit(
        &self,
        progress: &mut Progress,
        target: u32,
        judge: &mut dyn FnMut(FrameId) -> Fate,
    ) -> u32 {
        let most = target.min(progress.unseen).min(CLUSTER as u32);
        let in_vain = progress.in_vain > 0;
        let (taken, found) = if progress.kept >= progress.inactive && progress.kept > 0 {
            let active = List::active(progress.class);
            let taken = self.take_some(Turn::Deactivation, active, most, in_vain);
            let found = taken.frames();
            (taken, found)
        } else {
            let moved = if progress.low { self.deactivate_some(progress) } else { 0 };
            progress.inactive += moved;
            let inactive = List::inactive(progress.class);
            let taken = self.take_some(Turn::Reclaim, inactive, most, in_vain);
            let found = moved + taken.frames();
            (self.promote_used(progress, taken), found)
        };
        let seen = taken.frames();
        progress.in_vain = if found == 0 { progress.in_vain + 1 } else { 0 };
        // The last folio may have more frames than were asked for.
        progress.unseen = progress.unseen.saturating_sub(seen);
        let gained = self.judge(taken, judge);
        progress.kept = if gained > 0 { 0 } else { progress.kept + seen };
        gained
    }

    fn counts(&self, class: Class) -> Counts {
        Counts {
            inactive: self.count(List::inactive(class)),
            active: self.count(List::active(class)),
        }
    }

    /// Takes at most so many of the oldest frames of a list off, from one stripe.
    ///
    /// The oldest tail may be that of a stripe whose frames are being taken off by others. So after a look
    /// that was in vain, stripes come in turn.
    fn take_some(&self, turn: Turn, list: List, most: u32, in_vain: bool) -> Cluster {
        let list = ListIndex::of(list);
        let (stripe, until): (u32, Option<Stamp>) = match self.order.policy.from {
            ReclaimFrom::OldestTail if !in_vain => {
                let Some(oldest) = self.stripes.oldest_tail(list) else { return Cluster::EMPTY };
                oldest
            }
            _ => (self.order.next(turn, self.layout().factor), None),
        };
        let mut taken = Cluster::EMPTY;
        self.take_oldest(stripe, list, most, until, &mut taken);
        taken
    }

    /// Makes the oldest active pages of a stripe inactive. Returns how many pages it has looked at.
    fn deactivate_some(&self, progress: &mut Progress) -> u32 {
        let active = List::active(progress.class);
        let mut taken =
            self.take_some(Turn::Deactivation, active, CLUSTER as u32, progress.in_vain > 0);
        let (seen, mut spared, mut cold) = (taken.frames(), Cluster::EMPTY, Cluster::EMPTY);
        while let Some(folio) = taken.pop() {
            let used = progress.spares > 0 && self.state(folio.head).uses() > 0;
            progress.spares -= u32::from(used);
            if used { &mut spared } else { &mut cold }.push(folio);
        }
        let one_less = |state: State| state.with_uses(state.uses().saturating_sub(1));
        // SAFETY: this thread has taken them off their list.
        unsafe {
            self.link_all(spared, one_less);
            self.link_all(cold, |state| state.without(State::ACTIVE));
        }
        seen
    }

    /// Makes those pages active that were used again. Returns the others.
    fn promote_used(&self, progress: &mut Progress, mut taken: Cluster) -> Cluster {
        if progress.spares == 0 {
            return taken;
        }
        let (mut used, mut others) = (Cluster::EMPTY, Cluster::EMPTY);
        while let Some(folio) = taken.pop() {
            let again = progress.spares > 0 && self.state(folio.head).uses() >= USES_TO_PROMOTE;
            progress.spares -= u32::from(again);
            if again { &mut used } else { &mut others }.push(folio);
        }
        // SAFETY: this thread has taken them off their list.
        unsafe { self.link_all(used, |state| state.activated().with_uses(0)) };
        others
    }
}
