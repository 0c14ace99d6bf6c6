//! What a program does besides contending for locks, and what no lock can mend.

use crate::{
    Duration, KeptLock, LockUse, MemoryUse, Mode, Placement, PointJob, RunSize, Section, Workload,
};
use kilocore_locks::LockId;

/// A phase whose time does not depend on the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Background {
    /// One thread works and all others wait.
    Serial,
    /// All threads stream through data that lies on one node, as data does that the main thread
    /// made.
    OneMemory,
    /// Each thread streams through data on its own node.
    LocalMemory,
    /// All threads fault in pages of their process. The faults share a lock of the kernel.
    Faults,
    /// All threads map and unmap memory, and only one at a time can do so in the kernel.
    Mappings,
    /// All threads meet at barriers. They arrive and leave one after another.
    Barriers,
}

impl Background {
    pub(crate) const ALL: &'static [Background] = &[
        Background::Serial,
        Background::OneMemory,
        Background::LocalMemory,
        Background::Faults,
        Background::Mappings,
        Background::Barriers,
    ];

    /// A description for readers.
    #[must_use]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Background::Serial => "serial code",
            Background::OneMemory => "streaming from the memory of one node",
            Background::LocalMemory => "streaming from memory",
            Background::Faults => "page faults",
            Background::Mappings => "mapping memory",
            Background::Barriers => "barriers",
        }
    }

    /// The scale on which shares of this background are small or large, where 1 is usual. The
    /// shares are those of one core's time. The scale of barriers is smaller, because a barrier
    /// takes next to no time on a single core, and much more on many cores.
    pub(crate) fn smallness(self) -> f64 {
        match self {
            Background::Barriers => 0.1,
            _ => 1.0,
        }
    }

    /// The workload that shows how often the background is done. `None` if that is known without.
    pub(crate) fn workload(self) -> Option<Workload> {
        match self {
            Background::Serial | Background::Barriers => None,
            Background::OneMemory => Some(streaming(Placement::OneNode)),
            Background::LocalMemory => Some(streaming(Placement::Local)),
            Background::Faults => Some(in_kernel(Mode::Shared)),
            Background::Mappings => Some(in_kernel(Mode::Exclusive)),
        }
    }

    /// How often a background without a workload is done on `cores` cores, in any unit.
    pub(crate) fn known(self, cores: u32) -> f64 {
        match self {
            // Threads may count up a word, or take a mutex and wake each other. Either way they
            // pass one after another, and the program's own locks have no part in that.
            Background::Barriers => 1.0 / f64::from(cores),
            _ => 1.0,
        }
    }
}

/// The simulation of a background's workload on `cores` cores.
pub(crate) fn job(workload: &Workload, cores: u32, seed: u64) -> PointJob<'_> {
    let size = RunSize { sections: SECTIONS, seed, ..RunSize::default() };
    // The choice does not matter, because there is no lock of the program's.
    PointJob { workload, lock: LockId::Futex.into(), cores, size }
}

/// Operations simulated for a point.
const SECTIONS: u64 = 4_000;
/// Lines fetched at a time. These are enough to keep a core's line buffers full for a while.
const LINES: f64 = 256.0;
/// The cycles between two lines of a stream. They are few, so that memory is what limits the
/// stream.
const CYCLES_PER_LINE: f64 = 4.0;
/// How long a page fault or a mapping works in the kernel to clear or find a page, in cycles.
const KERNEL_CYCLES: f64 = 2_000.0;
/// How long the program works with the page, in cycles.
const BETWEEN_CYCLES: f64 = 4_000.0;

fn streaming(placement: Placement) -> Workload {
    Workload {
        think: Duration::Constant(LINES * CYCLES_PER_LINE),
        asleep: 0.0,
        memory: Some(MemoryUse::stream(LINES, placement)),
        serial: 0.0,
        barriers: None,
        locks: Vec::new(),
        sections: Vec::new(),
    }
}

fn in_kernel(mode: Mode) -> Workload {
    let hold = Duration::Exponential(KERNEL_CYCLES);
    let section =
        Section { lock: 0, mode, hold, asleep: 0.0, lines: 0.0, polled: None, inner: Vec::new() };
    let kept = Some(KeptLock::KernelReadWrite);
    Workload {
        think: Duration::Exponential(BETWEEN_CYCLES),
        asleep: 0.0,
        memory: None,
        serial: 0.0,
        barriers: None,
        locks: vec![LockUse { kept, ..LockUse::ONE }],
        sections: vec![(1.0, section)],
    }
}
