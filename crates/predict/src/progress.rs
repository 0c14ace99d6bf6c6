//! How far a simulated point has got, and what was counted on the way.

use std::cell::{Cell, RefCell};

use kilocore_platform::{Cycles, Platform};
use kilocore_sim::Sim;

/// Batches whose means give the confidence interval.
const BATCHES: u64 = 20;

/// Counts finished sections, decides when to stop, and remembers when batches were full.
pub(crate) struct Progress {
    warm_up: u64,
    batch: u64,
    pub(crate) finished: Cell<u64>,
    batch_ends: RefCell<Vec<Cycles>>,
    pub(crate) by_thread: RefCell<Vec<u64>>,
    /// Cycles between asking for locks and having them.
    pub(crate) waited: Cell<u64>,
    /// Cycles in the operations of each lock of the workload.
    pub(crate) in_locks: RefCell<Vec<u64>>,
}

impl Progress {
    pub(crate) fn new(sections: u64, threads: u32, locks: usize) -> Self {
        let batch = sections.div_ceil(BATCHES).max(1);
        Self {
            warm_up: batch * BATCHES / 4,
            batch,
            finished: Cell::new(0),
            batch_ends: RefCell::new(Vec::new()),
            by_thread: RefCell::new(vec![0; threads as usize]),
            waited: Cell::new(0),
            in_locks: RefCell::new(vec![0; locks]),
        }
    }

    /// How many sections there will be.
    pub(crate) fn planned(&self) -> u64 {
        self.warm_up + self.batch * BATCHES
    }

    pub(crate) fn over(&self) -> bool {
        self.finished.get() >= self.planned()
    }

    pub(crate) fn finish(&self, thread: usize) {
        let finished = self.finished.get() + 1;
        self.finished.set(finished);
        self.by_thread.borrow_mut()[thread] += 1;
        if finished >= self.warm_up && (finished - self.warm_up).is_multiple_of(self.batch) {
            self.batch_ends.borrow_mut().push(Sim::now());
        }
    }

    /// Sections per second, and half of its 95 % confidence interval.
    pub(crate) fn throughput(&self, clock_ghz: f64) -> (f64, f64) {
        let ends = self.batch_ends.borrow();
        let ends = &ends[..ends.len().min(BATCHES as usize + 1)];
        let seconds = |cycles: u64| cycles as f64 / (clock_ghz * 1e9);
        let batches: Vec<f64> =
            ends.windows(2).map(|pair| seconds(pair[1].since(pair[0]).0.max(1))).collect();
        let n = batches.len() as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let variance = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let throughput = self.batch as f64 / mean;
        (throughput, throughput * STUDENT_T_19 * (variance / n).sqrt() / mean)
    }
}

/// The 97.5 % quantile of Student's distribution for 20 batches.
const STUDENT_T_19: f64 = 2.093;
