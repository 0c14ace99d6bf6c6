//! Which of several locks to take.
//!
//! The highest throughput alone would be a poor guide: forecasts err, so that locks which end nearly
//! alike are equals, and which of them is highest is chance. So a choice has two steps. All that
//! are *as good* as the highest contend, and among these something else decides that does not hang
//! on small differences. How near is as good, and what decides, is the caller's to say.

use std::cmp::Ordering;

/// The best of some candidates, and all that are as good.
#[derive(Debug, Clone)]
pub struct Contenders<'a, C> {
    highest: &'a C,
    as_good: Vec<&'a C>,
}

impl<'a, C> Contenders<'a, C> {
    /// Those of the candidates that are as good as the highest; none without candidates.
    ///
    /// `end` is the throughput of a candidate where they are compared. A candidate is as good if
    /// `within` times its throughput reaches the highest: at 1.25, one with 80 % of the highest.
    ///
    /// ```
    /// use kilocore_figures::Contenders;
    ///
    /// let ends = [("mcs", 100.0), ("cna", 98.0), ("ticket", 20.0)];
    /// let contenders = Contenders::among(&ends, |lock| lock.1, 1.03).unwrap();
    /// assert_eq!(contenders.highest().0, "mcs");
    /// // Either is as good: here the first by name is preferred.
    /// assert_eq!(contenders.preferred(|a, b| a.0.cmp(b.0)).unwrap().0, "cna");
    /// ```
    #[must_use]
    pub fn among(
        candidates: impl IntoIterator<Item = &'a C>,
        end: impl Fn(&C) -> f64,
        within: f64,
    ) -> Option<Self> {
        let candidates: Vec<&C> = candidates.into_iter().collect();
        let highest = candidates.iter().copied().max_by(|a, b| end(*a).total_cmp(&end(*b)))?;
        let near = |candidate: &&C| end(*candidate) * within >= end(highest);
        Some(Self { highest, as_good: candidates.into_iter().filter(near).collect() })
    }

    /// The one with the highest throughput; of several that are alike, the last.
    #[must_use]
    pub fn highest(&self) -> &'a C {
        self.highest
    }

    /// Keeps those contenders for which `keep` returns true.
    pub fn retain(&mut self, keep: impl Fn(&C) -> bool) {
        self.as_good.retain(|candidate| keep(*candidate));
    }

    /// The one that comes first in this order; of several that do, the first of the candidates.
    /// None if all were turned away.
    #[must_use]
    pub fn preferred(&self, order: impl Fn(&C, &C) -> Ordering) -> Option<&'a C> {
        self.as_good.iter().copied().min_by(|a, b| order(*a, *b))
    }

    /// All contenders, in the order of the candidates.
    pub fn iter(&self) -> impl Iterator<Item = &'a C> {
        self.as_good.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::Contenders;

    #[test]
    fn those_that_are_as_good_contend_and_no_others() {
        let ends = [5.0, 4.0, 3.9, 1.0];
        let mut contenders = Contenders::among(&ends, |end| *end, 1.25).unwrap();
        assert_eq!(contenders.iter().collect::<Vec<_>>(), [&5.0, &4.0]);
        assert_eq!(contenders.preferred(f64::total_cmp), Some(&4.0));
        contenders.retain(|end| *end > 4.5);
        assert_eq!(contenders.preferred(f64::total_cmp), Some(&5.0));
        contenders.retain(|_| false);
        assert_eq!((contenders.preferred(f64::total_cmp), contenders.highest()), (None, &5.0));
    }

    #[test]
    fn nobody_is_best_of_none() {
        assert!(Contenders::among(&[], |end: &f64| *end, 1.1).is_none());
    }
}
