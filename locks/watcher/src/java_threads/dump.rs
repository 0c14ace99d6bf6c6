//! What a virtual machine says of its threads, understood. All of it is of one moment, at which all
//! threads stood still.

mod line;
mod reader;

/// The threads of a virtual machine at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dump {
    /// In the machine's order. Threads of the machine itself are among them; they have no state.
    pub threads: Vec<JavaThread>,
    /// Whether these are all. The rest of an answer that is too long is left out.
    pub complete: bool,
}

impl Dump {
    /// Returns the thread with an id of the system.
    #[must_use]
    pub fn thread(&self, tid: u32) -> Option<&JavaThread> {
        self.threads.iter().find(|thread| thread.tid == Some(tid))
    }

    /// Returns a thread that holds an object, and how. That of a shared lock may be one of several.
    /// `None` may also mean that the dump does not tell who holds it.
    #[must_use]
    pub fn holder(&self, address: u64) -> Option<(&JavaThread, &Held)> {
        self.threads.iter().find_map(|thread| {
            let held = thread.holds.iter().find(|held| held.address == address)?;
            Some((thread, held))
        })
    }
}

/// A thread of a Java virtual machine, as the machine's dump shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JavaThread {
    /// The name that Java knows it by.
    pub name: String,
    /// The system's id for it; `None` if it is unknown, or the thread is not running yet or any more.
    pub tid: Option<u32>,
    /// Java's state; `None` for threads of the machine itself, and while a virtual thread is carried.
    pub state: Option<State>,
    /// The number of the virtual thread that it carries at this moment.
    pub carries: Option<u64>,
    /// Its stack, the innermost frame first. Below the frames of a virtual thread are those of the
    /// thread that carries it. JDK 19 to 23 tell the latter only.
    pub frames: Vec<JavaFrame>,
    /// What it waits for, if the machine knows.
    pub waits_for: Option<Waited>,
    /// What it holds, each object once. The monitors of a thread that waits for one of them to be
    /// notified are left out if the machine does not say for which.
    pub holds: Vec<Held>,
}

/// The state of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// It was not started yet.
    New,
    /// It runs, is ready to run, or waits in a system call.
    Runnable,
    /// It waits to enter a monitor.
    Blocked,
    /// It waits without an end.
    Waiting,
    /// It waits until a time at most.
    TimedWaiting,
    /// Its `run` has returned, and the machine has not forgotten it yet.
    Terminated,
}

/// A method that a thread is in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JavaFrame {
    /// The class, with its package.
    pub class: String,
    /// The name of the method.
    pub method: String,
    /// The source file, without a folder, if it is known.
    pub file: Option<String>,
    /// The line in it, if it is known.
    pub line: Option<u32>,
    /// Whether the method is native.
    pub native: bool,
}

/// What a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Waited {
    /// The way in which it waits: for a monitor, in `Object.wait`, or parked.
    pub kind: WaitKind,
    /// Where the object lay at this moment, if it is known: within one dump, it tells objects apart.
    pub address: Option<u64>,
    /// The object's class, if it is known.
    pub class: Option<String>,
}

/// How a thread waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitKind {
    /// To enter a monitor (`synchronized`), perhaps again after it was notified.
    Monitor,
    /// Parked, for an object of `java.util.concurrent`: a lock, a latch, a queue.
    Synchronizer,
    /// To be notified: in `Object.wait`, or on a condition of a lock.
    Notification,
    /// For another thread to initialize a class.
    ClassInitialization,
}

/// What a thread holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Held {
    /// What kind of lock it is.
    pub kind: HeldKind,
    /// Where the object lay at this moment.
    pub address: u64,
    /// The object's class, if it is known.
    pub class: Option<String>,
    /// The outermost frame that holds it, as an index of the thread's frames; `None` for
    /// synchronizers.
    pub frame: Option<usize>,
}

/// A kind of lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldKind {
    /// An object's monitor, which `synchronized` and `Object.wait` use.
    Monitor,
    /// A lock of `java.util.concurrent` that has an owner.
    Synchronizer,
}
