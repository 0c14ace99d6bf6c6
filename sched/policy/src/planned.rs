//! A plan that somebody made beforehand: which tasks run side by side.
//!
//! Each set of the plan belongs to one last-level cache, and each of its tasks to one core of that.
//! Where several sets share a cache they take turns: a core takes, of its tasks that are due, the one
//! whose set the other cores run. It is how an offline optimum is put into practice, to be compared
//! with policies that know nothing beforehand.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;

use kilocore_platform::{CpuId, Nanos};

use crate::ids::{CacheId, TaskId};
use crate::machine::Machine;
use crate::order::Order;
use crate::policy::{Policy, Ready, due};
use crate::window::Window;

/// Runs tasks side by side as planned.
#[derive(Debug, Clone)]
pub struct Planned {
    /// For each task, the number of its set and its place in it.
    places: BTreeMap<TaskId, (usize, usize)>,
    placed: BTreeMap<TaskId, CpuId>,
    lead: Nanos,
}

impl Planned {
    /// A plan of sets, each with no more tasks than a last-level cache has cores. The first set goes to
    /// the first cache, and so on, from the beginning again after the last one. A task that is picked to
    /// run beside its set may be ahead by `lead` of others of its core.
    #[must_use]
    pub fn new(sets: &[Vec<TaskId>], lead: Nanos) -> Self {
        let mut new = Self { places: BTreeMap::new(), placed: BTreeMap::new(), lead };
        new.plan(sets);
        new
    }

    /// Takes these sets in place of those before. Tasks stay where they are until they are placed
    /// anew.
    pub(crate) fn plan(&mut self, sets: &[Vec<TaskId>]) {
        self.places.clear();
        for (set, tasks) in sets.iter().enumerate() {
            self.places.extend(tasks.iter().enumerate().map(|(place, &task)| (task, (set, place))));
        }
    }

    /// Takes tasks out of the plan.
    pub(crate) fn forget(&mut self, gone: &BTreeSet<TaskId>) {
        self.places.retain(|task, _| !gone.contains(task));
        self.placed.retain(|task, _| !gone.contains(task));
    }

    /// The plan as seats, sets of `size` one after the other, with the places of tasks in a list on
    /// them. Nothing if it does not seat just these tasks.
    pub(crate) fn seats(&self, tasks: &[TaskId], size: usize) -> Option<Vec<Option<usize>>> {
        let mut seats = alloc::vec![None; tasks.len().next_multiple_of(size)];
        if self.places.len() != tasks.len() {
            return None;
        }
        for (task, &(set, place)) in &self.places {
            let seat = seats.get_mut(set * size + place)?;
            *seat = Some(tasks.binary_search(task).ok()?);
        }
        Some(seats)
    }

    fn set_of(&self, task: TaskId) -> Option<usize> {
        self.places.get(&task).map(|place| place.0)
    }
}

/// The cores of each last-level cache, caches and cores in rising order.
pub(crate) fn cores_by_cache(machine: &Machine) -> Vec<Vec<CpuId>> {
    let mut caches: BTreeMap<CacheId, Vec<CpuId>> = BTreeMap::new();
    for cpu in machine.cpus() {
        if let Some(topology) = machine.topology(cpu) {
            caches.entry(topology.cache).or_default().push(cpu);
        }
    }
    caches.into_values().collect()
}

impl Policy for Planned {
    fn name(&self) -> &'static str {
        "planned"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        let caches = cores_by_cache(machine);
        let mut orders = Vec::new();
        for task in window.tasks {
            let Some(&(set, place)) = self.places.get(&task.task) else { continue };
            let Some(cores) = caches.get(set % caches.len().max(1)) else { continue };
            let Some(&cpu) = cores.get(place % cores.len().max(1)) else { continue };
            if self.placed.insert(task.task, cpu) != Some(cpu) {
                orders.push(Order::confine(task, &core::iter::once(cpu).collect()));
            }
        }
        orders
    }

    fn pick(
        &mut self,
        machine: &Machine,
        core: CpuId,
        ready: &[Ready],
        running: &[Option<TaskId>],
    ) -> usize {
        let beside: Vec<TaskId> = machine.beside(core, running).collect();
        let with = |task: TaskId| {
            let set = self.set_of(task);
            beside.iter().filter(|&&other| set.is_some() && self.set_of(other) == set).count()
        };
        let best = due(ready, self.lead)
            .min_by_key(|(place, task)| (core::cmp::Reverse(with(task.task)), task.had, *place));
        best.map_or(0, |(place, _)| place)
    }
}
