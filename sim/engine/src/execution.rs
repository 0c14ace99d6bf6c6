//! Phases in the place of code: how long instructions take that a task only describes.
//!
//! A program whose loops take minutes is not simulated reference by reference. Its task asks for
//! stretches of a [`Phase`], and [`crate::occupancy`] says how long each takes beside what the other
//! cores run at that moment, and what it leaves in the caches. Queues, slices, switches and migrations
//! are the operating system's, as for all other tasks.
//!
//! A stretch is charged as a whole when it begins. A task that is preempted in the middle of one has the
//! rest of its time to go when it has a core again, and what it left in the caches is there already. So
//! stretches should be much shorter than time slices: 50 to 200 µs.

use std::collections::BTreeMap;

use crate::occupancy::{Executed, Hardware, Model, Phase};

use crate::counters::{CoRun, TaskCounters};
use crate::ids::{CoreId, Id, TaskId};

/// References to a last-level cache, and those of them that missed.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    references: f64,
    misses: f64,
}

impl Used {
    fn add(&mut self, references: f64, misses: f64) {
        self.references += references;
        self.misses += misses;
    }
}

/// What is counted for a task.
#[derive(Debug, Clone, Default)]
struct Counted {
    own: Executed,
    neighbours: Used,
    /// Cycles and instructions beside each other task.
    beside: BTreeMap<usize, (f64, f64)>,
}

/// Caches, channels, and what tasks did with them.
#[derive(Debug)]
pub(crate) struct Execution {
    model: Model,
    tasks: Vec<Counted>,
    /// All references to each last-level cache.
    caches: Vec<Used>,
    /// The same when a core's task last looked, while it stays on its core.
    seen: Vec<Option<Used>>,
    /// Which task each core executes for.
    on: Vec<Option<usize>>,
}

impl Execution {
    pub(crate) fn new(hardware: Hardware) -> Self {
        Self {
            tasks: Vec::new(),
            caches: vec![Used::default(); hardware.caches()],
            seen: vec![None; hardware.threads()],
            on: vec![None; hardware.threads()],
            model: Model::new(hardware),
        }
    }

    pub(crate) fn execute(
        &mut self,
        core: CoreId,
        task: TaskId,
        phase: &Phase,
        instructions: f64,
    ) -> Executed {
        let (core, task) = (core.index(), task.index());
        let done = self.model.execute(core, task, phase, instructions);
        if task >= self.tasks.len() {
            self.tasks.resize(task + 1, Counted::default());
        }
        let cache = self.model.hardware().cache_of(core);
        self.on[core] = Some(task);
        let counted = &mut self.tasks[task];
        for (other, neighbour) in self.on.iter().enumerate() {
            if let Some(neighbour) = neighbour
                && other != core
                && self.model.hardware().cache_of(other) == cache
            {
                let (cycles, instructions) = counted.beside.entry(*neighbour).or_default();
                *cycles += done.cycles;
                *instructions += done.instructions;
            }
        }
        let all = &mut self.caches[cache];
        let since = self.seen[core].unwrap_or(*all);
        counted.neighbours.add(all.references - since.references, all.misses - since.misses);
        counted.own.add(&done);
        all.add(done.references, done.misses);
        self.seen[core] = Some(*all);
        done
    }

    /// The task of a core leaves it.
    pub(crate) fn stop(&mut self, core: CoreId) {
        self.model.stop(core.index());
        self.seen[core.index()] = None;
        self.on[core.index()] = None;
    }

    /// What a task did beside which others.
    pub(crate) fn beside(&self, task: TaskId) -> Vec<CoRun> {
        let Some(counted) = self.tasks.get(task.index()) else { return Vec::new() };
        let beside = counted.beside.iter().map(|(&other, &(cycles, instructions))| CoRun {
            task: TaskId::from_index(other),
            cycles: whole(cycles),
            instructions: whole(instructions),
        });
        beside.collect()
    }

    /// Adds what is counted here to what else is counted for a task.
    pub(crate) fn fill(&self, task: TaskId, counters: TaskCounters) -> TaskCounters {
        let Some(counted) = self.tasks.get(task.index()) else { return counters };
        TaskCounters {
            cycles: whole(counted.own.cycles),
            instructions: whole(counted.own.instructions),
            references: whole(counted.own.references),
            misses: whole(counted.own.misses),
            memory_bytes: whole(counted.own.bytes.0),
            neighbour_references: whole(counted.neighbours.references),
            neighbour_misses: whole(counted.neighbours.misses),
            ..counters
        }
    }
}

/// A count of what is not whole while it is added up.
fn whole(count: f64) -> u64 {
    count.round() as u64
}
