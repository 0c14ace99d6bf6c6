//! How fast each task is beside each other one, as far as that has been seen.
//!
//! A task's speed beside a neighbour is its instructions per cycle in the times that both had cores of
//! one last-level cache. It is compared with the task's best speed beside anybody, which is nearly that
//! alone. A pair that has hardly been seen is guessed: as much slower than usual as that neighbour makes
//! others.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use crate::ids::TaskId;
use crate::window::TaskWindow;

/// What has been seen counts half once it is more than so many cycles.
const FORGOTTEN: u64 = 2_000_000_000;
/// With fewer cycles than this a pair is guessed.
const SEEN: u64 = 20_000_000;
/// Speeds are in instructions for so many cycles.
const UNIT: u128 = 1_000_000;

/// Cycles, and instructions in them.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    cycles: u64,
    instructions: u64,
}

impl Sum {
    fn add(&mut self, cycles: u64, instructions: u64) {
        self.cycles = self.cycles.saturating_add(cycles);
        self.instructions = self.instructions.saturating_add(instructions);
        if self.cycles > FORGOTTEN {
            self.cycles /= 2;
            self.instructions /= 2;
        }
    }

    fn speed(self) -> Option<u64> {
        if self.cycles < SEEN {
            return None;
        }
        let speed = u128::from(self.instructions) * UNIT / u128::from(self.cycles);
        Some(speed.min(1 << 40) as u64)
    }
}

/// All pairs that have been seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs {
    sums: BTreeMap<(TaskId, TaskId), Sum>,
}

impl Pairs {
    /// Takes a window in. Pairs of tasks that are gone are forgotten.
    pub(crate) fn update(&mut self, tasks: &[TaskWindow]) {
        let alive: BTreeSet<TaskId> = tasks.iter().map(|task| task.task).collect();
        self.sums.retain(|(one, other), _| alive.contains(one) && alive.contains(other));
        for task in tasks {
            for beside in task.beside.iter().filter(|beside| alive.contains(&beside.task)) {
                let sum = self.sums.entry((task.task, beside.task)).or_default();
                sum.add(beside.cycles, beside.instructions);
            }
        }
    }

    /// What these tasks are worth to each other.
    pub(crate) fn worth(&self, tasks: &[TaskId]) -> Worth {
        let of_pair = |one, other| self.sums.get(&(one, other)).and_then(|sum| sum.speed());
        let seen: Vec<Vec<Option<u64>>> = tasks
            .iter()
            .map(|&one| tasks.iter().map(|&other| of_pair(one, other)).collect())
            .collect();
        let usual: Vec<u64> = seen.iter().map(|row| mean(row.iter().flatten().copied())).collect();
        let effect: Vec<u64> = (0..tasks.len())
            .map(|other| {
                let relative = seen.iter().zip(&usual).filter_map(|(row, &usual)| {
                    row[other].filter(|_| usual > 0).map(|speed| per(speed, usual))
                });
                match mean(relative) {
                    0 => UNIT as u64,
                    effect => effect,
                }
            })
            .collect();
        let best: Vec<u64> =
            seen.iter().map(|row| row.iter().flatten().copied().max().unwrap_or(0)).collect();
        let speeds = seen.iter().enumerate().map(|(one, row)| {
            let guess = |other: usize| {
                let usual = u128::from(usual[one]) * u128::from(effect[other]) / UNIT;
                (usual as u64).min(best[one])
            };
            let speeds = row.iter().enumerate();
            speeds
                .map(|(other, seen)| per(seen.unwrap_or_else(|| guess(other)), best[one]))
                .collect()
        });
        let usual = usual.iter().zip(&best).map(|(&usual, &best)| per(usual, best)).collect();
        Worth { speeds: speeds.collect(), usual }
    }
}

impl Pairs {
    /// What it is worth that these tasks meet: something for pairs that have hardly been seen.
    pub(crate) fn unseen(&self, tasks: &[TaskId]) -> Worth {
        let seen = |one, other| self.sums.get(&(one, other)).and_then(|sum| sum.speed()).is_some();
        let row = |&one: &TaskId| {
            tasks.iter().map(|&other| u64::from(one != other && !seen(one, other))).collect()
        };
        Worth { speeds: tasks.iter().map(row).collect(), usual: alloc::vec![0; tasks.len()] }
    }
}

/// How fast tasks are beside each other, in millionths of their best, by their places in a list.
#[derive(Debug, Clone)]
pub(crate) struct Worth {
    speeds: Vec<Vec<u64>>,
    usual: Vec<u64>,
}

/// Somebody who would be slower than usual by more than this many millionths counts double.
const TOLERATED: u64 = 20_000;

impl Worth {
    /// How fast both are side by side, together, less what one of them loses by it for good.
    pub(crate) fn of(&self, one: usize, other: usize) -> i64 {
        self.of_one(one, other) + self.of_one(other, one)
    }

    fn of_one(&self, one: usize, other: usize) -> i64 {
        let (speed, usual) = (self.speeds[one][other], self.usual[one]);
        let lost = usual.saturating_sub(TOLERATED).saturating_sub(speed);
        speed as i64 - lost as i64
    }
}

/// A ratio in millionths, at most two.
fn per(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return UNIT as u64;
    }
    (u128::from(part) * UNIT / u128::from(whole)).min(2 * UNIT) as u64
}

fn mean(values: impl Iterator<Item = u64>) -> u64 {
    let (sum, count) =
        values.fold((0_u128, 0_u128), |(sum, count), value| (sum + u128::from(value), count + 1));
    sum.checked_div(count).unwrap_or(0) as u64
}
