//! What threads were born with: the masks that their creators had.

use std::collections::{BTreeMap, BTreeSet};

use kilocore_sched_policy::CpuSet;

use crate::births::{Birth, Births};

/// What a thread was born with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The process that the thread belongs to.
    pub(crate) process: u32,
    /// The process of its creator.
    pub(crate) creator: u32,
    /// Where its creator's owner let that run.
    pub(crate) allowed: CpuSet,
    /// Where its creator may have been ordered to run when it was born.
    pub(crate) sets: Vec<CpuSet>,
}

impl Origin {
    /// The allowance of who was born with this and has this mask, if it must have inherited the mask.
    pub(crate) fn inherited(&self, mask: &CpuSet) -> Option<&CpuSet> {
        (self.allowed != *mask && self.sets.contains(mask)).then_some(&self.allowed)
    }
}

/// Threads that were born since they were listed last.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    births: Option<Box<dyn Births>>,
    fresh: BTreeMap<u32, Origin>,
    /// Threads of which it is not known yet who has created them.
    waiting: BTreeSet<u32>,
}

impl Lineage {
    /// From now on, births are told.
    pub(crate) fn follow(&mut self, births: Box<dyn Births>) {
        self.births = Some(births);
    }

    /// Whether all births were told so far.
    pub(crate) fn is_complete(&self) -> bool {
        self.births.as_ref().is_some_and(|births| births.is_complete())
    }

    /// Takes what has happened since the last call. `known` says what a child of a thread that was listed is
    /// born with.
    pub(crate) fn take(&mut self, known: &dyn Fn(u32) -> Option<Origin>) {
        for birth in self.births.iter_mut().flat_map(|births| births.take()) {
            match birth {
                Birth::Born { process, thread, creator } => {
                    let origin = self
                        .fresh
                        .get(&creator)
                        .cloned()
                        .map(|origin| Origin { creator: origin.process, ..origin });
                    match origin.or_else(|| known(creator)) {
                        Some(origin) => {
                            self.fresh.insert(thread, Origin { process, ..origin });
                        }
                        // A number that was one of ours may be another's by now.
                        None => drop(self.fresh.remove(&thread)),
                    }
                }
                Birth::Ended(thread) => drop(self.fresh.remove(&thread)),
            }
        }
    }

    /// Threads that have not been met, with what they were born with.
    pub(crate) fn fresh(&self) -> impl Iterator<Item = &Origin> {
        self.fresh.values()
    }

    /// A thread is met: what it was born with.
    pub(crate) fn meet(&mut self, thread: u32) -> Option<Origin> {
        let origin = self.fresh.remove(&thread);
        if origin.is_some() {
            self.waiting.remove(&thread);
        }
        origin
    }

    /// Whether there are threads of which it may yet be told who has created them.
    pub(crate) fn waits(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether it may yet be told who has created a thread: its record comes a moment after it is seen.
    pub(crate) fn may_be_told(&mut self, thread: u32) -> bool {
        // A second time, it is not.
        self.births.is_some() && !self.waiting.remove(&thread) && self.waiting.insert(thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Played(Vec<Vec<Birth>>);

    impl Births for Played {
        fn take(&mut self) -> Vec<Birth> {
            if self.0.is_empty() { Vec::new() } else { self.0.remove(0) }
        }
        fn is_complete(&self) -> bool {
            true
        }
    }

    fn born(thread: u32, creator: u32) -> Birth {
        Birth::Born { process: thread, thread, creator }
    }

    #[test]
    fn a_child_of_a_child_that_has_ended_has_what_the_first_had() {
        let mut lineage = Lineage::default();
        let first = Origin {
            process: 1,
            creator: 1,
            allowed: CpuSet::first(4),
            sets: vec![CpuSet::first(1)],
        };
        let known = |thread| (thread == 1).then(|| first.clone());
        lineage.follow(Box::new(Played(vec![
            vec![born(2, 1), born(3, 2), Birth::Ended(2), born(9, 8)],
            vec![born(4, 3), Birth::Ended(3), born(3, 8)],
        ])));
        lineage.take(&known);
        assert_eq!(lineage.meet(2), None, "it has ended");
        assert_eq!(lineage.meet(9), None, "a stranger's");
        lineage.take(&known);
        let last = Origin { process: 4, creator: 3, ..first };
        assert_eq!(lineage.meet(4), Some(last));
        assert_eq!(lineage.meet(3), None, "the number is a stranger's by now");
    }

    #[test]
    fn who_is_not_told_of_is_waited_for_once() {
        let mut lineage = Lineage::default();
        assert!(!lineage.may_be_told(5), "nobody tells");
        lineage.follow(Box::new(Played(Vec::new())));
        assert!(lineage.may_be_told(5));
        assert!(!lineage.may_be_told(5));
    }
}
