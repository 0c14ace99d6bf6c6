//! The caller of reclaim decides about pages that were taken off.

use core::mem;

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::cluster::Cluster;
use crate::frame::FrameId;
use crate::order::Order;
use crate::ordered::Ordered;
use crate::page_lists::Fate;

impl<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> Ordered<P, L, O> {
    /// Decides about folios that this thread has taken off. Returns how many frames are given up. The
    /// others go back as the newest of their lists.
    pub(crate) fn judge(&self, cluster: Cluster, judge: &mut dyn FnMut(FrameId) -> Fate) -> u32 {
        let mut judging = Judging { lists: self, unjudged: cluster, kept: Cluster::EMPTY };
        let mut reclaimed = 0;
        // It is in `unjudged` while its fate is decided, in case that panics.
        while let Some(folio) = judging.unjudged.first() {
            let fate = judge(folio.head);
            judging.unjudged.pop();
            match fate {
                Fate::Reclaim => {
                    // SAFETY: it was taken off its list by this thread, and goes back to none.
                    unsafe { self.give_up(folio) };
                    reclaimed += folio.order.frames();
                }
                Fate::Activate => {
                    self.activate_isolated(folio.head);
                    judging.kept.push(folio);
                }
                Fate::Keep => judging.kept.push(folio),
            }
        }
        reclaimed
    }
}

/// Folios that reclaim has taken off. What was not reclaimed goes back at the end.
struct Judging<'a, P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> {
    lists: &'a Ordered<P, L, O>,
    unjudged: Cluster,
    kept: Cluster,
}

impl<P: Platform, L: RawLock<P, Thread = ()>, O: Order<P>> Drop for Judging<'_, P, L, O> {
    fn drop(&mut self) {
        for cluster in [&mut self.kept, &mut self.unjudged] {
            let cluster = mem::replace(cluster, Cluster::EMPTY);
            // SAFETY: this thread has taken them off their lists, and did not remove them.
            unsafe { self.lists.link_all(cluster, |state| self.lists.order.kept(state)) };
        }
    }
}
