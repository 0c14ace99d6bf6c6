//! The best division of tasks into sets that run side by side: exact, offline, for small cases.
//!
//! Policies are compared with what somebody could do who knows everything beforehand: how fast each
//! task is beside any others. The best division is found by dynamic programming over subsets. The task
//! with the lowest number that is still without a set must be in some set, so only sets with it have to
//! be tried next.

use alloc::vec::Vec;
use core::fmt;

/// The largest number of tasks that can be divided.
pub const MOST_TASKS: usize = 16;

/// Why tasks cannot be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DivisionError {
    /// There are more tasks than [`MOST_TASKS`].
    TooMany(usize),
    /// The number of tasks is no multiple of the size of a set.
    Uneven {
        /// How many tasks there are.
        tasks: usize,
        /// How many were to be in each set.
        size: usize,
    },
}

impl fmt::Display for DivisionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany(tasks) => {
                write!(formatter, "{tasks} tasks are too many to divide, {MOST_TASKS} at the most")
            }
            Self::Uneven { tasks, size } => {
                write!(formatter, "{tasks} tasks cannot be divided into sets of {size}")
            }
        }
    }
}

impl core::error::Error for DivisionError {}

/// Divides the tasks `0..tasks` into sets of `size`, so that the sum of the sets' costs is least.
///
/// `cost` is asked once for each set, which it gets in rising order. Of several best divisions it is
/// always the same that is returned, with its sets in the order of their first tasks.
///
/// # Errors
/// [`DivisionError`] if there are too many tasks, or they do not fill the sets.
pub fn divide(
    tasks: usize,
    size: usize,
    mut cost: impl FnMut(&[usize]) -> u64,
) -> Result<Vec<Vec<usize>>, DivisionError> {
    if tasks > MOST_TASKS {
        return Err(DivisionError::TooMany(tasks));
    }
    if size == 0 || !tasks.is_multiple_of(size) {
        return Err(DivisionError::Uneven { tasks, size });
    }
    let all = (1_usize << tasks) - 1;
    let sets: Vec<(usize, u64)> = (0..=all)
        .filter(|set| set.count_ones() as usize == size)
        .map(|set| (set, cost(&members(set))))
        .collect();
    // For each set of tasks that are placed: the least cost, and the set that was placed last.
    let mut best: Vec<Option<(u64, usize)>> = alloc::vec![None; all + 1];
    best[0] = Some((0, 0));
    for placed in 0..all {
        let Some((so_far, _)) = best[placed] else { continue };
        let next = (!placed).trailing_zeros();
        for &(set, costs) in
            sets.iter().filter(|(set, _)| set & placed == 0 && set >> next & 1 == 1)
        {
            let total = so_far.saturating_add(costs);
            let entry = &mut best[placed | set];
            if entry.is_none_or(|(least, _)| total < least) {
                *entry = Some((total, set));
            }
        }
    }
    let mut division = Vec::new();
    let mut placed = all;
    while placed != 0 {
        let (_, set) = best[placed].expect("sets of this size fill the tasks");
        division.push(members(set));
        placed &= !set;
    }
    division.reverse();
    Ok(division)
}

fn members(set: usize) -> Vec<usize> {
    (0..MOST_TASKS).filter(|task| set >> task & 1 == 1).collect()
}

#[cfg(test)]
mod tests {
    use super::{DivisionError, divide};
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn the_best_pairs_of_six_are_found_by_hand() {
        // Heavy tasks 0, 1, 2 and light ones 3, 4, 5: only two heavy ones side by side cost anything.
        let cost = |set: &[usize]| u64::from(set.iter().all(|&task| task < 3));
        let pairs = divide(6, 2, cost).unwrap();
        assert_eq!(pairs.iter().map(|pair| cost(pair)).sum::<u64>(), 0);
        let mut all: Vec<usize> = pairs.concat();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_greedy_first_choice_does_not_mislead() {
        // The cheapest pair leaves two tasks that cost much together.
        let cost = |set: &[usize]| match *set {
            [0, 1] => 0,
            [2, 3] => 100,
            _ => 10,
        };
        assert_eq!(divide(4, 2, cost), Ok(vec![vec![0, 2], vec![1, 3]]));
    }

    #[test]
    fn no_division_of_eight_into_sets_of_four_is_better() {
        let cost = |set: &[usize]| {
            set.iter()
                .enumerate()
                .map(|(place, task)| (task * 7 + place * 13) % 11)
                .product::<usize>() as u64
        };
        let found: u64 = divide(8, 4, cost).unwrap().iter().map(|set| cost(set)).sum();
        for half in (0_usize..256).filter(|half| half.count_ones() == 4) {
            let side = |of: usize| (0..8).filter(|task| of >> task & 1 == 1).collect::<Vec<_>>();
            assert!(found <= cost(&side(half)) + cost(&side(!half & 255)));
        }
    }

    #[test]
    fn what_cannot_be_divided_is_said() {
        assert_eq!(divide(17, 1, |_| 0), Err(DivisionError::TooMany(17)));
        assert_eq!(divide(7, 2, |_| 0), Err(DivisionError::Uneven { tasks: 7, size: 2 }));
        assert_eq!(divide(0, 2, |_| 0), Ok(vec![]));
    }
}
