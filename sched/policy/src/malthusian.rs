//! Concurrency restriction: just as many cores as keep the lock busy.
//!
//! Dice's *Malthusian Locks* (EuroSys 2017) takes waiters out of circulation while more than one waits,
//! and lets one come back when none does. This is the same rule at the scale of a scheduler, as a rival
//! of lock-contention-aware scheduling: one core less after a window in which more than one task waited
//! on average, and one more after a window in which hardly any did. Unlike the lock, it does not see
//! each acquisition; and it sees no throughput.

use alloc::vec::Vec;

use crate::controller::{Controller, Observation};
use crate::machine::Machine;
use crate::order::Order;
use crate::policy::{GroupState, GroupStatus, Policy};
use crate::score::Progress;
use crate::steering::Steering;
use crate::window::Window;

/// With more waiters than this on average, in millionths, one is taken out of circulation.
const SURPLUS: u64 = 1_000_000;
/// With fewer than this, one comes back.
const DEFICIT: u64 = 250_000;

/// Confines tasks that fight for a lock to as many cores as keep it busy.
#[derive(Debug)]
pub struct Malthusian {
    steering: Steering<Culling>,
}

impl Default for Malthusian {
    fn default() -> Self {
        Self { steering: Steering::new(()) }
    }
}

impl Policy for Malthusian {
    fn name(&self) -> &'static str {
        "malthusian"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        self.steering.window(machine, window)
    }

    fn groups(&self) -> Vec<GroupStatus> {
        self.steering.status()
    }
}

/// The rule for one group.
#[derive(Debug)]
struct Culling {
    cores: Option<u32>,
}

impl Controller for Culling {
    type Options = ();

    fn new((): ()) -> Self {
        Self { cores: None }
    }

    fn progress(&self) -> Option<Progress> {
        None
    }

    fn observe(&mut self, seen: &Observation) -> Option<u32> {
        let cores = self.cores.unwrap_or(seen.most).min(seen.most);
        let waiters = u64::from(cores) * u64::from(seen.waiting.as_millionths());
        let next = if waiters > SURPLUS && cores > 1 {
            cores - 1
        } else if waiters < DEFICIT && seen.starved {
            cores + 1
        } else {
            cores
        };
        self.cores = (next < seen.most).then_some(next);
        self.cores
    }

    fn state(&self) -> GroupState {
        if self.cores.is_some() { GroupState::Holding } else { GroupState::Free }
    }

    fn best(&self) -> u32 {
        self.cores.unwrap_or(1)
    }
}
