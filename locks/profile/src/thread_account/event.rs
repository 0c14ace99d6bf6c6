//! What the kernel tells of threads.

use kilocore_figures::Nanoseconds;

/// The kernel's number of a thread (tid).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ThreadId(pub u32);

/// A word of memory at which threads sleep in a futex call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Word {
    /// The address space, as the process id.
    pub space: u32,
    /// The word's address in it.
    pub address: u64,
}

/// Something that happened to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event {
    /// When. Any clock will do that all events share: only differences count.
    pub at: Nanoseconds,
    /// The thread to which it happened.
    pub thread: ThreadId,
    /// What happened to the thread.
    pub what: EventKind,
}

/// What happened to a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// It leaves its core.
    Out(Reason),
    /// It gets a core.
    In,
    /// It becomes ready to run. These events may never come. Then a wait lasts until the thread gets
    /// a core, and who woke it is not known.
    Waking {
        /// The thread that woke it, if that is known.
        by: Option<ThreadId>,
    },
    /// A timer sample of fixed period fell on it while it ran. Samples divide the time on a core
    /// into user, spinning and kernel.
    Tick {
        /// Whether it was in the kernel.
        kernel: bool,
        /// Whether it was in a loop of the program that only waits for another thread.
        spins: bool,
    },
    /// It begins to wait for one of the kernel's own locks, spinning at first. If it leaves its core
    /// before it has the lock, it does so for the lock, whatever the reason that is given.
    ContentionBegins,
    /// It has that lock.
    ContentionEnds,
    /// It took the lock at this word. These events are only of words that are watched.
    Acquired(Word),
    /// It released the lock at this word.
    Released(Word),
}

/// Why a thread leaves its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Another thread took the core. It stays ready to run.
    Preempted,
    /// It waits at this futex word.
    Futex(Word),
    /// It sleeps for a time of its own choice.
    Sleep,
    /// It waits for input or output in this system call.
    Io(&'static str),
    /// It waits for a thread or a child process to end.
    End,
    /// It waits for one of the kernel's own locks.
    KernelLock,
    /// It waits for a page.
    PageFault,
    /// It waits for something else, in this system call.
    Other(&'static str),
    /// Whoever watches could not see why.
    Unknown,
}

/// What is known of a thread when all is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// Its number. If a number was used twice, the first of the threads given counts.
    pub id: ThreadId,
    /// The process it belongs to.
    pub process: u32,
    /// Its name, such as `worker-12`.
    pub name: String,
    /// The function that tells it apart from others of its name, if there is one.
    pub function: Option<String>,
    /// Whether it is the main thread of its process.
    pub main: bool,
}
