//! Lock-contention-aware scheduling: tasks that fight for a lock get just the cores on which they get
//! most done.
//!
//! On too many cores, tasks that need one lock spend the added cores on waiting, and beyond a point
//! their waiting slows the holder down: throughput collapses. Those tasks are confined to k cores, the
//! rest of the machine is free for others, and k is found while they run. It is the idea of Cui and
//! others, *Lock-contention-aware scheduler* (TACO 2013) and *A scheduling method for avoiding kernel
//! lock thrashing on multicores* (ICPADS 2010).
//!
//! # Where it departs from the paper
//! * The paper's thresholds, window and votes are not published. All of them are
//!   [options](LockAwareOptions), and `docs/evidence/sched-locks.md` shows what changing them does.
//! * There may be several groups of tasks, one for each set of locks that go together. The paper has
//!   one special set of cores.
//! * The paper searches over its model of throughput. Here the search measures what is done, by the
//!   model or by [acquisitions](Progress), and goes on: it probes neighbouring numbers now and then.
//! * Cores are given back, when contention ends or nothing is to be gained.

use alloc::vec::Vec;

use crate::confinement::Confinement;
pub use crate::confinement::LockAwareOptions;
use crate::machine::Machine;
use crate::order::Order;
use crate::policy::{GroupStatus, Policy};
use crate::steering::Steering;
use crate::window::Window;

/// Confines tasks that fight for locks to as many cores as serve them best.
#[derive(Debug)]
pub struct LockAware {
    steering: Steering<Confinement>,
}

impl LockAware {
    /// Makes a policy with these constants, that has seen no window.
    #[must_use]
    pub fn new(options: LockAwareOptions) -> Self {
        Self { steering: Steering::new(options) }
    }
}

impl Default for LockAware {
    fn default() -> Self {
        Self::new(LockAwareOptions::default())
    }
}

impl Policy for LockAware {
    fn name(&self) -> &'static str {
        "lock-aware"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        self.steering.window(machine, window)
    }

    fn groups(&self) -> Vec<GroupStatus> {
        self.steering.status()
    }
}
