//! Data that is mostly read, with a copy on each memory node of the machine.
//!
//! A routing table, a configuration or an index is read by all cores and changed now and then. Behind a
//! read-write lock, all readers write to the lock, and those of other nodes fetch the data from afar. With
//! [`Replicated`], readers use the copy of their own node, and write to a line of their own core only. Writers
//! change all copies.
//!
//! ```
//! # #[cfg(feature = "native")] {
//! use kilocore_numa::Replicated;
//!
//! let routes = Replicated::new(vec![("10.0.0.0/8", "eth0")]); // a clone on each node
//! assert_eq!(routes.read().len(), 1); // the copy of this node
//! routes.update(|copy| copy.push(("0.0.0.0/0", "eth1"))); // once for each copy
//! assert_eq!(routes.read()[1].1, "eth1"); // on every node from here on
//! routes.store(Vec::new()); // clones of a new value
//! assert!(routes.read().is_empty());
//! # }
//! ```
//!
//! # The idea
//! * **Two sides.** Each node has one copy. The copies are divided into two sides. A writer hides one side, waits
//!   until nobody reads it, and changes its copies. Then it shows these and hides the others, in one step.
//!   After that it changes the others, too, and shows both.
//! * **A hidden copy has a stand-in.** Meanwhile the readers of that node use a neighbour's copy. So nobody
//!   ever waits to read, and there is one copy for each node, not two.
//! * **One word says which sides are shown.** Its change is the moment at which all readers of all nodes
//!   see the update.
//! * **Each core has a seat**, one line in which its readers say which side they read. To enter takes one atomic
//!   exchange, to leave a plain store.
//!
//! # What is guaranteed
//! Reads and updates are linearizable, reads are wait-free, and a stream of readers does not keep a writer
//! waiting. [`ReplicatedOn`] says it in detail, and [`ReplicatedOn::update`] what happens if a change panics.
//!
//! # Where it departs from others
//! * **Left-right** (Ramalhete and Correia 2013, and the crate `left-right`) has two instances, for everybody.
//!   One such pair for each node would take twice the memory. Here, the two instances are the nodes
//!   themselves. Its readers arrive in a counter by two atomic additions, or are registered by hand; here they
//!   sit in a seat with one exchange, and whoever can is not counted.
//! * **Node replication** (Calciu and others, ASPLOS 2017, and the crate `node-replication`) also has a copy
//!   for each node, and a shared log of updates, which combines those of a node. That suits data that is
//!   often written. A reader there waits until its copy has caught up with the log, and writes to a lock
//!   of its node.
//! * **RCU and `arc-swap`** keep one copy, and replace it as a whole. A change of a large value costs a clone,
//!   and readers of other nodes fetch it from afar. Here it is changed in place, once for each node.
//! * **Distributed read-write locks** ('big reader' locks, or `PerCore` in `kilocore-locks`) have readers that
//!   share no line, too. But these wait while a writer is inside, and a second reader in the same thread may
//!   wait for ever behind a writer.
//!
//! # When it is not the right thing
//! | case | what then |
//! | --- | --- |
//! | one node | right if readers must never wait, at the price of a second copy. If memory matters more, a read-write lock has one |
//! | more than one update in some thousand reads | a writer looks at the seats of all cores, twice. A lock, or node replication |
//! | updates that may not be done twice | do what is done once before the update, and put the result into the copies |
//! | readers that change what they read, by atomics or locks in it | each node has its own: a counter in it counts the node's readers |
//! | readers that stay for seconds | they keep writers waiting, as with a lock. A clone of an `Arc` in it frees them from that |
//!
//! # What is defined at the edges
//! | case | what happens |
//! | --- | --- |
//! | a thread reads while it reads, or within an update | it works, without waiting |
//! | a thread updates while it reads, or within an update | it waits for ever, as with a lock |
//! | a thread moves to another node while it holds a guard | it keeps the copy that it has |
//! | a thread loses its core while it holds a guard | readers go on; writers wait until it has a core again, which takes milliseconds if there are more threads than cores |
//! | a reader panics | its guard is dropped: nothing happens |
//! | a change panics | readers see the old value on all nodes, or the new one on all. The next writer repairs what is hidden |
//! | a change does different things to different copies | readers see one or the other; never undefined behaviour |
//! | a core that was not known when the data was made | shares the seat of another |
//! | more nodes than those that were listed | only [`Nodes`] counts, and each core is on one of these |
//! | a node with cores and no memory | has a copy; the system puts it on the nearest node with memory |
//! | a node without cores | has no copy |
//! | the system refuses to bind memory | [`Placement::Refused`], and everything works |
//! | a signal handler | may read, whatever it interrupts |
//! | `fork` while another thread reads or writes | the child may read. It must not write: it would wait for threads that it does not have |
//!
//! # Where copies lie
//! The value itself is in pages of its own, bound to its node (`mbind`). What it owns, such as the buffer of
//! a `Vec`, is allocated by `Clone` and by the changes, while the thread prefers the copy's node
//! (`set_mempolicy`). So copies are there from the beginning, and no first reader has to make one, which
//! would have to wait. An allocator may still hand out memory of another node that was freed before.
//!
//! # Features
//! `native`, on by default, has [`Replicated`] and the nodes of this machine. It needs `std`, Linux and `libc`.
//! Without it the crate is `no_std` and needs `alloc`.
//!
//! # What it costs
//! 128 bytes for each core that the machine may have, and a page at least for each copy if there are several nodes.
//! A read takes about half as long as under a read-write lock, and an update twice as long; `docs/evidence/replicated.md` has
//! times.
//!
//! # Decisions
//! * *A reader guesses, and then announces both sides* (`seat.rs`). The guess makes a read one
//!   exchange, and that a wrong guess is followed by both makes it wait-free. To announce both at
//!   once would be wait-free, too, but a stream of readers could keep a writer waiting.
//! * *A word for the reader that is alone on its core, and another that counts.* The first is left
//!   by a plain store. A count alone needs two atomic operations for each read, as a lock does.
//! * *One word says which sides are shown*, which makes updates linearizable. The price is a second
//!   look at all readers in each update. A machine with one node has two copies, and one look.
//! * *A change that panics leaves its side hidden* (`update.rs`). Nothing is poisoned.
#![no_std]
#![warn(missing_docs)]

extern crate alloc;
#[cfg(feature = "native")]
extern crate std;

mod guard;
#[cfg(feature = "native")]
mod native;
mod node_memory;
mod nodes;
mod replica;
mod replicated;
mod seat;
mod side;
mod update;

pub use guard::ReadGuard;
pub use node_memory::Placement;
pub use nodes::Nodes;
pub use replicated::ReplicatedOn;

/// Data with a copy on each node of this machine. See the [head of the crate](crate).
#[cfg(feature = "native")]
pub type Replicated<T> = ReplicatedOn<kilocore_platform::Native, T>;

#[cfg(feature = "native")]
impl<T: Clone> Replicated<T> {
    /// Returns data with a copy on each node of this machine, which are clones of `value`. With one node there
    /// are two copies.
    #[must_use]
    pub fn new(value: T) -> Self {
        Self::on(&Nodes::of_this_machine(), value)
    }
}

// The example of the README is compiled and run with the tests.
#[cfg(all(doctest, feature = "native"))]
#[doc = include_str!("../README.md")]
struct Readme;
