//! What a virtual machine's own memory says of its threads and locks. It is read while the machine
//! runs, so nothing is of one moment, and everything may be gone at the next.
//!
//! A monitor that threads contend for is an `ObjectMonitor`, which lies outside of the heap and stays
//! where it is until the machine deflates it. A thread that waits for one says for which. The
//! monitor's `_owner` tells who has it, and is zero if nobody does: code of every kind takes it by a
//! compare-and-swap of that word, and gives it back by storing zero.
//!
//! A lock of `java.util.concurrent` is an object, an `AbstractQueuedSynchronizer`, whose `state` tells
//! whether somebody has it. The `parkBlocker` of a thread that waits for one refers to it. The
//! collector may move it, so its address holds only until the next collection begins.

use std::collections::BTreeMap;

use crate::java_threads::fields::{Field, Fields, Variables};
use crate::java_threads::heap::{Heap, TYPES as HEAP_TYPES};
use crate::java_threads::memory::{Memory, number, number_in, pointer};

/// The types whose fields are read besides.
const TYPES: [&str; 6] =
    ["ObjectMonitor", "JavaThread", "Thread", "OSThread", "ThreadsList", "ThreadsSMRSupport"];
/// More threads than these are not looked at in one go.
const THREADS: usize = 4096;
/// A thread's fields lie within so many bytes.
const THREAD: u64 = 1 << 14;
const SYNCHRONIZER: &str = "java/util/concurrent/locks/AbstractQueuedSynchronizer";
/// Synchronizers that are no locks, or whose `state` is that of several.
const OTHERS: [&str; 4] =
    ["Semaphore$", "CountDownLatch$", "ReentrantReadWriteLock$", "ThreadPoolExecutor$"];

/// What is known of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inside {
    /// Where the list of threads is, and what is where in it.
    list: u64,
    list_length: u64,
    list_threads: u64,
    thread: ThreadLayout,
    /// Where the owner and the object of a monitor are.
    owner: u64,
    object: Option<u64>,
    /// Nothing where objects cannot be read.
    heap: Option<Heap>,
    /// Where the class `Thread` has its `parkBlocker`, once it is known.
    blocker: Option<u64>,
    /// Where synchronizers have their `state`, by class; nothing of other classes.
    states: BTreeMap<u64, Option<u64>>,
}

/// Where the fields of a thread are.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ThreadLayout {
    monitor: u64,
    system: u64,
    /// In the system's thread.
    id: u64,
    /// The object of class `Thread`.
    object: Option<Field>,
}

/// A lock that threads contend for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JavaLock {
    /// The monitor of an object, which `synchronized` acquires.
    Monitor {
        /// Where the word is that tells who has it.
        word: u64,
        /// What it is the monitor of: not the object, which may move, but the place of its address.
        /// It is another one as soon as the monitor is deflated. Zero if the machine does not tell.
        object: u64,
    },
    /// A lock of `java.util.concurrent`.
    Synchronizer {
        /// Where its `state` is.
        word: u64,
        /// The address of its class.
        class: u64,
        /// How many collections there had been when it was there.
        collections: u32,
    },
}

impl JavaLock {
    /// The address of the word that tells whether somebody has it.
    #[must_use]
    pub fn word(&self) -> u64 {
        match self {
            Self::Monitor { word, .. } | Self::Synchronizer { word, .. } => *word,
        }
    }
}

/// A thread that waits for a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The system's id for it, as the machine knows it.
    pub tid: u32,
    /// The lock for which it waits.
    pub lock: JavaLock,
    /// The class of the object that it is or of which it is the monitor, if that could be read.
    pub class: Option<String>,
}

impl Inside {
    /// Finds out where a machine keeps what. `variables` are those of its library. `None` if it does
    /// not say, or has not begun yet.
    #[must_use]
    pub fn of(variables: Variables<'_>, memory: &dyn Memory) -> Option<Self> {
        let fields = Fields::read(variables, memory, &[&TYPES[..], &HEAP_TYPES].concat());
        let of_thread = |field| {
            let of = ["JavaThread", "Thread"];
            of.into_iter().find_map(|of| fields.get(of, field)).filter(|at| at.offset < THREAD)
        };
        let object = fields.get("ObjectMonitor", "_object");
        let heap = Heap::of(&fields, variables, memory);
        let inside = Self {
            list: fields.address("ThreadsSMRSupport", "_java_thread_list")?,
            list_length: fields.offset("ThreadsList", "_length")?,
            list_threads: fields.offset("ThreadsList", "_threads")?,
            thread: ThreadLayout {
                monitor: of_thread("_current_pending_monitor")?.offset,
                system: of_thread("_osthread")?.offset,
                id: fields.offset("OSThread", "_thread_id")?,
                object: of_thread("_threadObj").cloned(),
            },
            owner: fields.offset("ObjectMonitor", "_owner")?,
            // Before JDK 15, it was the object itself, which moves.
            object: object.filter(|field| !field.of_type.contains("void")).map(|at| at.offset),
            heap,
            blocker: None,
            states: BTreeMap::new(),
        };
        // It has threads as soon as it has a heap.
        (!inside.threads(memory).is_empty()).then_some(inside)
    }

    /// The threads that wait for a lock, among at most `most` of the machine's threads from the one of
    /// a number on.
    pub fn waiting(&mut self, memory: &dyn Memory, (from, most): (usize, usize)) -> Vec<Waiting> {
        let all = self.threads(memory);
        let begin = from.checked_rem(all.len()).unwrap_or_default();
        let collections = self.collections(memory);
        let of = |thread: &u64| {
            let (lock, class) = match self.pending(memory, *thread) {
                Some((lock, object)) => (lock, self.class_at(memory, object)),
                None => {
                    let (word, class) = self.blocker(memory, *thread)?;
                    let name = self.heap.as_ref().and_then(|heap| heap.name(memory, class));
                    let collections = collections?;
                    (JavaLock::Synchronizer { word, class, collections }, name)
                }
            };
            let class = class.map(|name| name.replace('/', "."));
            let system = pointer(memory, thread.wrapping_add(self.thread.system))?;
            let tid = number(memory, system.wrapping_add(self.thread.id), 4)? as u32;
            Some(Waiting { tid, lock, class })
        };
        let mut waiting: Vec<Waiting> =
            all[begin..].iter().chain(&all[..begin]).take(most).filter_map(of).collect();
        // What was read while a collection began may have been moved.
        if self.collections(memory) != collections {
            waiting.retain(|waiting| matches!(waiting.lock, JavaLock::Monitor { .. }));
        }
        waiting
    }

    /// The addresses of the machine's threads.
    fn threads(&self, memory: &dyn Memory) -> Vec<u64> {
        let threads = || {
            let list = pointer(memory, self.list)?;
            let length = number(memory, list.wrapping_add(self.list_length), 4)?;
            let first = pointer(memory, list.wrapping_add(self.list_threads))?;
            let bytes = memory.read(first, 8 * THREADS.min(length as usize));
            Some(bytes.chunks_exact(8).filter_map(|bytes| number_in(bytes, 0, 8)).collect())
        };
        threads().unwrap_or_default()
    }

    /// The monitor that a thread waits to enter, and the place of its object's address.
    fn pending(&self, memory: &dyn Memory, thread: u64) -> Option<(JavaLock, u64)> {
        let monitor = pointer(memory, thread.wrapping_add(self.thread.monitor))?;
        let object = self.object(memory, monitor)?;
        Some((JavaLock::Monitor { word: monitor.wrapping_add(self.owner), object }, object))
    }

    /// The name of the class of the object whose address is at a place.
    fn class_at(&self, memory: &dyn Memory, at: u64) -> Option<String> {
        let object = pointer(memory, at)?;
        Some(self.heap.as_ref()?.class_of(memory, object)?.1)
    }

    /// What the monitor at an address is the monitor of.
    fn object(&self, memory: &dyn Memory, monitor: u64) -> Option<u64> {
        let Some(object) = self.object else { return Some(0) };
        pointer(memory, monitor.wrapping_add(object))
    }

    /// The `state` of the synchronizer for which a thread parks, and its class.
    fn blocker(&mut self, memory: &dyn Memory, thread: u64) -> Option<(u64, u64)> {
        let heap = self.heap.as_ref()?;
        let field = self.thread.object.as_ref()?;
        let mut object = pointer(memory, thread.wrapping_add(field.offset))?;
        if field.of_type.contains("Handle") {
            object = pointer(memory, object)?;
        }
        let blocker = match self.blocker {
            Some(blocker) => blocker,
            None => {
                let (class, _) = heap.class_of(memory, object)?;
                let thread = heap.above(memory, class, "java/lang/Thread")?;
                *self.blocker.insert(heap.field(memory, thread, "parkBlocker")?)
            }
        };
        let (object, class, name) = heap.referred(memory, object.wrapping_add(blocker))?;
        let state = *self.states.entry(class).or_insert_with(|| {
            if OTHERS.iter().any(|other| name.contains(other)) {
                return None;
            }
            heap.field(memory, heap.above(memory, class, SYNCHRONIZER)?, "state")
        });
        Some((object.wrapping_add(state?), class))
    }

    fn collections(&self, memory: &dyn Memory) -> Option<u32> {
        self.heap.as_ref()?.collections(memory)
    }

    /// Whether a lock is still where it was. If it is not, its memory may be used for anything.
    #[must_use]
    pub fn is_still(&self, memory: &dyn Memory, lock: &JavaLock) -> bool {
        match *lock {
            JavaLock::Monitor { word, object } => {
                self.object(memory, word.wrapping_sub(self.owner)) == Some(object)
            }
            JavaLock::Synchronizer { collections, .. } => {
                self.collections(memory) == Some(collections)
            }
        }
    }
}
