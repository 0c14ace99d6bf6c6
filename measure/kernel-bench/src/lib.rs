//! Which system interfaces of this kernel scale with cores at all.
//!
//! # The idea
//! A benchmark is a loop around one system interface. As many tasks as cores run it at the same
//! time, each on a core of its own; where their common rate does not grow with their number, the
//! kernel makes them wait for each other. The method and five of the benchmarks are those of Cui,
//! Chen and Shi, *Comparing Operating System Scalability by Microbenchmarking* (IEICE Transactions
//! on Information and Systems, 2012).
//!
//! # The pieces
//! * [`Benchmark`]: what a benchmark is; [`benchmarks`] holds them, a file each, and their registry.
//! * [`run()`]: carries out a [`Plan`] and gives a [`Document`], which holds every sample.
//! * Tasks are processes, or threads of one process, that this program makes by executing itself
//!   anew ([`helper`]), so that they are small and nothing forks from a process with threads.
//!   They and the runner talk through a page of shared memory (`control`).
//! * What would outlive a process belongs to a *keeper* (`keeper`), a process in a session of its
//!   own that cleans up when nobody is left to use it, whatever became of them.
//! * [`Scaling`] reads a curve: its peak, where it falls, which laws it follows. [`compare()`] tells
//!   two documents apart.
//!
//! # What is counted
//! A task's operations between two moments between which all tasks run: all of them have begun
//! before the first moment of any, and none stops before the last. The clock is read and the order
//! to stop looked for once for a batch of operations that takes about half a millisecond.

mod assignment;
mod benchmark;
pub mod benchmarks;
mod compare;
mod control;
mod cpus;
pub mod document;
mod environment;
mod helper;
mod keeper;
mod kind;
mod mann_whitney;
mod memory;
mod place;
mod plan;
mod refusal;
mod run;
mod scaling;
mod self_execution;
mod statistics;
mod summary;
mod sys;
mod task_loop;
mod trial;

pub use benchmark::{Benchmark, Info, Seat, Shared, Task};
pub use compare::{Comparison, Comparisons, Verdict, compare};
pub use cpus::{Cpus, Pin, UnknownPin};
pub use document::Document;
pub use environment::Environment;
pub use helper::helper;
pub use kind::{Kind, UnknownKind};
pub use place::{Place, Scratch};
pub use plan::Plan;
pub use refusal::Refusal;
pub use run::{PlanError, Progress, run};
pub use scaling::{Gustafson, Scaling, Usl};
pub use self_execution::Helpers;
pub use statistics::{Interval, Noise};
