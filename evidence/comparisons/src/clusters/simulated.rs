//! Sweeps on clusters that are not here.

use std::time::Duration;

use kilocore_show::Table;
use kilocore_sweep::{ClusterOnPaper, Course, TasksOnPaper, WorkOnPaper, on_paper};

use crate::command::Effort;

/// A good batch system: what the figures are that are not varied.
const CLUSTER: ClusterOnPaper = ClusterOnPaper {
    cores: 1000,
    wait: 10.0,
    starts_a_second: 50.0,
    process_start: 0.3,
    failures_an_hour: 0.0,
    asked_every: 30.0,
};

const TASKS: TasksOnPaper =
    TasksOnPaper { most_tasks: 2000, most_time: Duration::from_mins(10), most_tries: 10 };

/// What is varied.
struct Case {
    what: &'static str,
    cluster: ClusterOnPaper,
    seconds: f64,
    tasks: TasksOnPaper,
}

fn cases() -> Vec<Case> {
    let on = |what, cores: usize, seconds| Case {
        what,
        cluster: ClusterOnPaper { cores, ..CLUSTER },
        seconds,
        tasks: TasksOnPaper { most_tasks: 2 * cores, ..TASKS },
    };
    let hour = Duration::from_hours(1);
    let base = || on("1,000 cores", 1000, 20.0);
    vec![
        on("100 cores", 100, 20.0),
        base(),
        on("10,000 cores", 10_000, 20.0),
        on("32,000 cores", 32_000, 20.0),
        on("32,000 cores, points of 5 min", 32_000, 300.0),
        on("1,000 cores, points of 0.1 s", 1000, 0.1),
        Case {
            what: "1,000 cores, 200 tasks at a time",
            tasks: TasksOnPaper { most_tasks: 200, ..TASKS },
            ..base()
        },
        Case {
            what: "1,000 cores, tasks of an hour",
            tasks: TasksOnPaper { most_time: hour, ..base().tasks },
            ..base()
        },
        Case {
            what: "1,000 cores, each task waits an hour",
            cluster: ClusterOnPaper { wait: 3600.0, ..CLUSTER },
            ..base()
        },
        Case {
            what: "the same, tasks of an hour",
            cluster: ClusterOnPaper { wait: 3600.0, ..CLUSTER },
            tasks: TasksOnPaper { most_time: hour, ..base().tasks },
            ..base()
        },
        Case {
            what: "32,000 cores, 500 starts a second",
            cluster: ClusterOnPaper { cores: 32_000, starts_a_second: 500.0, ..CLUSTER },
            ..on("", 32_000, 20.0)
        },
        Case {
            what: "1,000 cores, each fails every ten hours",
            cluster: ClusterOnPaper { failures_an_hour: 0.1, ..CLUSTER },
            ..base()
        },
        Case {
            what: "1,000 cores, each fails every hour",
            cluster: ClusterOnPaper { failures_an_hour: 1.0, ..CLUSTER },
            ..base()
        },
    ]
}

/// A table of how sweeps went, as Markdown.
#[must_use]
pub fn simulated(effort: Effort) -> String {
    let points = if effort == Effort::Full { 1_000_000 } else { 20_000 };
    let row = |Case { what, cluster, seconds, tasks }: Case| {
        let work = WorkOnPaper { points, seconds, spread: 1.0, surprise: 0.3 };
        (what.to_owned(), figures(cluster.cores, &on_paper(cluster, work, tasks, 1)))
    };
    let table = Table {
        front: "cluster",
        headings: [
            "time",
            "of this, the longest point",
            "of the cores' time in points",
            "tasks",
            "tasks lost",
            "computed twice",
            "points given up",
            "coordinator, measured",
        ]
        .into(),
        rows: cases().into_iter().map(row).collect(),
        ..Table::default()
    };
    table.markdown()
}

fn figures(cores: usize, course: &Course) -> Vec<String> {
    vec![
        format!("{:.1} h", course.seconds / 3600.0),
        format!("{:.1} h", course.longest / 3600.0),
        format!("{:.0} %", 100.0 * course.efficiency(cores)),
        course.tasks.to_string(),
        course.lost_tasks.to_string(),
        format!("{:.2} %", 100.0 * course.lost / course.computing),
        course.given_up.to_string(),
        format!("{:.0} s", course.coordinator),
    ]
}
