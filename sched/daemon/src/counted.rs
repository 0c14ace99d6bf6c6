//! What hardware counters counted for each thread in a window, and what its neighbours asked for
//! meanwhile.
//!
//! Nobody counts the latter. It is estimated: what other threads whose last core shares the same
//! last-level cache asked for in the window, times the share of the window for which this thread had a
//! core. Threads of the same core are left out, since they do not run beside it. So are programs that are
//! not steered, and threads that could not be counted.

use std::collections::BTreeMap;

use kilocore_sched_policy::{CacheId, Counters, CpuId, Machine, Nanos, TaskWindow};

use crate::counters::{CounterSource, Reading};
use crate::descriptors;
use crate::named::Named;
use crate::tree::Tree;

/// The threads that are counted.
#[derive(Debug)]
pub(crate) struct Counted {
    source: Box<dyn CounterSource>,
    /// What was read last, of each.
    before: BTreeMap<Named, Reading>,
    /// The most threads at a time that there was no room for.
    no_room: usize,
    /// The most at a time for which the system refused to count.
    refused: usize,
    /// The most that ran through a window without a turn of the counters.
    no_turn: usize,
}

impl Counted {
    pub(crate) fn of(source: Box<dyn CounterSource>) -> Self {
        Self { source, before: BTreeMap::new(), no_room: 0, refused: 0, no_turn: 0 }
    }

    pub(crate) fn describe(&self) -> String {
        self.source.describe()
    }

    /// What each thread did since the last call, without neighbours. One that is new is counted from now
    /// on.
    pub(crate) fn take(&mut self, tree: &Tree) -> BTreeMap<Named, Counters> {
        self.end_gone(tree);
        let mut counted = BTreeMap::new();
        let (mut no_room, mut refused, mut no_turn) = (0, 0, 0);
        for thread in tree.threads() {
            let tid = thread.of.id;
            if let Some(then) = self.before.get_mut(&thread.of) {
                // One that has just ended cannot be read, and is not there in the next window.
                let Ok(now) = self.source.read(tid) else { continue };
                match now.since(then) {
                    Some(counters) => drop(counted.insert(thread.of, counters)),
                    None => no_turn += 1,
                }
                *then = now;
            } else if no_room > 0 {
                no_room += 1;
            } else {
                match self.source.begin(tid) {
                    Ok(()) => drop(self.before.insert(thread.of, Reading::default())),
                    Err(error) => match error.raw_os_error() {
                        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => no_room += 1,
                        Some(libc::ESRCH) => {}
                        _ => refused += 1,
                    },
                }
            }
        }
        self.no_room = self.no_room.max(no_room);
        self.refused = self.refused.max(refused);
        self.no_turn = self.no_turn.max(no_turn);
        counted
    }

    /// Numbers are used again, so those that are gone are ended before others begin.
    fn end_gone(&mut self, tree: &Tree) {
        let alive: BTreeMap<u32, Named> =
            tree.threads().map(|thread| (thread.of.id, thread.of)).collect();
        let source = &mut self.source;
        self.before.retain(|of, _| {
            let there = alive.get(&of.id) == Some(of);
            if !there {
                source.end(of.id);
            }
            there
        });
    }

    /// What could not be counted, in words.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let mut unseen = vec!["what programs that are not steered ask of shared caches".to_owned()];
        if self.no_room > 0 {
            unseen.push(format!(
                "hardware counters of {} threads (too many open files: {} are allowed; raise `ulimit \
                 -Hn`)",
                self.no_room,
                descriptors::limits().0
            ));
        }
        if self.refused > 0 {
            unseen.push(format!(
                "hardware counters of {} threads (the system refused)",
                self.refused
            ));
        }
        if self.no_turn > 0 {
            unseen.push(format!(
                "hardware counters of {} threads in some windows (others had all of the processor's \
                 counters)",
                self.no_turn
            ));
        }
        unseen
    }
}

/// Fills in what neighbours asked for, of tasks whose own counters are there.
pub(crate) fn estimate_neighbours(tasks: &mut [TaskWindow], machine: &Machine, length: Nanos) {
    #[derive(Default, Clone, Copy)]
    struct Asked {
        references: u64,
        misses: u64,
    }
    let cache = |cpu: CpuId| machine.topology(cpu).map(|topology| topology.cache);
    let mut caches: BTreeMap<CacheId, Asked> = BTreeMap::new();
    let mut cores: BTreeMap<CpuId, Asked> = BTreeMap::new();
    for task in &*tasks {
        let (Some(counters), Some(cache)) = (&task.counters, cache(task.cpu)) else { continue };
        for asked in [caches.entry(cache).or_default(), cores.entry(task.cpu).or_default()] {
            asked.references = asked.references.saturating_add(counters.references);
            asked.misses = asked.misses.saturating_add(counters.misses);
        }
    }
    for task in tasks {
        let (Some(counters), Some(cache)) = (&mut task.counters, cache(task.cpu)) else { continue };
        let (all, own) = (
            caches.get(&cache).copied().unwrap_or_default(),
            cores.get(&task.cpu).copied().unwrap_or_default(),
        );
        let (ran, length) = (task.ran.0.min(length.0), length.0.max(1));
        let meanwhile = |all: u64, own: u64| {
            let asked = u128::from(all.saturating_sub(own)) * u128::from(ran) / u128::from(length);
            u64::try_from(asked).unwrap_or(u64::MAX)
        };
        counters.neighbour_references = meanwhile(all.references, own.references);
        counters.neighbour_misses = meanwhile(all.misses, own.misses);
    }
}
