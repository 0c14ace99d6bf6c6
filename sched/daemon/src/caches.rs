//! Which cores share a last-level cache, as Linux lists it:
//!
//! ```text
//! cpu/cpu0/cache/index3/level             3
//! cpu/cpu0/cache/index3/type              Unified
//! cpu/cpu0/cache/index3/shared_cpu_list   0-3,16-19
//! ```

use std::fs;
use std::path::Path;

use kilocore_sched_policy::CpuId;

use crate::cpu_list;

/// The first of the cores that share the last-level cache of a core: it stands for the cache. `None` if
/// the system lists no cache for it.
pub(crate) fn last_level(root: &Path, cpu: u32) -> Option<CpuId> {
    let caches = fs::read_dir(root.join(format!("cpu/cpu{cpu}/cache"))).ok()?;
    let listed = caches.flatten().filter_map(|cache| {
        let read = |name| fs::read_to_string(cache.path().join(name)).ok();
        let level: u32 = read("level")?.trim().parse().ok()?;
        let holds_data = read("type")?.trim() != "Instruction";
        let sharers = cpu_list::parse(read("shared_cpu_list")?.trim())?;
        holds_data.then_some((level, sharers.iter().next()?))
    });
    listed.max_by_key(|(level, _)| *level).map(|(_, first)| first)
}
