//! What a program does besides contending for locks, and what no lock can mend.

use crate::kept::simulate_or_recall;
use crate::{
    Duration, Kept, KeptLock, LockUse, MemoryUse, Mode, Placement, PointError, RunSize, Section,
    Workload,
};
use kilocore_locks::LockId;
use kilocore_machine::Description;

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

    /// How often in a second the background is done on `cores` cores of `machine`.
    pub(crate) fn throughput_per_s(
        self,
        kept: Option<&Kept<'_>>,
        machine: &Description,
        cores: u32,
        seed: u64,
    ) -> Result<f64, PointError> {
        let workload = match self {
            Background::Serial => return Ok(1.0),
            // Threads may count up a word, or take a mutex and wake each other. Either way they
            // pass one after another, and the program's own locks have no part in that.
            Background::Barriers => return Ok(1.0 / f64::from(cores)),
            Background::OneMemory => streaming(Placement::OneNode),
            Background::LocalMemory => streaming(Placement::Local),
            Background::Faults => in_kernel(Mode::Shared),
            Background::Mappings => in_kernel(Mode::Exclusive),
        };
        let size = RunSize { sections: SECTIONS, seed, ..RunSize::default() };
        // The choice does not matter, because there is no lock of the program's.
        let under = (&workload, LockId::Futex.into());
        Ok(simulate_or_recall(kept, under, machine, cores, size)?.throughput_per_s)
    }
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
