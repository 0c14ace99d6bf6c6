//! The policies, by name, with the sizes that they have on a machine.

use std::fmt;
use std::str::FromStr;

use kilocore_locks::Mcs;
use kilocore_machine::{Description, HardwareThread};
use kilocore_names::{UnknownName, find};
use kilocore_pages::{
    BATCH, Buddy, CORES_PER_STRIPE, Cold, Contents, Direct, Geometry, Linux4_18, Linux6_12, LlFree,
    PagePolicy, PerCore, Tiered, TieredOptions,
};
use kilocore_sim::Sim;

/// Which free page an allocation gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Policy {
    /// The kernel of the paper: lists of at most 186 pages above a buddy system.
    Linux4_18,
    /// A later kernel: lists that grow with what a core releases in a row, above a buddy system.
    Linux6_12,
    /// The paper's three tiers as it describes them: pages move one at a time, there is one list for each
    /// last-level cache, and a buddy system below. A core's list is as long as its private cache.
    Paper,
    /// The tiers of `kilocore-pages`: pages move by the batch, the shared list is in stripes, and LLFree is
    /// below. Hardware threads share their core's private cache.
    Tiered,
    /// LLFree without lists.
    LlFree,
}

impl Policy {
    /// All of them, the baseline first.
    pub const ALL: [Policy; 5] =
        [Policy::Linux4_18, Policy::Linux6_12, Policy::Paper, Policy::Tiered, Policy::LlFree];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux4_18 => "linux-4.18",
            Self::Linux6_12 => "linux-6.12",
            Self::Paper => "paper",
            Self::Tiered => "tiered",
            Self::LlFree => "llfree",
        }
    }

    /// Makes a pool of frames that are all free and of unknown contents, for so many hardware threads of a
    /// machine with `memory_frames` frames. These are those of the whole machine, by which kernels size their
    /// lists; the pool has only as many as the load needs.
    pub(crate) fn make(
        self,
        machine: &Description,
        cores: u32,
        frames: u32,
        memory_frames: u32,
    ) -> Box<dyn PagePolicy> {
        let buddy = || Cold::<Sim, _>::new(Buddy::<Sim, Mcs<Sim>>::new(frames), Contents::Unknown);
        let llfree = || LlFree::<Sim>::new(frames, cores, Geometry::for_frames(frames, cores));
        match self {
            Self::Linux4_18 => {
                Box::new(PerCore::<Sim, _, _>::new(cores, Linux4_18::STANDARD, buddy()))
            }
            Self::Linux6_12 => {
                let rule = Linux6_12::for_memory(memory_frames, machine.hardware_threads());
                // A list never has more than all frames.
                let rule =
                    Linux6_12 { high_max: rule.high_max.min(frames.max(rule.high_min)), ..rule };
                Box::new(PerCore::<Sim, _, _>::new(cores, rule, buddy()))
            }
            Self::Paper => {
                let options = TieredOptions {
                    private_frames: private_frames(machine),
                    batch: 1,
                    cores_per_stripe: u32::MAX,
                    ..tiers(machine, cores)
                };
                let free = Buddy::<Sim, Mcs<Sim>>::new(frames);
                Box::new(Tiered::<Sim, _>::tiered(&options, free, Contents::Unknown))
            }
            Self::Tiered => {
                let options = tiers(machine, cores);
                Box::new(Tiered::<Sim>::tiered(&options, llfree(), Contents::Unknown))
            }
            Self::LlFree => Box::new(Direct::<Sim, _>::new(
                cores,
                Cold::<Sim, _>::new(llfree(), Contents::Unknown),
            )),
        }
    }
}

const PAGE_KIB: f64 = 4.0;

fn private_frames(machine: &Description) -> u32 {
    (machine.caches.private_kib.value / PAGE_KIB) as u32
}

/// Sizes the tiers as the library does it on a real machine.
fn tiers(machine: &Description, cores: u32) -> TieredOptions {
    let topology = &machine.topology;
    let groups_per_cache =
        (topology.groups_per_node / machine.caches.shared_per_node.max(1)).max(1);
    let cache_of = |thread| machine.location(HardwareThread(thread)).group / groups_per_cache;
    let private_frames = private_frames(machine) / topology.threads_per_core;
    TieredOptions {
        last_level_caches: (0..cores).map(cache_of).collect(),
        private_frames,
        shared_frames: (machine.caches.shared_kib.value / PAGE_KIB) as u32,
        batch: BATCH.min(private_frames.div_ceil(4).max(1)),
        cores_per_stripe: CORES_PER_STRIPE,
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Policy {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Self, UnknownName> {
        find("policy", name, Self::ALL.map(|policy| (policy.name(), policy)))
    }
}
