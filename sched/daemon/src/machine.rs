//! This host as policies see it.

use std::collections::BTreeMap;
use std::path::Path;

use kilocore_sched_policy::{CacheId, CpuId, CpuTopology, Machine, NodeId};

use crate::caches;

/// The cores of this host and the caches that they share. If the system does not tell, all cores up to
/// the highest one that this process may use share a cache.
#[must_use]
pub fn this_machine() -> Machine {
    machine_below(Path::new("/sys/devices/system")).unwrap_or_else(|| {
        let last = kilocore_process::allowed_cores().into_iter().map(|cpu| cpu.0).max();
        Machine::flat(last.unwrap_or(0) + 1)
    })
}

/// The machine whose files are below a folder.
fn machine_below(root: &Path) -> Option<Machine> {
    let shape = kilocore_hardware::shape(root).ok()?;
    let cores = shape.processors.iter().map(|processor| processor.cpu + 1).max().unwrap_or(1);
    let unknown = CpuTopology { thread: 0, cache: CacheId(0), node: NodeId(0) };
    let mut cpus = vec![unknown; cores as usize];
    let mut threads: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut caches: BTreeMap<Sharers, u32> = BTreeMap::new();
    for processor in &shape.processors {
        let thread = threads.entry((processor.socket, processor.core)).or_default();
        let next = caches.len() as u32;
        // A group of the shape may be cores with a nearer cache in common.
        let sharers = caches::last_level(root, processor.cpu)
            .map_or(Sharers::Group(processor.group), Sharers::First);
        let cache = *caches.entry(sharers).or_insert(next);
        cpus[processor.cpu as usize] =
            CpuTopology { thread: *thread, cache: CacheId(cache), node: NodeId(processor.node) };
        *thread += 1;
    }
    Some(Machine::new(cpus))
}

/// Who shares a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sharers {
    /// The cores of this list, of which it is the first.
    First(CpuId),
    /// The cores of a group, where the system lists no caches.
    Group(u32),
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// The last-level caches of the first cores of a recorded machine.
    fn caches(recorded: &str, cores: u32, change: impl Fn(&str) -> bool) -> Vec<u32> {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../host/hardware/tests/data");
        let text = fs::read_to_string(data.join(recorded)).expect("it is recorded");
        let folder = tempfile::tempdir().expect("a folder");
        let lines = text.lines().filter_map(|line| line.split_once(" = "));
        for (path, content) in lines.filter(|(path, _)| change(path)) {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("room");
            fs::write(path, format!("{content}\n")).expect("room");
        }
        let machine = machine_below(folder.path()).expect("it is understood");
        let topology = |cpu| machine.topology(CpuId(cpu)).expect("it is there");
        (0..cores).map(|cpu| topology(cpu).cache.0).collect()
    }

    #[test]
    fn modules_that_share_a_nearer_cache_are_not_taken_for_the_last_level() {
        assert_eq!(
            caches("two-hops-modules.tree", 12, |_| true),
            [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]
        );
    }

    #[test]
    fn hardware_threads_numbered_last_share_the_cache_of_their_core() {
        let caches = caches("two-sockets-smt.tree", 32, |_| true);
        assert_eq!(caches[..16], caches[16..]);
        assert_eq!(caches[..6], [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn where_no_caches_are_listed_groups_stand_for_them() {
        let listed = |path: &str| !path.contains("/cache/");
        assert_eq!(caches("two-core-vm.tree", 2, listed), [0, 0]);
    }
}
