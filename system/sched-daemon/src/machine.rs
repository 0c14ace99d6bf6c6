//! This host as policies see it.

use std::collections::BTreeMap;
use std::path::Path;

use kilocore_sched_policy::{CacheId, Machine, NodeId, Place};

/// The cores of this host and the caches that they share. If the system does not tell, all cores up to
/// the highest one that this process may use share a cache.
#[must_use]
pub fn this_machine() -> Machine {
    let Ok(shape) = kilocore_host::shape(Path::new("/sys/devices/system")) else {
        let last = kilocore_process::allowed_cores().into_iter().map(|cpu| cpu.0).max();
        return Machine::flat(last.unwrap_or(0) + 1);
    };
    let cores = shape.processors.iter().map(|processor| processor.cpu + 1).max().unwrap_or(1);
    let nowhere = Place { thread: 0, cache: CacheId(0), node: NodeId(0) };
    let mut places = vec![nowhere; cores as usize];
    let mut threads: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut caches: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for processor in &shape.processors {
        let thread = threads.entry((processor.socket, processor.core)).or_default();
        let next = caches.len() as u32;
        let cache = *caches.entry((processor.socket, processor.group)).or_insert(next);
        places[processor.cpu as usize] =
            Place { thread: *thread, cache: CacheId(cache), node: NodeId(processor.node) };
        *thread += 1;
    }
    Machine::new(places)
}
