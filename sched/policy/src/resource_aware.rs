//! Resource-contention-aware scheduling: tasks that press on shared caches and memory run beside tasks
//! that mind least.
//!
//! It is the idea of Cui and others, *Mitigating resource contention on multicore systems via
//! scheduling*, in the thesis: a metric from the processor's counters tells how hard each task presses;
//! tasks are exchanged between cores so that heavy and light ones come to run side by side, and at a
//! context switch a core picks, of its own tasks, the one that goes best with what its neighbours run.
//!
//! There are two policies.
//!
//! * [`ResourceAware::intensity`] is that of the thesis: it takes tasks that press hard for those that
//!   suffer most, too, as the thesis found the two strongly correlated.
//! * [`ResourceAware::complement`] learns how much each task suffers, from its own cycles per
//!   instruction beside neighbours that ask more or less of the cache. So it is right as well where
//!   tasks that press hard hardly suffer. What it does not know yet it takes from the rule above.
//!
//! # Where it departs from the paper
//! * In the paper, cores are masters and slaves, and exchanges follow from which of them are unbalanced.
//!   Here any exchange that lowers what tasks suffer together may be made, the best one first.
//! * A core with a choice at a context switch stays within a bound of fairness. The paper says nothing
//!   of it.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kilocore_platform::{CpuId, Nanos};

use crate::assignment::{Assignment, Nature};
use crate::ids::TaskId;
use crate::machine::Machine;
use crate::metric::{Metric, Smoothed, millionths};
use crate::order::Order;
use crate::policy::{Policy, Ready, due};
use crate::sensitivity::Line;
use crate::window::{Counters, TaskWindow, Window};

/// The constants of [`ResourceAware`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResourceAwareOptions {
    /// What tells how hard a task presses.
    pub metric: Metric,
    /// Whether to learn how much each task suffers.
    pub learn: bool,
    /// How many windows a task is watched before it is placed.
    pub watch: u32,
    /// How many windows a task stays where it was placed, at least.
    pub dwell: u32,
    /// How many exchanges are made in a window, at the most.
    pub exchanges: u32,
    /// By how many per cent an exchange has to lower what all suffer.
    pub gain: u32,
    /// A task is placed if it wants a core for at least this share of its time, in per cent. Others
    /// are left to the operating system.
    pub busy: u32,
    /// By how much a task that is picked may be ahead, in time on its core, of the one that is most
    /// behind.
    pub lead: Nanos,
}

impl ResourceAwareOptions {
    const INTENSITY: Self = Self {
        metric: Metric::ReferencesPerInstruction,
        learn: false,
        watch: 4,
        dwell: 8,
        exchanges: 2,
        gain: 2,
        busy: 50,
        lead: Nanos(20_000_000),
    };
    const COMPLEMENT: Self =
        Self { metric: Metric::MissesPerCycle, learn: true, ..Self::INTENSITY };
}

/// No figure of a task is larger than this, so that products of two fit.
const MOST: u64 = 1 << 50;

/// Places tasks by how hard they use shared caches and memory.
#[derive(Debug)]
pub struct ResourceAware {
    name: &'static str,
    options: ResourceAwareOptions,
    tasks: BTreeMap<TaskId, TaskEstimate>,
    /// What all of them do on average, since the last window.
    usual: Usual,
}

/// What is known of a task.
#[derive(Debug, Clone, Default)]
struct TaskEstimate {
    windows: u32,
    pressure: Smoothed,
    line: Line,
    home: Option<CpuId>,
    /// For how many windows it has been there.
    dwelt: u32,
}

impl ResourceAware {
    /// Makes a policy with this name and these constants, that has seen no window.
    #[must_use]
    pub fn new(name: &'static str, options: ResourceAwareOptions) -> Self {
        Self { name, options, tasks: BTreeMap::new(), usual: Usual::default() }
    }

    /// The policy of the thesis.
    #[must_use]
    pub fn intensity() -> Self {
        Self::new("intensity", ResourceAwareOptions::INTENSITY)
    }

    /// The policy that learns how much tasks suffer.
    #[must_use]
    pub fn complement() -> Self {
        Self::new("complement", ResourceAwareOptions::COMPLEMENT)
    }

    /// The constants with which it was made.
    #[must_use]
    pub fn options(&self) -> &ResourceAwareOptions {
        &self.options
    }

    fn learn(&mut self, task: &TaskWindow, counters: &Counters) {
        let options = self.options;
        let known = self.tasks.entry(task.task).or_default();
        known.windows = known.windows.saturating_add(1);
        known.dwelt = known.dwelt.saturating_add(1);
        known.pressure.update(options.metric.of(counters).min(MOST));
        let cycles = Metric::CyclesPerInstruction.of(counters);
        if options.learn {
            known.line.update(neighbours(options.metric, counters), cycles);
        }
    }

    /// What all tasks that are known do and suffer, on one scale.
    fn natures(&self, window: &Window<'_>) -> Vec<Nature> {
        let steered = window.tasks.iter().filter(|task| self.places(task, window.length));
        let suffering = self.usual.suffering;
        steered
            .map(|task| {
                let known = &self.tasks[&task.task];
                let (pressure, sensitivity) =
                    self.nature(task.task, suffering).expect("a task that is steered is known");
                Nature {
                    task: task.task,
                    allowed: task.allowed.clone(),
                    pressure: u64::try_from(pressure).unwrap_or(u64::MAX),
                    sensitivity: u64::try_from(sensitivity).unwrap_or(u64::MAX),
                    movable: known.home.is_none() || known.dwelt >= self.options.dwell,
                }
            })
            .collect()
    }

    /// How much tasks suffer for each thousand that they press, on average over those of which it is
    /// known; 1,000 if it is known of none.
    fn usual_suffering(&self) -> u64 {
        let learned = self.tasks.values().filter_map(|known| {
            let slowdown = known.line.slowdown().filter(|_| self.options.learn)?;
            Some((u128::from(slowdown), u128::from(known.pressure.get())))
        });
        let (slowdown, pressure) = learned.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if pressure == 0 {
            return 1_000;
        }
        u64::try_from(slowdown * 1_000 / pressure).unwrap_or(u64::MAX)
    }

    /// Whether a task is placed by this policy.
    fn places(&self, task: &TaskWindow, length: Nanos) -> bool {
        let known = self.tasks.get(&task.task);
        let watched = known.is_some_and(|known| known.windows >= self.options.watch);
        let wanted = u128::from(task.ran.0) + u128::from(task.ready.0);
        let busy = wanted * 100 >= u128::from(length.0) * u128::from(self.options.busy);
        watched && busy
    }

    /// How hard a task presses, and how much it suffers.
    fn nature(&self, task: TaskId, suffering: u64) -> Option<(i128, i128)> {
        let known = self.tasks.get(&task)?;
        let pressure = i128::from(known.pressure.get());
        let learned = known.line.slowdown().filter(|_| self.options.learn);
        let unlearned = pressure * i128::from(suffering) / 1_000;
        let sensitivity = learned.map_or(unlearned, i128::from);
        Some((pressure, sensitivity.min(i128::from(MOST))))
    }

    /// By how much two tasks suffer more side by side than each of them beside tasks as they come. So a
    /// light neighbour is not wasted on a light task.
    fn together(&self, one: TaskId, other: TaskId) -> i128 {
        let usual = &self.usual;
        let nature = |task| self.nature(task, usual.suffering);
        let (Some(one), Some(other)) = (nature(one), nature(other)) else { return 0 };
        one.1 * (other.0 - usual.pressure) + one.0 * (other.1 - usual.sensitivity)
    }

    fn usual(&self) -> Usual {
        let suffering = self.usual_suffering();
        let natures = self.tasks.keys().filter_map(|&task| self.nature(task, suffering));
        let all = natures.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        let tasks = self.tasks.len().max(1) as i128;
        Usual { pressure: all.0 / tasks, sensitivity: all.1 / tasks, suffering }
    }
}

/// What tasks press and suffer on average.
#[derive(Debug, Clone, Copy, Default)]
struct Usual {
    pressure: i128,
    sensitivity: i128,
    /// Suffering for each thousand of pressure.
    suffering: u64,
}

/// What neighbours asked for, per cycle: lines of memory if those are what presses, else references.
fn neighbours(metric: Metric, counters: &Counters) -> u64 {
    let asked = match metric {
        Metric::MissesPerInstruction | Metric::MissesPerCycle | Metric::MissRatio => {
            counters.neighbour_misses
        }
        _ => counters.neighbour_references,
    };
    millionths(asked, counters.cycles)
}

impl Policy for ResourceAware {
    fn name(&self) -> &'static str {
        self.name
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        self.tasks.retain(|id, _| window.tasks.binary_search_by_key(id, |task| task.task).is_ok());
        for task in window.tasks {
            if let Some(counters) = task.counters.filter(|counters| counters.instructions > 0) {
                self.learn(task, &counters);
            }
        }
        self.usual = self.usual();
        let natures = self.natures(window);
        let mut at = BTreeMap::new();
        let mut unplaced = false;
        for task in window.tasks {
            if let Some(known) = self.tasks.get(&task.task) {
                at.insert(task.task, known.home.unwrap_or(task.cpu));
            }
        }
        for nature in &natures {
            unplaced |= self.tasks[&nature.task].home.is_none();
        }
        let mut assignment = Assignment::new(machine, &natures, &at);
        // When tasks come, everything is placed anew. Later on, few move at a time.
        let exchanges = if unplaced { natures.len() as u32 } else { self.options.exchanges };
        assignment.improve(exchanges, self.options.gain);
        self.orders(window, &natures, assignment.homes())
    }

    fn pick(
        &mut self,
        machine: &Machine,
        core: CpuId,
        ready: &[Ready],
        running: &[Option<TaskId>],
    ) -> usize {
        let neighbours: Vec<TaskId> = machine.beside(core, running).collect();
        let best = due(ready, self.options.lead).min_by_key(|(place, task)| {
            let suffered = neighbours.iter().map(|&other| self.together(task.task, other));
            (suffered.sum::<i128>(), *place)
        });
        best.map_or(0, |(place, _)| place)
    }
}

impl ResourceAware {
    fn orders(&mut self, window: &Window<'_>, natures: &[Nature], homes: &[CpuId]) -> Vec<Order> {
        let homes: BTreeMap<TaskId, CpuId> =
            natures.iter().map(|nature| nature.task).zip(homes.iter().copied()).collect();
        let mut orders = Vec::new();
        for task in window.tasks {
            let Some(known) = self.tasks.get_mut(&task.task) else { continue };
            let home = homes.get(&task.task).copied();
            if known.home == home {
                continue;
            }
            known.home = home;
            known.dwelt = 0;
            orders.push(match home {
                Some(cpu) => Order::confine(task, &core::iter::once(cpu).collect()),
                None => Order::release(task),
            });
        }
        orders
    }
}
