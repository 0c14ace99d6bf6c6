//! The search for the number of cores on which a group of tasks gets most done.
//!
//! What is done rises with the number of cores up to a peak and falls from there on, or stays level.
//! The search begins with the cores that are useful while all are used: contention wastes the others,
//! so the peak is hardly at fewer. From there it doubles the number until less is done, and then halves
//! the wider of the two gaps beside the best number, until its neighbours are known. On the steep side
//! of the peak even noisy measurements differ clearly, and most of the way leads there; a search by
//! golden section would begin on the level far side, where they do not.

use alloc::vec::Vec;

use crate::score::Score;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Measure with so many cores, of which that is the precision needed.
    Measure {
        /// How many cores the tasks share.
        cores: u32,
        /// Whether neighbouring numbers are told apart by now.
        fine: bool,
    },
    /// Nothing: this is the best number of cores.
    Done {
        /// How many cores the tasks share.
        cores: u32,
    },
}

/// A search under way.
#[derive(Debug, Clone)]
pub struct Search {
    most: u32,
    start: u32,
    /// Numbers of cores that have been measured, in rising order.
    tried: Vec<(u32, Score)>,
}

impl Search {
    /// A search among 1 to `most` cores that begins at `start`; both at least 1.
    #[must_use]
    pub fn new(most: u32, start: u32) -> Self {
        let most = most.max(1);
        Self { most, start: start.clamp(1, most), tried: Vec::new() }
    }

    /// What has been measured with so many cores: anything that compares, such as acquisitions per
    /// time. A number of cores outside of the range is ignored.
    pub fn measured(&mut self, cores: u32, done: u64) {
        if cores == 0 || cores > self.most {
            return;
        }
        match self.tried.binary_search_by_key(&cores, |tried| tried.0) {
            Ok(known) => self.tried[known].1 = Score(done),
            Err(place) => self.tried.insert(place, (cores, Score(done))),
        }
    }

    /// What to do next.
    #[must_use]
    pub fn next(&self) -> Step {
        let known = |cores: u32| self.tried.iter().any(|tried| tried.0 == cores);
        if !known(self.start) {
            return Step::Measure { cores: self.start, fine: false };
        }
        let best = self.best();
        let cores = self.tried[best].0;
        let below = if best == 0 { 0 } else { self.tried[best - 1].0 };
        let above = self.tried.get(best + 1).map_or(self.most + 1, |tried| tried.0);
        let (down, up) = (cores - below, above - cores);
        // The gaps as ratios, `above / cores` and `cores / below`, without division.
        let up_is_wider =
            u64::from(above) * u64::from(below) >= u64::from(cores) * u64::from(cores);
        let next = match (down > 1, up > 1) {
            (false, false) => return Step::Done { cores },
            (_, true) if below == 0 || up_is_wider || down <= 1 => {
                (cores + up / 2).min(cores * 2).min(self.most)
            }
            _ => below + down / 2,
        };
        let nearest = next.abs_diff(cores);
        Step::Measure { cores: next, fine: nearest * 2 <= cores }
    }

    /// What was measured with so many cores, nothing if that was not.
    pub(crate) fn score_of(&self, cores: u32) -> Score {
        let tried = self.tried.iter().find(|tried| tried.0 == cores);
        tried.map_or(Score(0), |tried| tried.1)
    }

    /// The position of the best number, of several the smallest.
    fn best(&self) -> usize {
        let mut best = 0;
        for (index, tried) in self.tried.iter().enumerate() {
            if tried.1 > self.tried[best].1 {
                best = index;
            }
        }
        best
    }
}
