//! Lock algorithms for many cores.
//!
//! Each algorithm is one file, generic over [`Platform`](kilocore_platform::Platform). The file
//! begins with what the lock is, where it comes from, and where it departs from its source. The
//! locks implement [`RawLock`] or, if they distinguish readers from writers, [`RawRwLock`].
//! [`LockId`] is the registry of the former, and [`RwLockId`] that of the latter. The command line,
//! the benchmarks, the model checks, the simulator and `kilocore run` use them. `registry.rs` says how
//! to add a lock.
//!
//! A lock needs more to live inside a program that knows nothing of it. That is here too, so that
//! it is checked in the same way as the locks. [`Moderated`] makes any lock fit for forks,
//! deadlines, cancellation and more threads than cores. [`Condition`] is a condition variable for
//! any lock. [`FreeBlocks`] keeps the memory that they need. [`SideQueues`] puts any lock beside locks of 32
//! bits, whose waiters it then has in its queue.
//!
//! # In place of `parking_lot`
//! With the feature `lock_api`, module `sync` has each lock with data, behind the interface of
//! `parking_lot`. One line changes a program:
//!
//! ```
//! # #[cfg(feature = "lock_api")] {
//! use kilocore_locks::sync::mutexee::{Condvar, Mutex, MutexGuard};
//! use kilocore_locks::sync::rwsem::RwLock;
//! # }
//! ```
//!
//! C programs use the header of crate `kilocore-c`.
//!
//! # Features
//! * `native`: the state that a lock needs of each thread, kept by the thread itself. It needs `std` and
//!   Linux.
//! * `lock_api`: module `sync`. It contains `native`, and needs a newer Rust than the rest, 1.95.
//!
//! Without features, which is the default, the crate is `no_std` and needs `alloc`.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(feature = "native")]
extern crate std;

#[cfg(feature = "native")]
#[macro_use]
mod per_thread;
#[macro_use]
mod reader_limit;
#[macro_use]
mod registry;

// The locks, in the order in which they are listed: the module of each, the type of the lock, and
// the other public items of the module.
locks! {
    tas => Tas;
    ttas => Ttas;
    backoff => Backoff, BackoffThread;
    ticket => Ticket;
    ticket_backoff => TicketBackoff;
    partitioned => Partitioned, Grants;
    alock => Alock;
    mcs => Mcs;
    clh => Clh, ClhThread;
    mcs_park => McsPark;
    clh_park => ClhPark;
    mcs_tp => McsTp;
    futex => Futex;
    adaptive => Adaptive;
    mutexee => Mutexee;
    cna => Cna, CnaThread;
    c_bo_mcs => CBoMcs;
    c_bo_mcs_park => CBoMcsPark;
    c_tkt_tkt => CTktTkt;
    c_ptl_tkt => CPtlTkt;
    hmcs => Hmcs;
    ahmcs => Ahmcs, AhmcsThread, AdaptiveTree;
    hticket => Hticket;
    malthusian => Malthusian, MalthusianThread;
    malthusian_spin => MalthusianSpin;
    requester => Requester;
}

// The read-write locks, likewise.
rw_locks! {
    central_rw => CentralRw;
    reader_first => ReaderFirst;
    writer_first => WriterFirst;
    phase_fair => PhaseFair;
    bravo_central => BravoCentral;
    bravo_writer_first => BravoWriterFirst;
    bravo_phase_fair => BravoPhaseFair;
    per_core => PerCore, CoreCounts;
}

mod bravo;
mod cohort;
mod condition;
mod fork_lock;
mod free_blocks;
mod gate;
mod inflatable;
mod large;
mod moderated;
mod node_cache;
mod patience;
mod presence;
mod random;
mod raw;
mod raw_rw;
mod rwsem;
mod side_queues;
mod signal;
#[cfg(feature = "lock_api")]
pub mod sync;
#[cfg(feature = "native")]
mod thread_condition;
mod waiting_room;
mod word;
mod writer_line;

pub use bravo::{Bravo, BravoReader};
pub use cohort::{Cohort, LocalLock};
pub use condition::{Condition, Sleeper, sleeper_state};
pub use fork_lock::{ForkLock, PROCESS_BITS};
pub use free_blocks::{BLOCK_ALIGN, FreeBlock, FreeBlocks};
pub use inflatable::{Inflatable, InflatableThread};
pub use large::{Body, LargeLock};
pub use moderated::{Moderated, Slept};
#[cfg(feature = "native")]
pub use per_thread::KeepsThread;
pub use presence::{OwnSlot, Presence, ReaderKey};
pub use raw::{LockVisitor, RawLock};
pub use raw_rw::{NoSharing, RawRwLock, ReaderToken, ReadersAlone, RwLockVisitor};
pub use registry::{LockInfo, UnknownLock, UnknownRwLock, Waiting};
pub use rwsem::Rwsem;
pub use side_queues::{SideQueues, SmallLock};
pub use signal::{Manner, Parking, Spinning};
#[cfg(feature = "native")]
pub use thread_condition::ThreadCondition;
pub use waiting_room::{Fences, Guest, Room, SymmetricFences};

// The example of the README is compiled and run with the tests.
#[cfg(all(doctest, feature = "lock_api"))]
#[doc = include_str!("../README.md")]
struct Readme;
