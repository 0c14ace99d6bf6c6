//! Slurm as the batch system of a sweep.
//!
//! It is asked by its own programs, `sbatch`, `squeue`, `scancel` and `scontrol`: these are on every cluster, in the version of its
//! controller, and their options have stayed the same for ten years. A library would have to be that of the cluster, too.
//!
//! # Decisions
//! * **What a site wants to be told is told by Slurm's own variables**: `SBATCH_ACCOUNT`, `SBATCH_TIMELIMIT`,
//!   `SBATCH_MEM_PER_CPU` and others are read by `sbatch` itself. Only the partition has an option here.
//! * **An array is known by its name**, which no other has, and not by its number: who submits may be lost before it has
//!   written the number down.
//! * **Tasks may be requeued**, and are told a while before their time is over.

mod arguments;
mod ask;
mod queue;
mod script;

use std::collections::HashMap;
use std::fs;

use kilocore_sweep::{Array, BatchSystem, BatchSystemError, Stage, TaskId};

use crate::ask::{ask, no_answer};

/// Slurm, as this host's programs reach it.
#[derive(Debug, Clone, Default)]
pub struct Slurm {
    /// The partitions that tasks may run in, as `sbatch --partition` takes them; Slurm's own choice if there are none.
    pub partition: Option<String>,
}

/// The file in an array's folder that its tasks execute.
const SCRIPT: &str = "script";

/// So many tasks are cancelled by one call.
const MOST_CANCELLED: usize = 1000;

/// The option that asks for this user's jobs alone.
fn own_user() -> String {
    // SAFETY: only reads the process's own user.
    let user = unsafe { libc::geteuid() };
    format!("--user={user}")
}

impl BatchSystem for Slurm {
    fn most_tasks_of_an_array(&self) -> Result<u32, BatchSystemError> {
        let printed = ask("scontrol", ["show", "config"])?;
        match queue::most_tasks(&printed) {
            Some(0) => Err(BatchSystemError::Refused {
                program: "scontrol",
                said: "MaxArraySize is 0, so there are no arrays of tasks here".to_owned(),
            }),
            Some(most) => Ok(most),
            None => Err(no_answer("scontrol", "no line with MaxArraySize")),
        }
    }

    fn submit(&self, array: &Array<'_>) -> Result<(), BatchSystemError> {
        let file = array.folder.join(SCRIPT);
        fs::write(&file, script::script(array))?;
        ask("sbatch", arguments::arguments(array, &file, self.partition.as_deref())?)?;
        Ok(())
    }

    fn under_way(&self) -> Result<HashMap<TaskId, Stage>, BatchSystemError> {
        let printed = ask("squeue", ["--noheader", "--array", &own_user(), "--format=%j %K %T"])?;
        queue::under_way(&printed)
    }

    fn cancel(&self, tasks: &[TaskId]) -> Result<(), BatchSystemError> {
        // An array is known by its name, and `scancel` takes numbers. Tasks that wait may have no number but the array's.
        let printed = ask("squeue", ["--noheader", "--array", &own_user(), "--format=%j %K %F"])?;
        let jobs = queue::jobs(&printed, tasks);
        for some in jobs.chunks(MOST_CANCELLED) {
            ask("scancel", ["--quiet"].into_iter().chain(some.iter().map(String::as_str)))?;
        }
        Ok(())
    }
}
