//! What Slurm prints of tasks and of itself.

use std::collections::{HashMap, HashSet};

use kilocore_sweep::{BatchSystemError, Stage, TaskId};

use crate::ask::no_answer;

/// States of tasks that have ended. Slurm remembers some for minutes.
const ENDED: [&str; 10] = [
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
    "REVOKED",
];

/// States of those that wait for a node, some of them again.
const WAITING: [&str; 6] =
    ["CONFIGURING", "PENDING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"];

/// The tasks of lines with a job's name, its number in its array and its state. Other jobs of the user's are passed over.
pub(crate) fn under_way(printed: &str) -> Result<HashMap<TaskId, Stage>, BatchSystemError> {
    let mut tasks = HashMap::new();
    for line in printed.lines().filter(|line| line.starts_with("kilocore-")) {
        let mut words = line.rsplitn(3, ' ');
        let (state, index, name) = (words.next(), words.next(), words.next());
        let (Some(state), Some(index), Some(name)) = (state, index, name) else {
            return Err(no_answer("squeue", line));
        };
        // A job that is no array's is somebody's own.
        let Ok(index) = index.parse() else { continue };
        let stage = match state.trim() {
            state if ENDED.contains(&state) => continue,
            state if WAITING.contains(&state) => Stage::Waiting,
            _ => Stage::Running,
        };
        tasks.insert(TaskId { array: name.to_owned(), index }, stage);
    }
    Ok(tasks)
}

/// What Slurm calls these tasks, in lines with a job's name, its number in its array and the array's.
pub(crate) fn jobs(printed: &str, tasks: &[TaskId]) -> Vec<String> {
    let wanted: HashSet<(&str, u32)> =
        tasks.iter().map(|task| (task.array.as_str(), task.index)).collect();
    let job = |line: &str| {
        let mut words = line.trim_end().rsplitn(3, ' ');
        let array: u64 = words.next()?.parse().ok()?;
        let (index, name) = (words.next()?.parse().ok()?, words.next()?);
        wanted.contains(&(name, index)).then(|| format!("{array}_{index}"))
    };
    printed.lines().filter_map(job).collect()
}

/// The most tasks of an array, in what `scontrol show config` prints.
pub(crate) fn most_tasks(printed: &str) -> Option<u32> {
    let line = printed.lines().find(|line| line.trim_start().starts_with("MaxArraySize"))?;
    line.split_once('=')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use kilocore_sweep::{Stage, TaskId};

    use super::{jobs, most_tasks, under_way};

    #[test]
    fn tasks_are_found_among_jobs() {
        let printed = "kilocore-a1 0 PENDING\nkilocore-a1 11 RUNNING\nmy job N/A RUNNING\n\
                       kilocore-a1 2 COMPLETING\nkilocore-b2 0 REQUEUED\nkilocore-b2 1 COMPLETED\n\
                       kilocore-b2 3 NODE_FAIL\nkilocore-alone N/A RUNNING\n";
        let mut tasks: Vec<(TaskId, Stage)> =
            under_way(printed).expect("it is read").into_iter().collect();
        tasks.sort_by(|one, other| one.0.cmp(&other.0));
        let task = |array: &str, index, stage| (TaskId { array: array.to_owned(), index }, stage);
        assert_eq!(
            tasks,
            [
                task("kilocore-a1", 0, Stage::Waiting),
                task("kilocore-a1", 2, Stage::Running),
                task("kilocore-a1", 11, Stage::Running),
                task("kilocore-b2", 0, Stage::Waiting),
            ]
        );
        assert_eq!(under_way("").expect("nothing runs").len(), 0);
        assert!(under_way("kilocore-a1").is_err());
    }

    #[test]
    fn only_the_tasks_that_are_meant_have_numbers() {
        let printed = "kilocore-a1 0 71\nkilocore-a1 11 71\nmy job N/A 73\nkilocore-b2 0 74\n\
                       kilocore-b2 1 --all\nkilocore-b2 1\n";
        let task = |array: &str, index| TaskId { array: array.to_owned(), index };
        let tasks = [task("kilocore-a1", 11), task("kilocore-b2", 0), task("kilocore-b2", 1)];
        assert_eq!(jobs(printed, &tasks), ["71_11", "74_0"]);
        assert!(jobs(printed, &[]).is_empty());
    }

    #[test]
    fn the_size_of_arrays_is_found() {
        let printed =
            "Configuration data as of now\nMaxArraySize            = 1001\nMaxJobCount = 9\n";
        assert_eq!(most_tasks(printed), Some(1001));
        assert_eq!(most_tasks("MaxJobCount = 9"), None);
    }
}
