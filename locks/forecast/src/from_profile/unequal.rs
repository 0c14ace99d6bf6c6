//! How unequally the locks that are made at one place are used.
//!
//! A table of locks may have one that half of all uses want. Then that one limits the program, however many others
//! there are. So locks are divided into two classes, hot ones and others, where their uses differ most: the
//! natural break, at which the uses within the classes vary least (Jenks, International Yearbook of
//! Cartography 7, 1967). Each class counts as so many equally used locks as collide as often.

use kilocore_lock_profile::Lock;

use crate::workload::Hot;

/// The most used lock limits how often all of them can be taken. Locks are used alike if as many equally used ones as
/// collide as often have the same limit, but for this factor.
const ALIKE: f64 = 1.1;

/// How many locks there are to be in a workload, and which of them are hot.
pub(super) fn classes(locks: &[&Lock]) -> (u32, Option<Hot>) {
    let mut uses: Vec<f64> = locks.iter().map(|lock| lock.uses() as f64).collect();
    uses.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = uses.iter().sum();
    let alike = count(&uses);
    let limit = uses[0] / all * f64::from(alike);
    if all <= 0.0 || (1.0 / ALIKE..=ALIKE).contains(&limit) {
        return (alike, None);
    }
    let (hot, others) = uses.split_at(natural_break(&uses));
    let share = hot.iter().sum::<f64>() / all;
    let (hot, others) = (count(hot), count(others));
    (hot + others, Some(Hot { instances: hot, share }))
}

/// The number of equally used locks with which two random uses would meet at the same lock just as often.
///
/// One entry may stand for several locks that lived one after the other. At any time that was one lock, so it
/// counts as one.
pub(super) fn count(uses: &[f64]) -> u32 {
    let all: f64 = uses.iter().sum();
    let collisions: f64 = uses.iter().map(|of_one| (of_one / all).powi(2)).sum();
    ((1.0 / collisions).round() as u32).max(1)
}

/// How many of the locks, the most used first, are in the first class. There is at least one in each class.
fn natural_break(uses: &[f64]) -> usize {
    let all: f64 = uses.iter().sum();
    let mut before = 0.0;
    let mut best = (1, 0.0);
    for (first, of_one) in (1..uses.len()).zip(uses) {
        before += of_one;
        // What varies within the classes is all that varies, less what varies between them.
        let between = before * before / first as f64
            + (all - before) * (all - before) / (uses.len() - first) as f64;
        if between > best.1 {
            best = (first, between);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::classes;
    use crate::from_profile::synthetic::mutex;
    use crate::workload::Hot;

    fn of(uses: &[u64]) -> (u32, Option<Hot>) {
        let locks: Vec<_> = uses.iter().map(|&uses| mutex(1, "shard", uses)).collect();
        classes(&locks.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_lock_that_gets_half_of_all_uses_is_hot() {
        let hot = |instances, share| Some(Hot { instances, share });
        assert_eq!(of(&[100, 700, 100, 100, 100, 100, 100, 100]), (8, hot(1, 0.5)));
        assert_eq!(of(&[70, 30]), (2, hot(1, 0.7)));
        assert_eq!(of(&[300, 100, 300, 100, 100, 100]), (6, hot(2, 0.6)));
    }

    #[test]
    fn locks_that_are_used_alike_are_of_one_class() {
        assert_eq!(of(&[1_000; 8]), (8, None));
        assert_eq!(of(&[1_000, 1_050, 980, 1_020]), (4, None));
        assert_eq!(of(&[5]), (1, None));
        // One that is hardly used is none.
        assert_eq!(of(&[10_000, 10_000, 1]), (2, None));
    }
}
