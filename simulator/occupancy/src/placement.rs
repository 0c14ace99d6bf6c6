//! The offline optimum: which tasks should share a cache, and when.
//!
//! All tasks are known, each gets the same core time, and what runs together runs until its caches
//! have settled. First, tasks are divided into groups that share a cache: exactly, by dynamic
//! programming over sets of tasks, with all other caches idle. Then the groups are dealt to caches and
//! turns, and tasks are swapped while that helps, now with everything that runs at the same time,
//! because buses and memory are shared by more than a cache. The first step is exact; the second is as
//! good as no single swap can better.

use std::collections::BTreeMap;

use crate::hardware::Hardware;
use crate::phase::Phase;
use crate::settled::settled;

/// Which task each hardware thread runs in each turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Placement {
    /// `turns[turn][thread]` is a task.
    pub turns: Vec<Vec<usize>>,
    /// The sum over all tasks of the speed relative to that alone, per turn: at most the number of
    /// hardware threads.
    pub progress: f64,
}

/// Divides tasks `0..tasks` into groups of `size` so that the sum of the groups' values is largest:
/// exactly, by dynamic programming over all sets of tasks. A group is given by its tasks in order.
///
/// # Panics
/// If there are more than 20 tasks, or they cannot be divided evenly.
#[must_use]
pub fn best_groups(
    tasks: usize,
    size: usize,
    mut value: impl FnMut(&[usize]) -> f64,
) -> Vec<Vec<usize>> {
    assert!(tasks <= 20, "{tasks} tasks are too many for all their sets");
    assert!(size > 0 && tasks.is_multiple_of(size), "groups of {size} of {tasks} tasks");
    let full = (1_usize << tasks) - 1;
    let groups: Vec<usize> = (1..=full).filter(|set| set.count_ones() as usize == size).collect();
    let values: Vec<f64> = groups.iter().map(|&set| value(&members(set))).collect();
    // The best of each set of tasks, and the group in it that has the set's first task.
    let mut best = vec![(f64::NEG_INFINITY, 0); full + 1];
    best[0].0 = 0.0;
    for set in 1..=full {
        if !(set.count_ones() as usize).is_multiple_of(size) {
            continue;
        }
        let first = set & set.wrapping_neg();
        for (&group, value) in groups.iter().zip(&values) {
            if group & first != 0 && group & set == group {
                let total = best[set & !group].0 + value;
                if total > best[set].0 {
                    best[set] = (total, group);
                }
            }
        }
    }
    let mut left = full;
    let mut chosen = Vec::new();
    while left != 0 {
        let group = best[left].1;
        chosen.push(members(group));
        left &= !group;
    }
    chosen
}

fn members(set: usize) -> Vec<usize> {
    (0..usize::BITS as usize).filter(|task| set >> task & 1 == 1).collect()
}

/// The placement with the largest sum of relative speeds, of as many tasks as hardware threads or a
/// multiple of that.
///
/// # Panics
/// If there are more than 20 tasks, their number is no multiple of the hardware threads', or caches
/// have different numbers of these.
#[must_use]
pub fn best_placement(hardware: &Hardware, phases: &[Phase]) -> Placement {
    let threads = hardware.threads();
    assert!(
        !phases.is_empty() && phases.len().is_multiple_of(threads),
        "{} tasks on {threads} threads",
        phases.len()
    );
    let of_cache = |cache| (0..threads).filter(move |&thread| hardware.cache_of(thread) == cache);
    let size = threads / hardware.caches();
    assert!(
        (0..hardware.caches()).all(|cache| of_cache(cache).count() == size),
        "caches with different numbers of threads"
    );
    let mut speeds = Speeds::new(hardware, phases);
    let first: Vec<usize> = of_cache(0).collect();
    let groups = best_groups(phases.len(), size, |group| {
        let running: Vec<(usize, usize)> =
            first.iter().copied().zip(group.iter().copied()).collect();
        speeds.progress(&running)
    });
    // Position `turn * threads + thread` runs the task.
    let turns = phases.len() / threads;
    let mut order = vec![0; phases.len()];
    for (at, group) in groups.iter().enumerate() {
        // Neighbours in the list go to different turns.
        let (turn, cache) = (at % turns, at / turns);
        for (thread, &task) in of_cache(cache).zip(group) {
            order[turn * threads + thread] = task;
        }
    }
    let progress = improve(&mut speeds, &mut order);
    #[expect(clippy::cast_precision_loss, reason = "a few turns")]
    let per_turn = progress / turns as f64;
    Placement { turns: order.chunks(threads).map(<[usize]>::to_vec).collect(), progress: per_turn }
}

/// Swaps tasks while that helps. Returns the sum of all turns.
fn improve(speeds: &mut Speeds<'_>, order: &mut [usize]) -> f64 {
    let mut best = speeds.turns(order);
    for _ in 0..MOST_PASSES {
        let before = best;
        for a in 0..order.len() {
            for b in a + 1..order.len() {
                order.swap(a, b);
                let swapped = speeds.turns(order);
                if swapped > best * (1.0 + LEAST_GAIN) {
                    best = swapped;
                } else {
                    order.swap(a, b);
                }
            }
        }
        if best <= before {
            break;
        }
    }
    best
}

/// Passes over all pairs of tasks, at the most.
const MOST_PASSES: usize = 20;
/// The least relative gain for which tasks are swapped: what the model's rounding cannot feign.
const LEAST_GAIN: f64 = 1e-6;

/// Relative speeds of what runs at the same time, each set of phases looked at once.
struct Speeds<'a> {
    hardware: &'a Hardware,
    phases: &'a [Phase],
    /// For each task, the first task with the same phase.
    kind: Vec<usize>,
    /// Instructions per cycle alone, by task.
    alone: Vec<f64>,
    /// The sum of relative speeds, by the kinds that run, in canonical order.
    known: BTreeMap<Vec<Vec<usize>>, f64>,
}

impl<'a> Speeds<'a> {
    fn new(hardware: &'a Hardware, phases: &'a [Phase]) -> Self {
        let kind: Vec<usize> = phases
            .iter()
            .map(|phase| phases.iter().position(|other| other == phase).unwrap_or_default())
            .collect();
        let mut alone = vec![0.0; phases.len()];
        for task in 0..phases.len() {
            alone[task] = if kind[task] == task {
                settled(hardware, &[(0, &phases[task])])[0]
            } else {
                alone[kind[task]]
            };
        }
        Self { hardware, phases, kind, alone, known: BTreeMap::new() }
    }

    /// The sum over all turns.
    fn turns(&mut self, order: &[usize]) -> f64 {
        let threads = self.hardware.threads();
        order
            .chunks(threads)
            .map(|turn| {
                let running: Vec<(usize, usize)> = turn.iter().copied().enumerate().collect();
                self.progress(&running)
            })
            .sum()
    }

    /// The sum of relative speeds of these pairs of thread and task.
    fn progress(&mut self, running: &[(usize, usize)]) -> f64 {
        let mut key = vec![Vec::new(); self.hardware.caches()];
        for &(thread, task) in running {
            key[self.hardware.cache_of(thread)].push(self.kind[task]);
        }
        key.iter_mut().for_each(|cache| cache.sort_unstable());
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let phases: Vec<(usize, &Phase)> =
            running.iter().map(|&(thread, task)| (thread, &self.phases[task])).collect();
        let speeds = settled(self.hardware, &phases);
        let progress =
            speeds.iter().zip(running).map(|(speed, &(_, task))| speed / self.alone[task]).sum();
        self.known.insert(key, progress);
        progress
    }
}
