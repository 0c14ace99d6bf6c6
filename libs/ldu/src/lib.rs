//! Deferred-update logs: structures that many cores update and few read, without contention.
//!
//! # The idea
//! * **Updates are logged, not made.** An insertion or removal puts the object into a queue, without
//!   a lock; whoever reads the structure applies the log first, under the structure's lock.
//! * **Opposites cancel.** Operations on an object alternate, so what is pending for it is one bit in
//!   its log node. Inserting and removing it again turns the bit twice: nothing reaches the structure,
//!   and the node stays where it is, to be used again.
//! * **The structure stays what it was**: sequential, without a thought of threads, behind a trait of
//!   two functions ([`Structure`]).
//!
//! It is the method of 'LDU', made for Linux's reverse mapping (file `i_mmap`, `anon_vma`), which
//! goes back to OpLog (Boyd-Wickizer and others, MIT-CSAIL-TR-2014-019) and does without its clock.
//!
//! # An example
//! ```
//! use std::thread;
//!
//! use kilocore_ldu::Ldu;
//! use kilocore_ldu::adapters::{Member, Set};
//! use kilocore_platform::Native;
//!
//! // Who is connected. Many threads let clients come and go; now and then somebody asks.
//! let clients: Ldu<Native, Set<Native, u64>> = Ldu::new(Set::default());
//! thread::scope(|scope| {
//!     for worker in 0..4 {
//!         let clients = &clients;
//!         scope.spawn(move || {
//!             for number in 0..1000 {
//!                 let client = clients.object(Member::new(10_000 * worker + number));
//!                 let connected = clients.insert(client);
//!                 // … and while it is connected, nobody else writes a line of ours …
//!                 drop(clients.remove(connected)); // freed when the log has let go of it
//!             }
//!         });
//!     }
//!     let count = clients.read(|set| set.len()); // everything that returned before, and no half
//!     assert!(count <= 4);
//! });
//! assert_eq!(clients.read(|set| set.len()), 0);
//! ```
//!
//! # When to use it, and when not
//! Use it where cores *contend* to update one structure and updates are three of four operations or
//! more: reverse mappings, registries of connections and subscriptions, lists of waiters and of dirty
//! things, counts by key. Figures of `kilocore simulate ldu` (simulated, 8 × 15 cores, the reverse
//! mapping under process creation; 100 % updates unless said otherwise):
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
//! * where reads are a third of the operations or more: each has to apply what little has gathered.
//!   [`Adaptive`] logs only where that is faster;
//! * where nobody contends: with one thread an update that is not absorbed takes 1.2 to 1.9 times as
//!   long as under a mutex, and up to 2.6 times with per-core queues (measured, `docs/ldu.md`);
//! * for stacks, queues, and whatever depends on the order of insertions of different objects;
//! * where callers must know whether a key was there already: inserting says nothing, as it looks at
//!   nothing. Whoever updates has the object in hand;
//! * where a *read* must be fast in the worst case: it may have to apply [`Limits::nodes`] updates.
//!
//! # What is where
//! [`Ldu`] is a structure behind a log. Its queue is a [`Global`] one, or [`PerCore`] where so many
//! cores update this one root that the line of the queue's head limits them (a hundred cores and a
//! few updates a microsecond; it costs 64 KiB a core, shared by all roots). Its lock is any
//! [`RawRwLock`](kilocore_locks::RawRwLock). [`adapters`] has an interval tree, a list and a hash
//! set. [`raw`] is the log without a structure, for kernels and for C, whose header is
//! `libs/ldu-c/include/kilocore_ldu.h`. [`Scheme`] is what logs have in common with their rivals.
//!
//! # Objects and their release
//! The tokens [`Detached`] and [`Attached`] make misuse a compile error. A removed object may be
//! inserted again at once into the same root; into another one when it
//! [is settled](Detached::is_settled), that is, when the log has taken it out. Dropping a removed
//! object frees it: at once if it is settled, and else *by whoever settles it*. No epochs and no
//! reference counts are needed for that: a node that is in a queue is freed by nobody but the one
//! who takes it from the queue, and one that is taken is let go of by a single compare-and-swap,
//! after which it is not touched (`node.rs`). An object whose [`Attached`] token is dropped stays
//! in the structure, and in memory, for good.
//!
//! # Memory
//! An object costs 24 bytes beside the item, and is rounded up to whole cache lines. A root takes
//! 768 bytes, of which the default lock is 512, on lines that keep updates apart from readers;
//! an adaptive one 896, and 1.2 KB more once it is tried. A log that nobody reads is applied by the
//! update that finds it longer than [`Limits::nodes`] or older than [`Limits::age`].
//!
//! # Memory ordering and what a read sees
//! Operations are linearizable: a read sees every update that happened before it was called, and it
//! sees a state that the structure could have had with the updates made one after the other. (Two
//! updates that nothing orders, not even the program that makes them, have no order here either.)
//! What a thread did before it inserted an object is seen by whoever reads the object in the
//! structure; what was done to it inside is seen by its owner once it is settled. `log.rs` has the
//! argument, and loom, shuttle and a search for linear orders check it
//! (`tests/loom.rs`, `tests/shuttle.rs`, `tests/pitfalls.rs`).
//!
//! # Waiting and progress
//! An update never waits, but for a log that is four times too long. A read waits for the lock, and
//! for updates that are between the two steps of a push. So no update of a root inside of
//! [`Ldu::read`] of the same root.
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

/// A log without a structure, for those who bring their own objects.
pub mod raw {
    pub use crate::log::{Inside, Log, Released};
    pub use crate::node::{Node, Update};
}
