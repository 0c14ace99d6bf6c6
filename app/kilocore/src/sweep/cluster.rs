//! Sweeps that the nodes of a cluster compute.

use std::env;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use kilocore_command_line::Failure;
use kilocore_process::{Held, allowed_cores};
use kilocore_slurm::Slurm;
use kilocore_sweep::{Batch, Engine, MOST_TRIES, Outcome, Sweep, TaskEnd, Until, run_task};
use kilocore_sweep_plan::Plan;

use super::{Swept, free_memory, status_of, told_to_end};
use crate::time;

/// The name of the command that tasks execute.
pub(super) const TASK: &str = "task";

/// So many tasks a batch system has at a time if nobody says how many.
const MOST_TASKS: usize = 200;

/// How long a task takes at most if nobody says how long.
const MOST_TIME: Duration = Duration::from_mins(10);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Submit what is missing, and end: 'sweep status' and 'sweep collect' go on
    #[arg(long, requires = "slurm")]
    detach: bool,
    /// How long a task of the cluster computes at most, as in 10m or 2h [default: 10m]
    #[arg(long, value_name = "TIME", value_parser = time::parse, requires = "slurm")]
    task_time: Option<Duration>,
    /// How many tasks may be lost with a point before it is given up [default: 3]
    #[arg(long, value_name = "N", requires = "slurm")]
    tries: Option<NonZero<u32>>,
}

#[derive(Debug, Args)]
pub(crate) struct TaskArguments {
    /// What the task computes
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Has Slurm compute what runs miss.
pub(super) fn submit(
    swept: &Swept,
    (plan, folder): (&Plan, &Path),
    partition: Option<&str>,
    arguments: &Arguments,
    jobs: Option<NonZero<usize>>,
) -> Result<ExitCode, Failure> {
    let slurm = Slurm { partition: partition.map(str::to_owned) };
    let until = if arguments.detach { Until::Submitted } else { Until::Ended };
    let batch = Batch {
        most_tasks: jobs.map_or(MOST_TASKS, NonZero::get),
        most_time: arguments.task_time.unwrap_or(MOST_TIME),
        most_tries: arguments.tries.map_or(MOST_TRIES, NonZero::get),
        ..batch(&slurm, until)?
    };
    let (outcome, is_short) = run(swept, (plan, folder), &batch)?;
    let left = until == Until::Ended && !outcome.left.is_empty();
    Ok(status_of(&outcome, left || is_short))
}

/// Takes in what tasks have computed by now.
pub(super) fn collect(swept: &Swept) -> Result<ExitCode, Failure> {
    let (plan, folder) = swept.read()?;
    let slurm = Slurm::default();
    let (outcome, is_short) = run(swept, (&plan, &folder), &batch(&slurm, Until::Collected)?)?;
    Ok(status_of(&outcome, !outcome.left.is_empty() || is_short))
}

fn batch(slurm: &Slurm, until: Until) -> Result<Batch<'_>, Failure> {
    let program = env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find the file of this program: {error}")))?;
    Ok(Batch {
        system: slurm,
        program,
        words: ["sweep", TASK].map(Into::into).into(),
        most_tasks: MOST_TASKS,
        most_time: MOST_TIME,
        most_tries: MOST_TRIES,
        until,
    })
}

/// Runs a sweep. Returns also whether a figure could not be made.
fn run(
    swept: &Swept,
    (plan, folder): (&Plan, &Path),
    batch: &Batch<'_>,
) -> Result<(Outcome, bool), Failure> {
    let sweep = Sweep {
        plan,
        folder,
        cores: &allowed_cores(),
        memory: free_memory(),
        engine: Engine::Batch(batch),
        told_by: Held::signal,
    };
    let mut outcome = swept.run(&sweep)?;
    let figures = swept.conclude(&sweep, &mut outcome);
    swept.tell(plan, folder, &outcome, &figures)?;
    let has_failed = figures.has_failed();
    Ok((outcome, has_failed))
}

/// What a task does on its node.
pub(super) fn task(arguments: &TaskArguments) -> Result<ExitCode, Failure> {
    Ok(match run_task(&arguments.file)? {
        TaskEnd::ByItself => ExitCode::SUCCESS,
        TaskEnd::ToldBy(signal) => told_to_end(signal),
    })
}
