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
//! | unordered lock-free list | 2.03 | 0.98 | 2.48 |
//! | log, global queue | 2.19 | **0.96** | 4.99 |
//! | log, per-core queue | 2.19 | **0.98** | 4.98 |
//! | log, global queue, 90 % updates | 6.92 | 4.53 | 8.23 |
//! | log, global queue, 75 % updates | 5.07 | 5.15 | 4.43 |
//! | log, global queue, 50 % updates | 2.55 | 2.81 | 2.27 |
//! | adaptive log, 50 % updates | 2.97 | 3.16 | 2.29 |
//!
//! Another lock limits Exim, so that no log helps it.
//!
//! Do not use it
//! * where every second operation reads, and the structure is cheap: each read then has to apply a short
//!   log. With two threads at a hash set, the log gets 0.43 times as much done as a mutex (measured).
//!   [`Adaptive`] logs updates only where logging is faster;
//! * where nobody contends: with one thread, an update that no opposite update cancels takes 1.2 to
//!   1.9 times as long as under a mutex, and up to 2.6 times as long with per-core queues (measured,
//!   `docs/evidence/ldu.md`);
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
//! * [`PromptLdu`] logs insertions only, and its removals are prompt: when one has returned, no read that
//!   is under way has seen the object.
//! * The root's lock may be any [`RawRwLock`](kilocore_locks::RawRwLock).
//! * [`adapters`] contains an interval tree, a list and a hash set.
//! * [`raw`] is the log without a structure, for kernels and for C. The C header is
//!   `libs/c/include/kilocore_ldu.h`.
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
//!
//! # Where it departs from the paper
//! * *Each object has one node and one word*, instead of two nodes, two marks and a word of bits.
//!   An update of a queued object is one compare-and-swap, where the paper needs two or three
//!   read-modify-writes. Applying ends with a compare-and-swap that fails if anything has changed,
//!   so there is no second look that could be forgotten. A node that is let go of may be freed at
//!   once, without epochs (`node.rs`).
//! * *Pushes exchange the head* instead of comparing and swapping it. The reason is a simulation of
//!   120 cores at the queues of an earlier model of AIM7. There, comparing and swapping left 1,900
//!   jobs a second of 19,800, because nearly every attempt fails and each failure is a transfer
//!   (`global.rs`).
//! * *Synchronizations are numbered*, and updates note the number. Without the number a reader can
//!   see an update and miss an earlier one that had returned before the later one was called
//!   (`log.rs`). In `tests/pitfalls.rs` the paper's algorithm does exactly this.
//! * *A slot conflict moves nodes* to the own list of their root. The paper applies them under that
//!   root's lock, but then the root has to be alive, and its lock must not be one that the caller
//!   holds (`per_core.rs`). Slots have locks, because user space cannot forbid preemption. Slots
//!   are dealt to roots in turn, because then they do not collide.
//! * *Readers share.* If many readers find a log, one of them applies it for all. The paper leaves
//!   this, and the next point, to the future.
//! * *What a read that is under way may do* is left open by the paper's contract, and its patch for Linux
//!   relies on more than a log gives: page tables are freed after a removal that was only logged, with a
//!   walker in them, and a walk that is under way during a `fork` misses the child. [`PromptLdu`] is for
//!   such users (`insertion_log.rs`).
//! * *Adaptive* logs only where logging is faster, and finds that out by trying. Each root tries
//!   the other way now and then, for some hundred operations; the more the worse way wastes, the
//!   less often the root tries it. A root judges by how long its own operations take. It knows
//!   nothing of the other roots, and another root may be what limits the program. A verdict against
//!   a log therefore has to fall twice (`adaptive.rs`).
//! * *Locks come from `kilocore-locks`.* A root has a read-write lock, and writing a second one
//!   would be worse. All other libraries use `kilocore-platform` alone, or each other.
//!
//! # How to change the log
//! If you change the log itself (`node.rs`, `log.rs`, `global.rs`, `per_core.rs`), you find the argument
//! for each ordering beside the ordering. Four checkers stand behind these arguments: `tests/loom.rs`,
//! `tests/shuttle.rs`, `tests/weakened.rs` (the shipped source with half of its orderings) and
//! `tests/pitfalls.rs` (the paper's algorithm with one planted error each). `tests/prompt.rs` has the same for
//! the log of insertions (`insertion_log.rs`, `node/insertion.rs`). `make weaken` also takes
//! the log's orderings one at a time. Model checks run on `Altered<Loom, Thorough>`. Plain loom
//! overlooks one kind of conflict: one thread's compare-and-swap conflicts with another thread's load,
//! and the first thread itself loads the word in between.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;

pub mod adapters;
mod adaptive;
mod global;
mod guarded;
mod insertion_log;
mod ldu;
mod log;
mod node;
mod object;
mod per_core;
mod policy;
mod prompt;
mod queue;
mod scheme;
mod schemes;
mod structure;

pub use adaptive::Adaptive;
pub use global::Global;
pub use guarded::{ElsewhereError, In, Out};
pub use ldu::{Ldu, TURNS};
pub use log::{Counts, Limits};
pub use node::Node;
pub use object::{Attached, Detached, Hook, Object};
pub use per_core::{PerCore, SLOTS, Slots};
pub use policy::{Advice, Always, Kind, Policy};
pub use prompt::PromptLdu;
pub use queue::{Fill, Queue};
pub use scheme::Scheme;
pub use schemes::{Deferred, Prompt, SchemePolicy, SchemeQueue};
pub use structure::{Search, Structure};

/// A log without a structure, for callers that manage their own objects.
pub mod raw {
    pub use crate::insertion_log::{Inserted, InsertionLog, Removed};
    pub use crate::log::{Inside, Log, Released};
    pub use crate::node::{Node, Update};
}

// The example of the README is compiled and run with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
