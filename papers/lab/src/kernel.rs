//! A kernel's own path on many cores: what the processors of a small virtual machine did in Linux for a fork
//! and exit, or a fork, exec and exit, replayed by each core of a simulated machine again and again.
//!
//! What is replayed was recorded in the kernel that `make linux` builds ([`kilocore_kernel_path`]): instructions,
//! touches of lines that several processors touch, and acquisitions of the locks that they share. A simulated core
//! computes for the instructions, touches simulated lines, and acquires the locks of `libs/locks`, so waiting
//! emerges. The schemes differ in how the trees of files' mappings are shared ([`TreeScheme`]); the
//! log is that of `libs/ldu`, which runs in the kernel as well.
//!
//! # What is assumed
//! * **A core stands for a recorded one.** The cores of a node replay what the recorded processors of a node did, in
//!   turn. A line or lock that more than half of the recorded machine touched is one for all cores; one that more than
//!   half of a recorded node touched, and no other node, is one for each node. What fewer touched, as
//!   many cores share as did there (`program.rs`).
//! * **A spin lock is an MCS lock**, which is what Linux's is in all but its first waiter. So is a read-write spin lock,
//!   whose readers therefore exclude each other. Semaphores and mutexes are [`Rwsem`](kilocore_locks::Rwsem).
//! * **An instruction takes a fixed time**, in which its hits are contained, and its misses of private data.
//! * **A tree is as deep as it was recorded.** With more processes it would be deeper.
//! * **A batch of removals** that finds some of its insertions pending takes the lock for the others for as long
//!   as it would for all.
//! * With split trees, each node has its own of all lines that are touched under the tree's lock.
//! * **Nobody looks for mappings**, as reclaim would. Were such a walk recorded, it would hold the tree's lock alone,
//!   and of split trees only that of its node.

mod builtin;
mod program;
mod replay;
mod run;
mod schemes;
mod sweep;
mod tally;
mod world;

pub use builtin::{BuiltinPath, find_path};
pub use run::{Job, KernelError, Point, Setting, simulate};
pub use schemes::TreeScheme;
pub use sweep::sweep;
pub use tally::{Limiter, TreeUse};
