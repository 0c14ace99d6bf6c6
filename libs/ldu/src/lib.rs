//! Deferred-update logs: many cores update a structure without contention, and few read it.
//!
//! # The idea
//! * **An update is logged first and made later.** An insertion or a removal takes no lock: it puts
//!   the object's log node into a queue. A reader takes the structure's lock and applies the log
//!   before it reads.
//! * **Opposite updates cancel.** Insertions and removals of one object alternate, so one bit in its
//!   log node says whether an update is pending. An insertion that is followed by a removal flips
//!   the bit twice. Nothing then reaches the structure, and the next update uses the queued node
//!   again.
//! * **The structure stays sequential.** Its code need not know about threads. It only has to
//!   implement a trait of two functions ([`Structure`]).
//!
//! The method is that of 'LDU', which was made for Linux's reverse mapping (file `i_mmap`,
//! `anon_vma`). LDU goes back to OpLog (Boyd-Wickizer and others, MIT-CSAIL-TR-2014-019), but needs
//! no clock, as OpLog does.
//!
//! # An example
//! ```
//! use std::thread;
//!
//! use kilocore_ldu::Ldu;
//! use kilocore_ldu::adapters::{Member, Set};
//! use kilocore_platform::Native;
//!
//! // The connected clients. Many threads connect and disconnect them, and few threads read the set.
//! let clients: Ldu<Native, Set<Native, u64>> = Ldu::new(Set::default());
//! thread::scope(|scope| {
//!     for worker in 0..4 {
//!         let clients = &clients;
//!         scope.spawn(move || {
//!             for number in 0..1000 {
//!                 let client = clients.object(Member::new(10_000 * worker + number));
//!                 let connected = clients.insert(client);
//!                 // … while the client is connected, no other core writes its cache lines …
//!                 drop(clients.remove(connected)); // freed once the log no longer refers to it
//!             }
//!         });
//!     }
//!     let count = clients.read(|set| set.len()); // sees every update that returned before
//!     assert!(count <= 4);
//! });
//! assert_eq!(clients.read(|set| set.len()), 0);
//! ```
//!
//! # When to use it, and when not
//! Use a log where cores *contend* to update one structure and at least three of four operations are
//! updates. Examples are reverse mappings, registries of connections and subscriptions, lists of
//! waiters or of dirty pages, and counts by key. The following figures are from
//! `kilocore-lab ldu`. It simulates 8 × 15 cores and the reverse mapping under process
//! creation; all operations are updates unless the row says otherwise.
//!
//! | throughput over a read-write semaphore, 120 cores | AIM7 | Exim | lmbench fork |
//! | --- | --- | --- | --- |
//! | unordered lock-free list | 3.4 | 1.9 | 1.9 |
//! | log, global queue | 4.0 | 4.4 | 16 |
//! | log, per-core queue | 4.0 | 4.4 | 16 |
//! | log, global queue, 90 % updates | 2.5 | 1.9 | 2.5 |
//! | log, global queue, 75 % updates | 1.5 | 1.4 | 1.4 |
//! | log, global queue, 50 % updates | **0.9** | **0.9** | **0.7** |
//! | adaptive log, 50 % updates | 1.0 | 1.0 | 1.0 |
//!
//! Do not use it
//! * where a third of the operations or more are reads: each read then has to apply a short log.
//!   [`Adaptive`] logs updates only where logging is faster;
//! * where nobody contends: with one thread, an update that no opposite update cancels takes 1.2 to
//!   1.9 times as long as under a mutex, and up to 2.6 times as long with per-core queues (measured,
//!   `docs/ldu.md`);
//! * for stacks, queues, and other structures in which the order of insertions of different objects
//!   matters;
//! * where callers must know whether a key was there already: an insertion does not look at the
//!   structure, so it cannot say. The caller has the object in hand and never looks it up;
//! * where a *read* must be fast in the worst case: a read may have to apply [`Limits::nodes`]
//!   updates.
//!
//! # What is where
//! * [`Ldu`] is a structure behind a log. Such a pair is called a *root*.
//! * [`Global`] is the queue for most roots. [`PerCore`] is the queue for a root that so many cores
//!   update that the cache line of the global queue's head limits them: about a hundred cores that
//!   together make a few updates a microsecond. It costs 64 KiB a core, which all roots share.
//! * The root's lock may be any [`RawRwLock`](kilocore_locks::RawRwLock).
//! * [`adapters`] contains an interval tree, a list and a hash set.
//! * [`raw`] is the log without a structure, for kernels and for C. The C header is
//!   `libs/ldu-c/include/kilocore_ldu.h`.
//! * [`Scheme`] is the interface that logs share with the schemes they are compared with.
//!
//! # Objects and their release
//! The tokens [`Detached`] and [`Attached`] make misuse a compile error. A removed object may be
//! inserted into the same root again at once. It may be inserted into another root only when it
//! [is settled](Detached::is_settled), that is, when it is in no queue and nothing is pending for it.
//!
//! Dropping a removed object frees it. If the object is settled, it is freed at once; otherwise the
//! thread that settles it frees it. This needs neither epochs nor reference counts: only the thread
//! that takes a node from the queue may free that node, and a single compare-and-swap ends that
//! thread's use of the node, which it does not touch afterwards (`node.rs`).
//!
//! An object whose [`Attached`] token is dropped stays in the structure, and in memory, for good.
//!
//! # Memory
//! An object takes 24 bytes beside its item, and its size is rounded up to whole cache lines. A root
//! takes 768 bytes, of which the default lock takes 512. Updates and readers write different cache
//! lines of the root. An adaptive root takes 896 bytes, and 1.2 KB more from its first trial on. If
//! nobody reads the structure, the log is applied by an update that finds it longer than
//! [`Limits::nodes`] or older than [`Limits::age`].
//!
//! # Memory ordering and what a read sees
//! Operations are linearizable. A read sees every update that happened before the read was called.
//! The state that it sees is one that the structure could have had if the updates had been made one
//! after the other. (Two updates that nothing in the program orders have no order here either.)
//!
//! A thread that reads an object in the structure sees what the owner did before inserting it. Once
//! the object is settled, its owner sees what others did to it while it was in the structure.
//! `log.rs` has the argument; loom, shuttle and a search for linear orders check it
//! (`tests/loom.rs`, `tests/shuttle.rs`, `tests/pitfalls.rs`).
//!
//! # Waiting and progress
//! An update waits only if the log has four times as many nodes as [`Limits::nodes`] allows. A read
//! waits for the lock, and for updates that are between the two steps of a push. So do not update a
//! root inside [`Ldu::read`] of the same root: the update may wait for that read.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

pub mod adapters;
mod adaptive;
mod global;
mod ldu;
mod log;
mod node;
mod object;
mod per_core;
mod policy;
mod queue;
mod scheme;
mod schemes;
mod structure;

pub use adaptive::Adaptive;
pub use global::Global;
pub use ldu::{ElsewhereError, In, Ldu, Out, TURNS};
pub use log::{Counts, Limits};
pub use node::Node;
pub use object::{Attached, Detached, Hook, Object};
pub use per_core::{PerCore, SLOTS, Slots};
pub use policy::{Advice, Always, Kind, Policy};
pub use queue::{Fill, Queue};
pub use scheme::Scheme;
pub use schemes::{Deferred, SchemePolicy, SchemeQueue};
pub use structure::{Search, Structure};

/// A log without a structure, for callers that manage their own objects.
pub mod raw {
    pub use crate::log::{Inside, Log, Released};
    pub use crate::node::{Node, Update};
}
