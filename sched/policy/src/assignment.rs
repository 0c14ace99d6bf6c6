//! Which task belongs to which core, so that those that run side by side disturb each other least.
//!
//! Each task presses on its neighbours and suffers under them. What two cores of one last-level cache
//! cost is what the tasks of each suffer under those of the other, on average over the turns that they
//! take. So a good assignment puts heavy tasks together on one core and light ones on its neighbour:
//! however their turns fall, a heavy task runs beside a light one. Cores of one memory node share its
//! bandwidth, which counts for less.
//!
//! An assignment gets better by exchanging two tasks of different cores, or by moving one to a place
//! that is free. That is repeated while it gains enough, from the exchange that gains most.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kilocore_platform::CpuId;

use crate::cpu_set::CpuSet;
use crate::ids::TaskId;
use crate::machine::Machine;

/// Neighbours in the memory node only count for this fraction of neighbours in the cache.
const NODE: u128 = 8;
/// With more tasks, only so many of those that matter most are exchanged.
const MOST_EXCHANGED: usize = 128;

/// What a task does to its neighbours, and they to it.
#[derive(Debug, Clone)]
pub(crate) struct Nature {
    pub(crate) task: TaskId,
    pub(crate) allowed: CpuSet,
    /// How hard it presses.
    pub(crate) pressure: u64,
    /// How much it suffers under pressure.
    pub(crate) sensitivity: u64,
    /// Whether it may move now.
    pub(crate) movable: bool,
}

/// A core for each task, and what tasks on it and beside it make of that.
#[derive(Debug)]
pub(crate) struct Assignment<'a> {
    machine: &'a Machine,
    natures: &'a [Nature],
    /// For each task of `natures`, its core.
    homes: Vec<CpuId>,
    /// For each core, how many tasks it has, and the sums of what they do and suffer.
    loads: Vec<Load>,
    /// How many tasks a core has at the most.
    places: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Load {
    tasks: u32,
    pressure: u128,
    sensitivity: u128,
}

impl Load {
    fn pressure(self) -> u128 {
        self.pressure / u128::from(self.tasks.max(1))
    }

    fn sensitivity(self) -> u128 {
        self.sensitivity / u128::from(self.tasks.max(1))
    }

    fn add(&mut self, nature: &Nature) {
        self.tasks += 1;
        self.pressure += u128::from(nature.pressure);
        self.sensitivity += u128::from(nature.sensitivity);
    }

    fn remove(&mut self, nature: &Nature) {
        self.tasks -= 1;
        self.pressure -= u128::from(nature.pressure);
        self.sensitivity -= u128::from(nature.sensitivity);
    }
}

/// A change of an assignment: a task goes to a core, and another one of there may come in return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Exchange {
    task: usize,
    to: CpuId,
    back: Option<usize>,
}

impl<'a> Assignment<'a> {
    /// Tasks on the cores where they are, as far as these have places for them, and the others on cores
    /// that have. Each task may use at least one core of the machine, else it stays where it is.
    pub(crate) fn new(
        machine: &'a Machine,
        natures: &'a [Nature],
        at: &BTreeMap<TaskId, CpuId>,
    ) -> Self {
        let cores = machine.cores();
        let places = (natures.len() as u32).div_ceil(cores.max(1));
        let mut new = Self {
            machine,
            natures,
            homes: alloc::vec![CpuId(0); natures.len()],
            loads: alloc::vec![Load::default(); cores as usize],
            places,
        };
        let mut homeless = Vec::new();
        for (index, nature) in natures.iter().enumerate() {
            let here = at.get(&nature.task).copied();
            let here = here.filter(|&cpu| nature.allowed.contains(cpu) && new.has_place(cpu));
            match here {
                Some(cpu) => new.put(index, cpu),
                None => homeless.push(index),
            }
        }
        for index in homeless {
            let usable = machine.compact().iter();
            let usable = usable.filter(|&&cpu| natures[index].allowed.contains(cpu));
            let emptiest = usable.min_by_key(|cpu| new.loads[cpu.0 as usize].tasks).copied();
            new.put(index, emptiest.unwrap_or(CpuId(0)));
        }
        new.level();
        new
    }

    fn has_place(&self, cpu: CpuId) -> bool {
        self.loads.get(cpu.0 as usize).is_some_and(|load| load.tasks < self.places)
    }

    fn put(&mut self, task: usize, cpu: CpuId) {
        self.homes[task] = cpu;
        self.loads[cpu.0 as usize].add(&self.natures[task]);
    }

    /// The core of each task, in the order of the natures.
    pub(crate) fn homes(&self) -> &[CpuId] {
        &self.homes
    }

    /// What tasks suffer altogether.
    pub(crate) fn cost(&self) -> u128 {
        self.machine.cpus().map(|cpu| self.cost_of(cpu)).sum::<u128>() / 2
    }

    /// What the tasks of a core suffer under others, and make others suffer.
    fn cost_of(&self, cpu: CpuId) -> u128 {
        self.machine.cpus().map(|other| self.between(cpu, other)).sum()
    }

    /// What the tasks of two cores suffer under each other.
    fn between(&self, a: CpuId, b: CpuId) -> u128 {
        let (Some(here), Some(there)) = (self.machine.topology(a), self.machine.topology(b)) else {
            return 0;
        };
        if a == b || (there.node != here.node && there.cache != here.cache) {
            return 0;
        }
        let (mine, theirs) = (self.loads[a.0 as usize], self.loads[b.0 as usize]);
        let both = mine.sensitivity() * theirs.pressure() + theirs.sensitivity() * mine.pressure();
        if there.cache == here.cache { both } else { both / NODE }
    }

    /// What changes of two cores can change.
    fn cost_around(&self, a: CpuId, b: CpuId) -> u128 {
        self.cost_of(a) + self.cost_of(b) - self.between(a, b)
    }

    /// Moves tasks from the fullest cores to the emptiest until all have equally many, as far as their
    /// allowances let them.
    fn level(&mut self) {
        loop {
            let tasks = |cpu: &CpuId| self.loads[cpu.0 as usize].tasks;
            let movable = (0..self.natures.len()).filter_map(|task| {
                let allowed = &self.natures[task].allowed;
                let usable = self.machine.compact().iter().filter(|&&cpu| allowed.contains(cpu));
                let to = usable.copied().min_by_key(tasks)?;
                let gap = tasks(&self.homes[task]).checked_sub(tasks(&to))?;
                (gap > 1).then_some((gap, core::cmp::Reverse(task), to))
            });
            let Some((_, task, to)) = movable.max() else { return };
            self.move_to(task.0, to);
        }
    }

    /// Makes at most so many exchanges, each of which lowers the cost by at least this many per cent.
    pub(crate) fn improve(&mut self, exchanges: u32, percent: u32) {
        for _ in 0..exchanges {
            let Some((exchange, spared)) = self.best_exchange() else { return };
            if spared * 100 < self.cost() * u128::from(percent) {
                return;
            }
            self.make(exchange);
        }
    }

    /// The exchange that spares tasks most, and how much, if one does.
    fn best_exchange(&mut self) -> Option<(Exchange, u128)> {
        let candidates = self.candidates();
        let mut best: Option<(Exchange, u128)> = None;
        for (rank, &task) in candidates.iter().enumerate() {
            let exchanges = candidates[rank + 1..].iter();
            let exchanges = exchanges.map(|&other| (self.homes[other], Some(other)));
            let moves = self.machine.cpus().map(|cpu| (cpu, None)).collect::<Vec<_>>();
            let all: Vec<(CpuId, Option<usize>)> = exchanges.chain(moves).collect();
            for (to, back) in all {
                let exchange = Exchange { task, to, back };
                let spared = self.spared(exchange);
                if spared > best.map_or(0, |(_, most)| most) {
                    best = Some((exchange, spared));
                }
            }
        }
        best
    }

    fn candidates(&self) -> Vec<usize> {
        let mut movable: Vec<usize> =
            (0..self.natures.len()).filter(|&task| self.natures[task].movable).collect();
        if movable.len() > MOST_EXCHANGED {
            let matters = |task: &usize| {
                let nature = &self.natures[*task];
                core::cmp::Reverse(nature.pressure.max(nature.sensitivity))
            };
            movable.sort_by_key(matters);
            movable.truncate(MOST_EXCHANGED);
            movable.sort_unstable();
        }
        movable
    }

    /// What an exchange spares tasks; nothing if it is not allowed.
    fn spared(&mut self, exchange: Exchange) -> u128 {
        let Exchange { task, to, back } = exchange;
        let from = self.homes[task];
        let fits = |task: usize, cpu: CpuId| self.natures[task].allowed.contains(cpu);
        let level = |cpu: CpuId| self.loads[cpu.0 as usize].tasks;
        let allowed = match back {
            Some(back) => fits(back, from),
            None => level(from) > level(to),
        };
        if to == from || !fits(task, to) || !allowed {
            return 0;
        }
        let before = self.cost_around(from, to);
        self.make(exchange);
        let after = self.cost_around(from, to);
        self.make(Exchange { task, to: from, back });
        before.saturating_sub(after)
    }

    fn make(&mut self, exchange: Exchange) {
        let from = self.homes[exchange.task];
        self.move_to(exchange.task, exchange.to);
        if let Some(back) = exchange.back {
            self.move_to(back, from);
        }
    }

    fn move_to(&mut self, task: usize, cpu: CpuId) {
        let from = self.homes[task].0 as usize;
        self.loads[from].remove(&self.natures[task]);
        self.put(task, cpu);
    }
}
