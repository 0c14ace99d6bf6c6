//! What a stream consists of.

use crate::{Callers, Instructions, PageNumber, Region, ThreadId};

/// An event of a merged stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The merged clock at the beginning of the quantum: about how many instructions each thread has
    /// executed that never had to wait. It never runs back within a thread.
    pub at: Instructions,
    /// Whose event it is.
    pub thread: ThreadId,
    /// What happened, with its figures.
    pub kind: EventKind,
}

/// What can happen in a program: references, changes of its address space, and the life of its
/// threads.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The thread begins. It is the thread's first event.
    Started,
    /// The thread referred to a page. The order of the bursts in a quantum says nothing.
    Burst(Burst),
    /// The thread's quantum is over: the bursts since its last one took this many instructions.
    Quantum {
        /// How many. It is 0 in quanta that were cut off.
        instructions: u32,
    },
    /// Memory was mapped. Its pages are new, even if pages with these numbers were there before.
    Mapped(Box<Mapping>),
    /// Memory was given back: by `munmap`, a smaller `brk` or `mremap`, or a mapping that went away.
    /// If these numbers occur again, they are other pages.
    Unmapped(Region),
    /// What was in this memory went back, and the mapping stays (`madvise`). The pages that its next
    /// uses find there are new.
    Discarded(Region),
    /// Memory moved (`mremap`): the pages stay the same and have new numbers.
    Moved(Box<Move>),
    /// The program's allocator has given out a block of memory, inside memory that is mapped.
    Allocated(Box<Block>),
    /// The block that began at this address is free. Nothing is said of some blocks, so there may have been
    /// none.
    Freed(u64),
    /// The thread forked a process. What that process does is not in the stream.
    Forked,
    /// The program asks to be replaced by another (`execve`). If that succeeds, this is the last event
    /// of all. Otherwise the thread goes on.
    Replaced,
    /// The thread ended. It is the thread's last event. Threads that live when the program ends have none.
    Ended,
}

/// References of a thread to one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Burst {
    /// The page that the thread referred to, by its number in the address space.
    pub page: PageNumber,
    /// How many loads. One that spans two pages counts for both. An atomic update is a load and a store.
    /// Accesses of up to eight bytes count once. Wider ones count as often as QEMU's version divides them:
    /// 7.2 does so into words of eight bytes.
    pub reads: u32,
    /// How many stores. They are counted as loads are.
    pub writes: u32,
}

/// Memory that was mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// The pages that were mapped.
    pub region: Region,
    /// What is in the mapped memory.
    pub backing: Backing,
    /// Whether other processes see what is written there (`MAP_SHARED`).
    pub shared: bool,
    /// Who mapped it, if it is anonymous and that was recorded.
    pub callers: Callers,
}

/// A block of the program's allocator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The address of its first byte.
    pub address: u64,
    /// How many bytes were asked for. The last one has an address, too.
    pub bytes: u64,
    /// Who asked for it.
    pub callers: Callers,
}

/// What is in mapped memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Backing {
    /// Memory without a file, which is full of zeroes at first.
    Anonymous,
    /// The heap that grows with `brk`.
    Heap,
    /// The first thread's stack. Stacks of other threads are anonymous to the system.
    Stack,
    /// A file: its path, or a part of a path that is very long.
    File(Box<str>),
    /// Memory that was there before the program began, of which nothing else is known.
    Unknown,
}

/// Memory that was moved by `mremap`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    /// The pages where the memory was before.
    pub from: Region,
    /// Where it is. If there are more pages than before, those at the end are new. If there are fewer,
    /// those that were at the end are gone.
    pub to: Region,
}
