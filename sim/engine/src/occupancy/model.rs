//! Tasks on cores, advanced stretch by stretch.
//!
//! The user says which task runs some instructions of a phase on which hardware thread. The model
//! answers how many cycles they take beside what runs on the other threads at that moment, and
//! remembers what the task brought into the caches. Threads need not be advanced in step; the shorter
//! the stretches and the more evenly they interleave, the better they see each other.
//!
//! Stretches are cut where more than a part of the cache would be replaced at once, and a task misses
//! at the rate that goes with what it has at the end of each part. So a long stretch sees its own
//! effect on the cache, and brings no more in than its working set.

use crate::occupancy::cache::Cache;
use crate::occupancy::channels::Channels;
use crate::occupancy::demand::Demand;
use crate::occupancy::hardware::Hardware;
use crate::occupancy::phase::Phase;
use crate::occupancy::units::Bytes;

/// What some instructions took, as hardware counters would have it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Executed {
    /// Instructions that were executed.
    pub instructions: f64,
    /// Cycles that these took.
    pub cycles: f64,
    /// References to the last-level cache.
    pub references: f64,
    /// Those of them that missed.
    pub misses: f64,
    /// Bytes to and from memory.
    pub bytes: Bytes,
}

impl Executed {
    /// Adds what further instructions took.
    pub fn add(&mut self, other: &Self) {
        self.instructions += other.instructions;
        self.cycles += other.cycles;
        self.references += other.references;
        self.misses += other.misses;
        self.bytes += other.bytes;
    }
}

/// The part of a cache that a stretch may replace before it is cut.
const CUT: f64 = 1.0 / 32.0;
/// Halvings that find what a task has at the end of a stretch.
const ROUNDS: u32 = 12;
/// A demand that changed by less than this part is as before.
const SAME: f64 = 1.0 / 256.0;

/// The caches and channels of a machine, and what tasks have of them.
#[derive(Debug, Clone)]
pub struct Model {
    hardware: Hardware,
    /// The last-level caches, by domain.
    caches: Vec<Cache>,
    /// The private cache of each core.
    private: Vec<Cache>,
    channels: Channels,
    /// What each hardware thread asks of memory now.
    running: Vec<Option<Demand>>,
    /// The same when the channels were last settled.
    settled: Vec<Option<Demand>>,
    /// Which task each hardware thread ran last.
    last: Vec<Option<usize>>,
    /// For each task, the node whose memory it uses.
    home: Vec<Option<usize>>,
}

impl Model {
    /// The machine with cold caches.
    #[must_use]
    pub fn new(hardware: Hardware) -> Self {
        let threads = hardware.threads();
        Self {
            caches: vec![Cache::new(hardware.capacity); hardware.caches],
            private: vec![Cache::new(hardware.private); hardware.cores],
            channels: Channels::new(&hardware),
            running: vec![None; threads],
            settled: vec![None; threads],
            last: vec![None; threads],
            home: Vec::new(),
            hardware,
        }
    }

    /// The machine whose caches and memory are shared.
    #[must_use]
    pub fn hardware(&self) -> &Hardware {
        &self.hardware
    }

    /// A last-level cache.
    ///
    /// # Panics
    /// If there is no such cache.
    #[must_use]
    pub fn cache(&self, cache: usize) -> &Cache {
        &self.caches[cache]
    }

    /// What all channels carry now, in bytes per cycle.
    #[must_use]
    pub fn traffic(&self) -> f64 {
        (0..self.hardware.nodes).map(|channel| self.channels.traffic(channel)).sum()
    }

    /// A hardware thread runs nothing any more, or something that needs neither cache nor memory.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn stop(&mut self, thread: usize) {
        self.running[thread] = None;
        if let Some(task) = self.last[thread] {
            self.caches[self.hardware.cache_of[thread]].set_rates(task, 0.0, 0.0);
        }
    }

    /// A task runs some instructions of a phase on a hardware thread.
    ///
    /// # Panics
    /// If there is no such thread, or the phase takes no cycles.
    pub fn execute(
        &mut self,
        thread: usize,
        task: usize,
        phase: &Phase,
        instructions: f64,
    ) -> Executed {
        let mut done = self.begin(thread, task, phase);
        let mut left = instructions;
        while left > 0.0 {
            let step = self.step(thread, task, phase, left);
            left -= step.instructions;
            done.add(&step);
        }
        done
    }

    /// Switches to the task if another ran, and fetches what it needs in the core's own caches.
    fn begin(&mut self, thread: usize, task: usize, phase: &Phase) -> Executed {
        if self.last[thread] != Some(task) {
            self.stop(thread);
            self.last[thread] = Some(task);
        }
        if task >= self.home.len() {
            self.home.resize(task + 1, None);
        }
        self.home[task].get_or_insert(self.hardware.node_of[thread]);
        let own = &mut self.private[self.hardware.core_of[thread]];
        let needs = phase.private.min(self.hardware.private);
        let missing = needs - own.has(task);
        if missing.0 < self.hardware.line.0 {
            return Executed::default();
        }
        own.set_rates(task, 0.0, 0.0);
        own.insert(task, missing);
        let lines = missing.0 / self.hardware.line.0;
        let ratio = phase.curve.at(self.caches[self.hardware.cache_of[thread]].has(task));
        let demand = self.demand(thread, task, phase, ratio);
        let latency = demand.latency + self.channels.queue(demand.channel);
        let misses = lines * ratio;
        self.insert(thread, task, misses);
        Executed {
            instructions: 0.0,
            cycles: (lines * self.hardware.hit + misses * latency) / phase.overlap,
            references: lines,
            misses,
            bytes: Bytes(misses * self.hardware.line.0),
        }
    }

    fn insert(&mut self, thread: usize, task: usize, lines: f64) {
        let bytes = Bytes(lines * self.hardware.line.0);
        self.caches[self.hardware.cache_of[thread]].insert(task, bytes);
    }

    fn demand(&self, thread: usize, task: usize, phase: &Phase, ratio: f64) -> Demand {
        let home = self.home[task].unwrap_or_default();
        let misses = phase.references * ratio;
        Demand {
            cpi: phase.cpi,
            waits: misses / phase.overlap,
            bytes: misses * (1.0 + phase.written_back) * self.hardware.line.0,
            latency: self.hardware.latency(thread, home),
            channel: self.hardware.channel_of(thread, home),
        }
    }

    fn step(&mut self, thread: usize, task: usize, phase: &Phase, most: f64) -> Executed {
        let cache = self.hardware.cache_of[thread];
        let line = self.hardware.line.0;
        let at_once = self.hardware.capacity.0 * CUT;
        let per_instruction = phase.references * line;
        let before = phase.curve.at(self.caches[cache].has(task));
        let cut = before * per_instruction * most > at_once;
        let instructions = if cut { at_once / (before * per_instruction) } else { most };
        let ratio = self.ratio_after(cache, task, phase, instructions * per_instruction);
        let demand = self.demand(thread, task, phase, ratio);
        self.settle(thread, demand);
        let cpi = demand.cpi_at(self.channels.queue(demand.channel));
        assert!(cpi > 0.0, "a phase that takes no cycles");
        let inserted = per_instruction * ratio;
        self.caches[cache].set_rates(task, (per_instruction - inserted) / cpi, inserted / cpi);
        let misses = phase.references * ratio * instructions;
        self.insert(thread, task, misses);
        Executed {
            instructions,
            cycles: cpi * instructions,
            references: phase.references * instructions,
            misses,
            bytes: Bytes(demand.bytes * instructions),
        }
    }

    /// The ratio of misses with what the task has after it referred to so many bytes.
    fn ratio_after(&self, cache: usize, task: usize, phase: &Phase, referred: f64) -> f64 {
        let cache = &self.caches[cache];
        let has = cache.has(task).0;
        let after = |ratio: f64| {
            let inserted = (ratio * referred).min(cache.capacity().0);
            phase.curve.at(Bytes(has + cache.kept(task, inserted)))
        };
        let (mut high, mut low) = (phase.curve.at(Bytes(has)), 0.0);
        if after(high) == high {
            return high;
        }
        for _ in 0..ROUNDS {
            let middle = (low + high) / 2.0;
            if after(middle) > middle {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Settles the channels, unless everything that runs asks for what it did.
    fn settle(&mut self, thread: usize, demand: Demand) {
        self.running[thread] = Some(demand);
        let same = self.running.iter().zip(&self.settled).all(|(now, then)| match (now, then) {
            (Some(now), Some(then)) => now.is_nearly(then, SAME),
            (None, None) => true,
            _ => false,
        });
        if !same {
            self.channels.settle(&self.hardware, &self.running, demand.channel);
            self.settled.clone_from(&self.running);
        }
    }
}
