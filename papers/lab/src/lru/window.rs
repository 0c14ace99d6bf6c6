//! The time in which folios are counted. A page by itself is one.
//!
//! All processes work without an end, so that the load stays the same. The window opens when they
//! have done so many folios together, and closes so many folios later. Then all of them end.

use std::cell::Cell;

use kilocore_platform::Cycles;

/// Progress of all processes together, in folios. It is not part of what is simulated.
#[derive(Debug)]
pub(crate) struct Window {
    /// Folios before the first that is counted, and folios up to the last that is.
    warm: u64,
    all: u64,
    done: Cell<u64>,
    opened: Cell<Cycles>,
    closed: Cell<Cycles>,
    /// Time that processes spent in additions, and waiting in them, while the window was open.
    adding: Cell<Cycles>,
    waiting: Cell<Cycles>,
}

impl Window {
    pub(crate) fn new(warm: u64, counted: u64) -> Self {
        let zero = || Cell::new(Cycles(0));
        Self {
            warm,
            all: warm + counted,
            done: Cell::new(0),
            opened: zero(),
            closed: zero(),
            adding: zero(),
            waiting: zero(),
        }
    }

    /// Counts a folio that was done at `now`. Folios come in the order of time.
    pub(crate) fn count(&self, now: Cycles) {
        let done = self.done.get() + 1;
        self.done.set(done);
        if done == self.warm {
            self.opened.set(now);
        }
        if done == self.all {
            self.closed.set(now);
        }
    }

    /// Counts the time of an addition.
    pub(crate) fn count_addition(&self, adding: Cycles, waiting: Cycles) {
        if (self.warm..self.all).contains(&self.done.get()) {
            self.adding.set(self.adding.get() + adding);
            self.waiting.set(self.waiting.get() + waiting);
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.done.get() >= self.all
    }

    /// Folios in each cycle.
    pub(crate) fn folios_per_cycle(&self) -> f64 {
        let time = self.closed.get().since(self.opened.get());
        (self.all - self.warm) as f64 / time.0 as f64
    }

    /// Which part of the additions' time was waiting for locks; 0 if there were none.
    pub(crate) fn wait_share(&self) -> f64 {
        match self.adding.get().0 {
            0 => 0.0,
            adding => self.waiting.get().0 as f64 / adding as f64,
        }
    }
}
