//! What a chain of waits consists of.

use kilocore_platform::Cycles;

use crate::ids::TaskId;

/// Where in its code a task is, as whoever executes it numbers places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place(pub u64);

impl Place {
    /// No place that is known.
    pub const OTHER: Self = Self(0);
}

/// What ends a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Waits {
    /// Another task wakes the one that sleeps.
    Woken,
    /// Another task writes the line that the one watches.
    Written,
    /// Another task gives back a lock of the kernel.
    Kernel,
    /// Another task makes the one.
    Made,
    /// Another task leaves the core that the one wants.
    Core,
}

/// A task goes on because of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandOver {
    /// What it waited for.
    pub how: Waits,
    /// Where it waited.
    pub waiter: Place,
    /// Where the other one was.
    pub waker: Place,
}

/// A part of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChainPart {
    /// A task computes there. Its count is one of samples.
    Computing(Place),
    /// It waits for a line that it needs there.
    Lines(Place),
    /// It spins there, and nobody ends that.
    Spinning(Place),
    /// The kernel works for it there.
    System(Place),
    /// It sleeps there for a time that it has chosen.
    Asleep(Place),
    /// It waits there for something that is not simulated.
    Outside(Place),
    /// From the event that ends a wait until the task that waited runs.
    HandOver(HandOver),
    /// All that is this task's, of what is above but hand-overs.
    Thread(TaskId),
}

/// How much of a chain a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainShare {
    /// The part.
    pub part: ChainPart,
    /// How often it was, where that is counted.
    pub count: u64,
    /// How long it took, all together.
    pub time: Cycles,
}

/// The chain that bounds what a task has done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chain {
    /// The task's time since chains [begin](crate::Guest::begin_chains_anew): that of all parts together, but for those of threads.
    pub end: Cycles,
    /// The parts, the largest first.
    pub parts: Vec<ChainShare>,
}
