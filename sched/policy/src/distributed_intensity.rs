//! Distributed Intensity: tasks that miss most in the last-level cache spread over caches.
//!
//! Zhuravlev, Blagodurov and Fedorova (ASPLOS 2010): tasks are sorted by their rate of misses and dealt
//! to the caches, so that each gets an equal part of all misses. It is the strongest published rival of
//! resource-contention-aware scheduling. It only places, and picks nothing at context switches; and it
//! takes what presses hard for what suffers.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::cpu_set::CpuSet;
use crate::ids::{CacheId, TaskId};
use crate::machine::Machine;
use crate::metric::{Metric, Smoothed};
use crate::order::Order;
use crate::policy::Policy;
use crate::window::Window;

/// Spreads tasks over caches by their rates of misses.
#[derive(Debug, Default)]
pub struct DistributedIntensity {
    misses: BTreeMap<TaskId, Smoothed>,
    placed: BTreeMap<TaskId, CacheId>,
    windows: u32,
}

/// Tasks are sorted anew after so many windows: about once in a second, as published, with windows of a
/// tenth of it.
const PERIOD: u32 = 10;

impl Policy for DistributedIntensity {
    fn name(&self) -> &'static str {
        "distributed-intensity"
    }

    fn window(&mut self, machine: &Machine, window: &Window<'_>) -> Vec<Order> {
        let alive = |id: &TaskId| window.tasks.binary_search_by_key(id, |task| task.task).is_ok();
        self.misses.retain(|id, _| alive(id));
        self.placed.retain(|id, _| alive(id));
        for task in window.tasks {
            if let Some(counters) = task.counters.filter(|counters| counters.instructions > 0) {
                let misses = self.misses.entry(task.task).or_default();
                misses.update(Metric::MissesPerCycle.of(&counters));
            }
        }
        self.windows += 1;
        if !self.windows.is_multiple_of(PERIOD) {
            return Vec::new();
        }
        let caches = deal(machine, &self.misses);
        let mut orders = Vec::new();
        for task in window.tasks {
            let Some(&cache) = caches.get(&task.task) else { continue };
            if self.placed.insert(task.task, cache) != Some(cache) {
                orders.push(Order::confine(task, &cores_of(machine, cache)));
            }
        }
        orders
    }
}

fn cores_of(machine: &Machine, cache: CacheId) -> CpuSet {
    let all = machine.compact().iter().copied();
    all.filter(|&cpu| machine.topology(cpu).is_some_and(|topology| topology.cache == cache))
        .collect()
}

/// Deals tasks, those that miss most first, to the cache that misses least so far and has room.
fn deal(machine: &Machine, misses: &BTreeMap<TaskId, Smoothed>) -> BTreeMap<TaskId, CacheId> {
    let mut room: BTreeMap<CacheId, (u64, u32)> = BTreeMap::new();
    let each = (misses.len() as u32).div_ceil(machine.cores().max(1));
    for topology in machine.compact().iter().filter_map(|&cpu| machine.topology(cpu)) {
        room.entry(topology.cache).or_default().1 += each;
    }
    let mut tasks: Vec<(u64, TaskId)> = misses.iter().map(|(id, rate)| (rate.get(), *id)).collect();
    tasks.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut dealt = BTreeMap::new();
    for (rate, task) in tasks {
        let open = room.iter_mut().filter(|(_, (_, left))| *left > 0);
        let Some((&cache, load)) = open.min_by_key(|(cache, (missed, _))| (*missed, **cache))
        else {
            break;
        };
        load.0 = load.0.saturating_add(rate);
        load.1 -= 1;
        dealt.insert(task, cache);
    }
    dealt
}
