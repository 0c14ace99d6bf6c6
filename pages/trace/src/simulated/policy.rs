//! The sizes that policies have on a machine.

use kilocore_locks::Mcs;
use kilocore_machine::{Description, HardwareThread};
use kilocore_pages::{
    BATCH, CORES_PER_STRIPE, Contents, Linux6_12, PagePolicy, Policy, Sizes, TieredOptions,
};
use kilocore_sim::Sim;

const PAGE_KIB: f64 = 4.0;

/// Makes a pool of `frames` of unknown contents, for so many hardware threads of a machine with
/// `memory_frames`. These are those of the whole machine, by which kernels size their lists; the pool has only
/// as many as the load needs.
pub(crate) fn make(
    policy: Policy,
    machine: &Description,
    cores: u32,
    frames: u32,
    memory_frames: u32,
) -> Box<dyn PagePolicy> {
    policy.make::<Sim, Mcs<Sim>>(&Sizes {
        frames,
        contents: Contents::Unknown,
        tiers: tiers(machine, cores),
        threads_per_core: machine.topology.threads_per_core,
        linux_6_12: Linux6_12::for_memory(memory_frames, machine.hardware_threads()),
    })
}

/// Sizes the tiers as the library does it on a real machine.
fn tiers(machine: &Description, cores: u32) -> TieredOptions {
    let topology = &machine.topology;
    let groups_per_cache =
        (topology.groups_per_node / machine.caches.shared_per_node.max(1)).max(1);
    let cache_of = |thread| machine.location(HardwareThread(thread)).group / groups_per_cache;
    let pages = |kib: f64| (kib / PAGE_KIB) as u32;
    let private_frames = pages(machine.caches.private_kib.value) / topology.threads_per_core;
    TieredOptions {
        last_level_caches: (0..cores).map(cache_of).collect(),
        private_frames,
        shared_frames: pages(machine.caches.shared_kib.value),
        batch: BATCH.min(private_frames.div_ceil(4).max(1)),
        cores_per_stripe: CORES_PER_STRIPE,
    }
}
