//! How far the simulation of a point has got, and where its time went.

use std::cell::Cell;

use kilocore_platform::Cycles;

/// The progress of all tasks together. It is not part of what is simulated.
#[derive(Debug)]
pub(crate) struct Progress {
    /// Pieces that end before this time are not counted. It is put off while too few pieces have
    /// ended for schemes that adapt.
    pub(crate) warm: Cell<Cycles>,
    /// Pieces that end after this time are not counted either. It is put off while too few are
    /// counted.
    pub(crate) end: Cell<Cycles>,
    /// By how much these times are put off, and how many more times that may happen.
    pub(crate) step: Cycles,
    pub(crate) steps_left: Cell<u32>,
    /// Pieces that ended before the first that is counted, and pieces that are counted.
    pub(crate) unseen: Cell<u64>,
    pub(crate) pieces: Cell<u64>,
    /// How many there should be of each.
    pub(crate) wanted_unseen: u64,
    pub(crate) wanted: u64,
    /// Tasks that have not reached the end yet. The other tasks go on working until all have
    /// reached it, so that the load stays the same.
    pub(crate) running: Cell<u32>,
    pub(crate) tasks: u32,
    /// Where the tasks' time went while pieces were counted.
    pub(crate) spent: Cell<Spent>,
    /// Updates and walks of the reverse mapping while pieces were counted.
    pub(crate) updates: Cell<u64>,
    pub(crate) walks: Cell<u64>,
}

/// Where time went, in cycles.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    /// All time that has passed, summed over the tasks.
    pub(crate) all: u64,
    /// The time in which the tasks had a core.
    pub(crate) busy: u64,
    /// The time in which the tasks computed in user mode.
    pub(crate) user: u64,
}

impl Spent {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            all: self.all - before.all,
            busy: self.busy - before.busy,
            user: self.user - before.user,
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            all: self.all + other.all,
            busy: self.busy + other.busy,
            user: self.user + other.user,
        }
    }
}

impl Progress {
    /// Counts a piece that ended at `now`. Pieces are counted nearly in the order of time.
    pub(crate) fn count(&self, now: Cycles) {
        let put_off = |what: &Cell<Cycles>| what.set(Cycles(what.get().0 + self.step.0));
        let step = || {
            let left = self.steps_left.get();
            self.steps_left.set(left.saturating_sub(1));
            left > 0
        };
        if self.pieces.get() == 0 {
            while now > self.warm.get() && self.unseen.get() < self.wanted_unseen && step() {
                put_off(&self.warm);
                put_off(&self.end);
            }
        }
        if now <= self.warm.get() {
            self.unseen.set(self.unseen.get() + 1);
            return;
        }
        if self.running.get() == self.tasks {
            while now > self.end.get() && self.pieces.get() < self.wanted && step() {
                put_off(&self.end);
            }
        }
        if now <= self.end.get() {
            self.pieces.set(self.pieces.get() + 1);
        }
    }

    /// Whether things that happen now are counted.
    pub(crate) fn counting(&self, now: Cycles) -> bool {
        (self.warm.get()..self.end.get()).contains(&now)
    }
}
