//! Points that the nodes of a cluster compute, as tasks of its batch system.
//!
//! Runs are tried on this host. What they miss is put into tasks, which the batch system starts on nodes that see the same
//! folder. A task computes its bundles one after the other, and reports each in a file beside the one that it was given.
//!
//! # Decisions
//! * **All is in the folder**: what tasks are to do, what they have done, and the points. A sweep that ended, in whatever
//!   way, leaves its tasks running; the next one finds them by the names of their arrays, and waits for them.
//! * **A task is believed when it says that it has ended**, and given up only if the batch system does not know it any more, in
//!   two answers one after the other. A batch system that does not answer says nothing.
//! * **Tasks end by themselves** after the time that they were made for, and give back what they have not begun. So a wrong
//!   guess of how long points take costs nothing but another task.
//! * **A task that is started again goes on** where its own report ends. So batch systems may requeue them.
//! * **What was lost is given out again** a bounded number of times, if its task has achieved nothing. A task that has ended
//!   some of its parts gives back the others for nothing.

mod array;
mod coordinator;
mod hand_out;
mod outstanding;
mod run_task;
mod staging;
mod status;
mod system;
mod task;
mod whole_file;

pub(crate) use coordinator::Coordinator;
pub(crate) use hand_out::hand_out;
pub use run_task::{TaskEnd, TaskError, run_task};
pub use status::{ArrayStatus, array_statuses};
pub use system::{Array, BatchSystem, BatchSystemError, Stage, TaskId};

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// How a batch system is used.
#[derive(Debug)]
pub struct Batch<'a> {
    /// The batch system.
    pub system: &'a dyn BatchSystem,
    /// The program of tasks, which all nodes get a copy of, and its words before the file of a task ([`run_task`]).
    pub program: PathBuf,
    /// The same.
    pub words: Vec<OsString>,
    /// How many tasks the batch system has at a time, at most.
    pub most_tasks: usize,
    /// How long a task is to take, at most.
    pub most_time: Duration,
    /// Of so many tasks a point may be lost before it counts as one that cannot be computed.
    pub most_tries: u32,
    /// What is to be done.
    pub until: Until,
}

/// How far a sweep goes with a batch system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// To the end.
    Ended,
    /// Until all is submitted that is known to be missing.
    Submitted,
    /// It takes in what has been computed by now, and submits nothing.
    Collected,
}

/// How many tasks a batch system has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchStanding {
    /// Tasks that wait for a node.
    pub waiting: usize,
    /// Tasks that run.
    pub running: usize,
    /// Whether it has not answered when it was asked last.
    pub is_silent: bool,
}
