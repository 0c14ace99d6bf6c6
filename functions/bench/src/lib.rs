//! Measures which system interfaces of this kernel scale with the number of cores.
//!
//! # The idea
//! A benchmark is a loop around one system interface. As many tasks as cores run the loop at the
//! same time, each on a core of its own. If their common rate does not grow with their number, the
//! kernel makes them wait for each other. The method and five of the benchmarks are those of Cui,
//! Chen and Shi, *Comparing Operating System Scalability by Microbenchmarking* (IEICE Transactions
//! on Information and Systems, 2012).
//!
//! # The pieces
//! * [`Benchmark`] is the trait of a benchmark. The module [`benchmarks`] has a file for each, and
//!   their registry.
//! * [`run()`] carries out a [`Plan`] and returns a [`Document`], which has every sample.
//! * Tasks are processes, or threads of one process, which run [`helper()`]. Tasks and the runner
//!   talk through shared memory (`control`).
//! * Files and other things that would outlive a process belong to a *keeper* (`keeper`), which
//!   cleans up when all their users have ended, however they ended.
//! * [`Scaling`] reads a curve: its peak, where it falls and which laws it follows. [`compare()`]
//!   finds the differences between two documents.
//!
//! # What is counted
//! Each task counts its operations from one moment to another. All tasks have begun to run before
//! the first of them begins to count, and none stops running before the last has finished counting.
//! A task reads the clock and looks for orders only after each batch of operations, which takes
//! about half a millisecond.
//!
//! # Decisions
//! * **Each task is a newly executed program**, selected by a hidden word of the command line, and
//!   not a fork of the program that measures. Tasks are therefore small, nothing forks from a process
//!   with threads, and nothing of the runner's memory is copied on write while they are measured. What they share
//!   reaches them as open descriptors and as numbers on their command line. Orders and counts go
//!   through a page of shared memory (`control.rs`).
//! * **There is one indirect call for a batch**, not one for each operation. A benchmark's loop is
//!   its own, and a batch has as many operations as half a millisecond takes.
//! * **A keeper owns what has a name.** The keeper is a process in a session of its own, so it
//!   survives when its process group is killed. It holds one end of a pipe; the runner and all
//!   workers hold the other end. When that end closes, the keeper removes everything. This does not
//!   happen before the last worker is gone, because a living worker could still make files. What
//!   needs no name has none.
//! * **Nothing is assumed of distributions.** Intervals come from the sign test and comparisons
//!   from ranks. No test within two runs can see what differs between them for other reasons. So
//!   small changes do not count, and unsteady samples are marked.

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
mod plan;
mod refusal;
mod resources;
mod run;
mod scaling;
mod self_execution;
mod statistics;
mod study;
mod summary;
mod sys;
mod task_loop;
mod trial;

pub use benchmark::{Benchmark, Info, Seat, Shared, Task};
pub use compare::{Comparison, Comparisons, Verdict, compare};
pub use cpus::{Cpus, Pin, UnknownPin};
pub use document::Document;
pub use environment::{Environment, Limit};
pub use helper::helper;
pub use kind::{Kind, UnknownKind};
pub use plan::Plan;
pub use refusal::Refusal;
pub use resources::{Resources, Scratch};
pub use run::{PlanError, Progress, run};
pub use scaling::{Gustafson, Scaling, Usl};
pub use self_execution::Helpers;
pub use statistics::{Interval, Noise};
