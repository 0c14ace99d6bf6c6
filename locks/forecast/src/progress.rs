//! How far a simulated point has got, and what was counted on the way.
//!
//! A point with a core for each thread lasts for a number of sections. A point with more threads
//! than cores lasts for a number of time slices, because one has to look at many slices to see
//! threads take turns. Either ends earlier when its simulation gets too expensive: what was seen by
//! then is divided by the time that it took.

use std::cell::{Cell, RefCell};

use kilocore_platform::{Cycles, Platform};
use kilocore_sim::Sim;

/// The number of batches from whose means the confidence interval is computed.
const BATCHES: usize = 20;
/// A run that ends by time does not count its beginning: one part of this many.
const WARM_UP: usize = 5;

/// The [`Sim::effort`] after which a point with more threads than cores ends: some 30 ms of a
/// host's time.
const MOST_EFFORT: u64 = 300_000;
/// The same for a point with a core for each thread: some seconds. Only sections that contain very
/// much take so long, such as a hundred thousand other sections each.
const MOST_EFFORT_FOR_SECTIONS: u64 = 30_000_000;
/// The effort after which such a point is dear, and may do with fewer sections: some 100 ms.
const DEAR_EFFORT: u64 = 1_000_000;
/// How many times [`MOST_EFFORT`] a point may take if it does not have enough sections yet.
const PROLONGED: u64 = 2;
/// The fewest sections of all threads together that show anything.
const FEWEST: f64 = 100.0;

/// When a run ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    /// After this many sections that count, and a quarter as many before them that do not. A run whose
    /// simulation is dear ends once it has as many in all as the second number says.
    Sections(u64, Option<u64>),
    /// At this time if this many sections are finished by then, and otherwise as soon as they are.
    /// A run whose simulation costs too much ends earlier.
    Time(Cycles, u64),
}

/// Counts finished sections and decides when to stop.
#[derive(Debug)]
pub(crate) struct Progress {
    end: End,
    /// The time at which something was finished and how much it was, in sections. Sorted by time.
    finished: RefCell<Vec<(Cycles, f64)>>,
    /// The sum of all that was finished, in sections.
    sections: Cell<f64>,
    /// The time at which the run was stopped before it had the sections that were planned.
    stopped: Cell<Option<Cycles>>,
    pub(crate) by_thread: RefCell<Vec<f64>>,
    /// Cycles between asking for locks and holding them.
    pub(crate) waited: Cell<u64>,
    /// Cycles spent in the operations of each lock of the workload.
    pub(crate) in_locks: RefCell<Vec<u64>>,
}

impl Progress {
    pub(crate) fn new(end: End, threads: u32, locks: usize) -> Self {
        Self {
            end,
            finished: RefCell::default(),
            sections: Cell::new(0.0),
            stopped: Cell::new(None),
            by_thread: RefCell::new(vec![0.0; threads as usize]),
            waited: Cell::new(0),
            in_locks: RefCell::new(vec![0; locks]),
        }
    }

    /// Returns how many sections a run of `counted` sections has in all, with those that do not
    /// count.
    pub(crate) fn planned(counted: u64) -> u64 {
        let batch = batch(counted);
        (batch * BATCHES / 4 + batch * BATCHES) as u64
    }

    /// Whether threads have to stop.
    pub(crate) fn over(&self) -> bool {
        let finished = self.finished();
        if self.stopped.get().is_some() {
            return true;
        }
        let effort = Sim::effort();
        let stops = match self.end {
            End::Sections(counted, _) if finished >= Self::planned(counted) as f64 => return true,
            End::Sections(_, if_dear) => {
                let enough = if_dear.is_some_and(|sections| finished >= sections as f64);
                effort >= MOST_EFFORT_FOR_SECTIONS || (enough && effort >= DEAR_EFFORT)
            }
            End::Time(time, sections) => {
                let seen = Sim::now() >= time && finished >= sections as f64;
                let dear = effort >= MOST_EFFORT && finished >= FEWEST;
                seen || dear || effort >= MOST_EFFORT * PROLONGED
            }
        };
        if stops {
            self.stopped.set(Some(Sim::now()));
        }
        stops
    }

    /// How many sections are finished.
    pub(crate) fn finished(&self) -> f64 {
        self.sections.get()
    }

    /// Counts a section of a thread, or a part of one.
    pub(crate) fn finish(&self, thread: usize, sections: f64) {
        self.finished.borrow_mut().push((Sim::now(), sections));
        self.sections.set(self.sections.get() + sections);
        self.by_thread.borrow_mut()[thread] += sections;
    }

    /// Returns the sections per second, and half the width of their 95 % confidence interval.
    pub(crate) fn throughput(&self, clock_ghz: f64) -> (f64, f64) {
        let per_batch = match (self.end, self.stopped.get()) {
            (End::Sections(counted, _), None) => self.by_sections(counted),
            _ => self.by_time(),
        };
        let n = per_batch.len() as f64;
        // Batches with the same number of sections are weighted by the time that they took. Batches
        // of the same length are weighted by their sections. Either way, the result is all sections
        // divided by all time.
        let (sections, cycles) =
            per_batch.iter().fold((0.0, 0.0), |sum, batch| (sum.0 + batch.0, sum.1 + batch.1));
        // A run that is stopped because it costs too much may have finished nothing in the time that
        // counts. Its throughput is then known only to be less than one section in that time.
        let ratio = if sections > 0.0 { sections } else { 0.5 } / cycles;
        let variance =
            per_batch.iter().map(|(s, c)| (s - ratio * c).powi(2)).sum::<f64>() / (n - 1.0);
        let error = STUDENT_T_19 * (variance / n).sqrt() / (cycles / n);
        (ratio * clock_ghz * 1e9, error * clock_ghz * 1e9)
    }

    /// Batches with the same number of sections each. An item is the number of sections and of
    /// cycles.
    fn by_sections(&self, counted: u64) -> Vec<(f64, f64)> {
        let batch = batch(counted);
        let finished = self.finished.borrow();
        // A batch ends with whatever completes it. A part of that may belong to the next batch.
        let mut ends = Vec::with_capacity(BATCHES + 1);
        let mut sum = 0.0;
        for &(time, sections) in &*finished {
            sum += sections;
            let due = |ends: &Vec<_>| (batch * BATCHES / 4 + ends.len() * batch) as f64 - 1e-6;
            while ends.len() <= BATCHES && sum >= due(&ends) {
                ends.push(time);
            }
        }
        let cycles = |pair: &[Cycles]| pair[1].since(pair[0]).0.max(1) as f64;
        ends.windows(2).map(|pair| (batch as f64, cycles(pair))).collect()
    }

    /// Batches of the same length each. An item is the number of sections and of cycles.
    fn by_time(&self) -> Vec<(f64, f64)> {
        let end = self.stopped.get().unwrap_or(Cycles(0)).0.max(1) as f64;
        let start = end / WARM_UP as f64;
        let length = (end - start) / BATCHES as f64;
        let mut batches = vec![(0.0, length); BATCHES];
        for (time, sections) in &*self.finished.borrow() {
            let place = (time.0 as f64 - start) / length;
            if place >= 0.0
                && let Some(batch) = batches.get_mut(place as usize)
            {
                batch.0 += sections;
            }
        }
        batches
    }
}

fn batch(counted: u64) -> usize {
    (counted as usize).div_ceil(BATCHES).max(1)
}

/// The 97.5 % quantile of Student's distribution for 20 batches.
const STUDENT_T_19: f64 = 2.093;
