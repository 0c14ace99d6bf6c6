//! What somebody could do who knows everything beforehand.
//!
//! Tasks are divided into sets that share a cache at the same time, as many as it has cores, so that
//! the sum of all speeds relative to those alone is largest: exactly, by dynamic programming over sets of
//! tasks ([`divide`]). A set's speeds are those of the settled model while the rest of the machine runs
//! the mix's mean program. Sets are then dealt to caches and turns, and exchanged while that helps, with
//! all that runs in a turn, because buses are shared by more than a cache.
//!
//! A mix's programs count by their means over an iteration. Each task gets the same core time. So this
//! is the best *static* schedule of that kind. A policy that follows phases, or gives more time to whom
//! it speeds up most, could be better.

use std::collections::BTreeMap;

use kilocore_platform::Nanos;
use kilocore_sched_policy::{MOST_TASKS, Planned, Policy, TaskId, divide};
use kilocore_sim::occupancy::{Hardware, Phase, Program, settled};
use serde::{Deserialize, Serialize};

use super::mix::Mix;

/// The best division of a mix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Division {
    /// Sets of tasks, by turns, then by caches.
    pub(crate) sets: Vec<Vec<usize>>,
}

/// By how much a task may be ahead of others of its core: two slices.
const LEAD: Nanos = Nanos(20_000_000);

impl Division {
    /// The programs of each set.
    pub(crate) fn names(&self, mix: &Mix) -> Vec<Vec<&'static str>> {
        let name = |&task: &usize| mix.programs[task].name;
        self.sets.iter().map(|set| set.iter().map(name).collect()).collect()
    }

    /// The plan as a policy, for tasks in this order.
    pub(crate) fn policy(&self, order: &[usize]) -> Box<dyn Policy> {
        let place = |task: &usize| {
            let place = order.iter().position(|other| other == task);
            TaskId(place.expect("the order has all tasks") as u32)
        };
        let sets: Vec<Vec<TaskId>> =
            self.sets.iter().map(|set| set.iter().map(place).collect()).collect();
        Box::new(Planned::new(&sets, LEAD))
    }
}

/// Parts of a speed that `divide` tells apart.
const UNITS: f64 = 1e9;

/// Whether so many tasks can be divided: they fill all cores a whole number of times, and all caches
/// have as many cores.
pub(crate) fn divides(hardware: &Hardware, tasks: usize) -> bool {
    let each = hardware.threads() / hardware.caches();
    let has = |cache| {
        let own = (0..hardware.threads()).filter(|&thread| hardware.cache_of(thread) == cache);
        own.count()
    };
    tasks <= MOST_TASKS
        && tasks.is_multiple_of(hardware.threads())
        && (0..hardware.caches()).all(|cache| has(cache) == each)
}

/// Divides a mix.
///
/// # Panics
/// If it cannot be [divided](divides).
pub(crate) fn division(hardware: &Hardware, mix: &Mix) -> Division {
    let mut speeds = Speeds::new(hardware, &mix.programs);
    let tasks = mix.programs.len();
    let size = hardware.threads() / hardware.caches();
    assert!(divides(hardware, tasks), "{tasks} tasks for all cores");
    let beside = mean_of(&mix.programs);
    let cost = |set: &[usize]| {
        let most = set.len() as f64;
        ((most - speeds.of_set(set, &beside)).max(0.0) * UNITS) as u64
    };
    let mut sets = divide(tasks, size, cost).expect("a mix that fills the machine");
    let caches = hardware.caches();
    let mut best = speeds.of_turns(&sets, caches);
    loop {
        let before = best;
        for a in 0..sets.len() {
            for b in a + 1..sets.len() {
                sets.swap(a, b);
                let swapped = speeds.of_turns(&sets, caches);
                if swapped > best * (1.0 + 1e-6) {
                    best = swapped;
                } else {
                    sets.swap(a, b);
                }
            }
        }
        if best <= before {
            return Division { sets };
        }
    }
}

/// The mean program of a mix.
fn mean_of(programs: &[Program]) -> Phase {
    let mut parts = Vec::new();
    for program in programs {
        let iteration: f64 = program.parts.iter().map(|part| part.instructions).sum();
        parts.extend(program.parts.iter().cloned().map(|mut part| {
            part.instructions /= iteration;
            part
        }));
    }
    Program { name: "mean", parts, iterations: 1 }.mean()
}

/// Sums of relative speeds of what runs together, each combination looked at once.
struct Speeds<'a> {
    hardware: &'a Hardware,
    phases: Vec<Phase>,
    /// For each task, the first one of the same program.
    kinds: Vec<usize>,
    alone: Vec<f64>,
    sets: BTreeMap<Vec<usize>, f64>,
    turns: BTreeMap<Vec<Vec<usize>>, f64>,
}

impl<'a> Speeds<'a> {
    fn new(hardware: &'a Hardware, programs: &[Program]) -> Self {
        let kind = |program: &Program| programs.iter().position(|other| other == program);
        let kinds: Vec<usize> = programs.iter().filter_map(kind).collect();
        let phases: Vec<Phase> = programs.iter().map(Program::mean).collect();
        let mut alone = vec![0.0; phases.len()];
        for (task, &kind) in kinds.iter().enumerate() {
            alone[task] = if kind == task {
                settled(hardware, &[(0, &phases[task])])[0]
            } else {
                alone[kind]
            };
        }
        Self { hardware, phases, kinds, alone, sets: BTreeMap::new(), turns: BTreeMap::new() }
    }

    fn kinds(&self, set: &[usize]) -> Vec<usize> {
        let mut kinds: Vec<usize> = set.iter().map(|&task| self.kinds[task]).collect();
        kinds.sort_unstable();
        kinds
    }

    /// The hardware threads of a cache.
    fn threads(&self, cache: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.hardware.threads()).filter(move |&thread| self.hardware.cache_of(thread) == cache)
    }

    /// A set on the first cache, while all other threads run `beside`.
    fn of_set(&mut self, set: &[usize], beside: &Phase) -> f64 {
        let kinds = self.kinds(set);
        if let Some(&known) = self.sets.get(&kinds) {
            return known;
        }
        let mut running: Vec<(usize, &Phase)> = self
            .threads(0)
            .zip(&kinds)
            .map(|(thread, &kind)| (thread, &self.phases[kind]))
            .collect();
        for cache in 1..self.hardware.caches() {
            running.extend(self.threads(cache).map(|thread| (thread, beside)));
        }
        let speeds = settled(self.hardware, &running);
        let sum = speeds.iter().zip(&kinds).map(|(speed, &kind)| speed / self.alone[kind]).sum();
        self.sets.insert(kinds, sum);
        sum
    }

    /// The sum over all turns, in each of which every cache runs a set.
    fn of_turns(&mut self, sets: &[Vec<usize>], caches: usize) -> f64 {
        sets.chunks(caches).map(|turn| self.of_turn(turn)).sum()
    }

    fn of_turn(&mut self, turn: &[Vec<usize>]) -> f64 {
        let kinds: Vec<Vec<usize>> = turn.iter().map(|set| self.kinds(set)).collect();
        if let Some(&known) = self.turns.get(&kinds) {
            return known;
        }
        let running: Vec<(usize, usize)> = kinds
            .iter()
            .enumerate()
            .flat_map(|(cache, set)| self.threads(cache).zip(set.iter().copied()))
            .collect();
        let phases: Vec<(usize, &Phase)> =
            running.iter().map(|&(thread, kind)| (thread, &self.phases[kind])).collect();
        let speeds = settled(self.hardware, &phases);
        let relative =
            speeds.iter().zip(&running).map(|(speed, &(_, kind))| speed / self.alone[kind]);
        let sum = relative.sum();
        self.turns.insert(kinds, sum);
        sum
    }
}
