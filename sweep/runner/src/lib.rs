//! Runs a plan: each of its runs to its answer, with the points that these miss computed by many processes.
//!
//! A run is tried first. Its command finds the points that are kept, and says which it misses ([`kilocore_points`]). If it
//! misses none, that was the run: its answer is there. Otherwise processes compute what is missing, each a bundle of points
//! by running the same command, and the run is tried again. They run on this host, or as tasks of a batch system. Some commands ask for points only when they have others, so
//! that may take several rounds.
//!
//! # Decisions
//! * **Commands are run, not understood.** A sweep knows of a command which points it misses, and nothing else. So each
//!   command that takes its points from [`kilocore_points::PointSource`] can be swept, also one that comes later.
//! * **One process for each core.** Nothing is shared but files, so a process that is lost takes its bundle along and
//!   nothing else.
//! * **Nothing is noted of what is done.** Points are kept where they are computed, and answers are made of them in
//!   moments. A sweep that goes on tries all runs again, and so notices what has changed since.
//! * **What fails, fails alone.** A point that cannot be computed fails the runs that need it, and all others go on.

mod after;
mod answer;
mod asked;
mod batch;
mod command;
mod error;
mod memory;
mod on_paper;
mod outcome;
mod pace;
mod places;
mod process;
mod progress;
mod share;
mod state;
mod sweep;
mod work_list;
mod write_plan;

pub use batch::{
    Array, ArrayStatus, Batch, BatchStanding, BatchSystem, BatchSystemError, Stage, TaskEnd,
    TaskError, TaskId, Until, array_statuses, run_task,
};
pub use error::SweepError;
pub use on_paper::{ClusterOnPaper, Course, TasksOnPaper, WorkOnPaper, on_paper};
pub use outcome::{AfterEnd, FailedRun, Outcome};
pub use progress::{Progress, Standing};
pub use share::Share;
pub use sweep::{Engine, MOST_TRIES, Sweep};
pub use write_plan::{WritePlanError, write_plan};

/// Which run of a plan it is, in the plan's order, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunIndex(pub usize);
