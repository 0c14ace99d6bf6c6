//! The path: what each processor did, step by step.

/// A number of instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Instructions(pub u32);

/// The number of a line: its place in [`Path::lines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineId(pub u32);

/// The number of a lock: its place in [`Path::locks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LockId(pub u32);

/// How a line is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// It is read.
    Load,
    /// It is written.
    Store,
    /// It is read and written in one step.
    Update,
}

/// How a lock is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Others may hold it in the same way.
    Shared,
    /// Nobody else holds it.
    Alone,
}

/// What a lock is, in Linux's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// `spinlock_t`: waiters spin in a queue.
    Spin,
    /// `rwlock_t`: the same, and readers share it.
    ReadWriteSpin,
    /// `struct rw_semaphore`: waiters spin and then sleep, and readers share it.
    Semaphore,
    /// `struct mutex`: waiters spin and then sleep.
    Mutex,
}

/// A set of the processors that were recorded, at most 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Processors(pub u64);

impl Processors {
    /// How many they are.
    #[must_use]
    pub fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether a processor is one of them. `processor` is below 64.
    #[must_use]
    pub fn contains(self, processor: u32) -> bool {
        self.0 >> processor & 1 != 0
    }

    /// Adds one. `processor` is below 64.
    pub fn add(&mut self, processor: u32) {
        self.0 |= 1 << processor;
    }
}

/// What is known of a line or a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The processors that touched it. There are at least two.
    pub touched_by: Processors,
    /// The kernel's variable, or the function that touched it most often. No line break is in it.
    pub name: String,
}

/// A lock that several processors acquired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lock {
    /// What it is.
    pub kind: LockKind,
    /// Who acquired it, and its name.
    pub place: Place,
}

/// What a processor did next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// It executed so many instructions that are nobody else's concern.
    Compute(Instructions),
    /// It touched a line that others touch as well.
    Touch(LineId, Touch),
    /// It acquired a lock that others acquire as well.
    Acquire(LockId, Mode),
    /// It released a lock.
    Release(LockId),
    /// It put a mapping into the interval tree of a file, whose lock this is.
    PutIn(LockId),
    /// It took a mapping out of that tree.
    TakeOut(LockId),
}

/// What the processors of a machine did for one operation each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// What each of them did, in words.
    pub operation: String,
    /// Of which kernel.
    pub kernel: String,
    /// How many processors were recorded, from 1 to 64.
    pub processors: u32,
    /// On how many memory nodes they are, the first ones on the first node. It divides the number of
    /// processors.
    pub nodes: u32,
    /// The lines that several processors touched, and one wrote.
    pub lines: Vec<Place>,
    /// The locks that several processors acquired.
    pub locks: Vec<Lock>,
    /// What each processor did. Locks are released by who acquired them, within the run, and none is acquired
    /// that is held.
    pub runs: Vec<Vec<Step>>,
}

impl Path {
    /// All instructions of a processor's run but those in locks.
    #[must_use]
    pub fn instructions(&self, processor: u32) -> u64 {
        let of = |step: &Step| match step {
            Step::Compute(Instructions(count)) => u64::from(*count),
            _ => 0,
        };
        self.runs[processor as usize].iter().map(of).sum()
    }

    /// How many processors are on a node.
    #[must_use]
    pub fn processors_of_a_node(&self) -> u32 {
        self.processors / self.nodes
    }
}
