//! What is measured: times of initializations, allocations and releases, and where pages were.

use std::cell::{Cell, RefCell};

use kilocore_platform::Cycles;
use kilocore_sim::Found;
use serde::{Deserialize, Serialize};

use crate::Latency;

/// The shares of initialized lines by where they were, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// In the core's private cache.
    pub private: f64,
    /// In its last-level cache.
    pub shared: f64,
    /// In another core's private cache.
    pub other_core: f64,
    /// In memory, as no cache had them.
    pub memory: f64,
}

/// A sum and how many it is of.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    cycles: u64,
    count: u64,
}

impl Sum {
    fn plus(self, cycles: Cycles) -> Self {
        Sum { cycles: self.cycles + cycles.0, count: self.count + 1 }
    }

    fn mean(self) -> f64 {
        self.cycles as f64 / self.count.max(1) as f64
    }
}

/// Measures everything between its opening and the end. It is not part of what is simulated.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    open: Cell<bool>,
    opened: Cell<Cycles>,
    closed: Cell<Cycles>,
    allocations: Cell<Sum>,
    releases: Cell<Sum>,
    found: Cell<Found>,
    initializations: RefCell<Vec<u64>>,
}

impl Meter {
    pub(crate) fn open(&self, now: Cycles) {
        if !self.open.replace(true) {
            self.opened.set(now);
        }
    }

    pub(crate) fn allocated(&self, took: Cycles, now: Cycles) {
        if self.open.get() {
            self.allocations.set(self.allocations.get().plus(took));
            self.closed.set(self.closed.get().max(now));
        }
    }

    pub(crate) fn released(&self, took: Cycles) {
        if self.open.get() {
            self.releases.set(self.releases.get().plus(took));
        }
    }

    pub(crate) fn initialized(&self, took: Cycles, found: Found) {
        if self.open.get() {
            self.initializations.borrow_mut().push(took.0);
            self.found.set(self.found.get() + found);
        }
    }

    pub(crate) fn mean_allocation(&self) -> f64 {
        self.allocations.get().mean()
    }

    pub(crate) fn mean_release(&self) -> f64 {
        self.releases.get().mean()
    }

    /// Pages allocated in a cycle of the machine.
    pub(crate) fn pages_per_cycle(&self) -> f64 {
        let time = self.closed.get().since(self.opened.get()).0.max(1);
        self.allocations.get().count as f64 / time as f64
    }

    pub(crate) fn latency(&self) -> Latency {
        let mut all = self.initializations.borrow().clone();
        all.sort_unstable();
        Latency::of_sorted(&all)
    }

    pub(crate) fn shares(&self) -> Shares {
        let found = self.found.get();
        let share = |lines: u32| f64::from(lines) / f64::from(found.lines().max(1));
        Shares {
            private: share(found.own),
            shared: share(found.shared),
            other_core: share(found.other_core),
            memory: share(found.memory),
        }
    }
}
