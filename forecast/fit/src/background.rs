//! What a program does beside contending for locks, and no lock can mend.

use kilocore_locks::LockId;
use kilocore_machine::Description;
use kilocore_predict::{
    Duration, KeptLock, LockUse, MemoryUse, Mode, Placement, PointError, RunSize, Section,
    Workload, simulate,
};

/// A phase whose time does not depend on the lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Background {
    /// One thread works and all others wait.
    Serial,
    /// All stream through data that lies on one node, as it does when the main thread made it.
    OneMemory,
    /// Each streams through data on its own node.
    LocalMemory,
    /// All fault pages of their process in: each fault shares a lock of the kernel.
    Faults,
    /// All map and unmap memory, alone in the kernel.
    Mappings,
    /// All meet at barriers, at which they arrive and which they leave one after another.
    Barriers,
}

impl Background {
    /// All of them.
    pub(crate) const ALL: &'static [Background] = &[
        Background::Serial,
        Background::OneMemory,
        Background::LocalMemory,
        Background::Faults,
        Background::Mappings,
        Background::Barriers,
    ];

    /// What it is, for a reader.
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

    /// The share of one core's time that goes to a small amount of it, where 1 is usual. A barrier
    /// takes a core that is alone next to no time, and many cores much more than that.
    pub(crate) fn smallness(self) -> f64 {
        match self {
            Background::Barriers => 0.1,
            _ => 1.0,
        }
    }

    /// How often a second it is done on `cores` cores of `machine`.
    pub(crate) fn throughput_per_s(
        self,
        machine: &Description,
        cores: u32,
        seed: u64,
    ) -> Result<f64, PointError> {
        let workload = match self {
            Background::Serial => return Ok(1.0),
            // Whether they count up a word or take a mutex and wake each other, it is one after
            // another, and the program's own locks have no part in it.
            Background::Barriers => return Ok(1.0 / f64::from(cores)),
            Background::OneMemory => streaming(Placement::OneNode),
            Background::LocalMemory => streaming(Placement::Local),
            Background::Faults => in_kernel(Mode::Shared),
            Background::Mappings => in_kernel(Mode::Exclusive),
        };
        let size = RunSize { sections: SECTIONS, seed, ..RunSize::default() };
        // There is no lock of the program for the choice to matter.
        Ok(simulate(&workload, LockId::Futex, machine, cores, size)?.throughput_per_s)
    }
}

/// Operations simulated for a point.
const SECTIONS: u64 = 4_000;
/// Lines fetched at a time: enough to keep a core's line buffers full for a while.
const LINES: f64 = 256.0;
/// The cycles between two lines of a stream: little, or memory would not be what limits it.
const CYCLES_PER_LINE: f64 = 4.0;
/// What a page fault or a mapping does in the kernel, in cycles: clears or finds a page.
const KERNEL_CYCLES: f64 = 2_000.0;
/// What the program does with the page.
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
    let section = Section { lock: 0, mode, hold, asleep: 0.0, lines: 0.0, inner: Vec::new() };
    let kept = Some(KeptLock::KernelReadWrite);
    Workload {
        think: Duration::Exponential(BETWEEN_CYCLES),
        asleep: 0.0,
        memory: None,
        serial: 0.0,
        barriers: None,
        locks: vec![LockUse { instances: 1, per_thread: false, read_write: true, kept }],
        sections: vec![(1.0, section)],
    }
}
