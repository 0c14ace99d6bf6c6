//! The results for programs: one JSON document, or a row of CSV for each task of each point.

use kilocore_lab::sched::cache::{Contender, Judgements, Point};
use kilocore_show::{Points, Provenance, Unit};
use serde::Serialize;

use super::results::{Results, counted};

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
    experiment: &'static str,
    machine: &'a str,
    cores: u32,
    seed: u64,
    orders: u32,
    seconds: f64,
    window_us: u64,
    noise_percent: u32,
    mixes: Vec<MixText>,
    points: &'a [Point],
    /// By policy, over the mixes of the suite's programs.
    mean_beside_fair: Vec<Mean>,
    metrics: Option<&'a Judgements>,
    published: Published,
}

#[derive(Debug, Serialize)]
struct MixText {
    mix: &'static str,
    about: &'static str,
    programs: String,
}

#[derive(Debug, Serialize)]
struct Mean {
    policy: Contender,
    beside_fair: f64,
}

/// What the thesis says of its policy.
#[derive(Debug, Serialize)]
struct Published {
    provenance: Provenance,
    mean_beside_fair: f64,
    best_task_time: f64,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &Results<'a>) -> Self {
        let setting = results.setting;
        let text = |mix: &kilocore_lab::sched::cache::Mix| MixText {
            mix: mix.name,
            about: mix.about,
            programs: counted(mix),
        };
        let mean =
            |&policy: &Contender| Some(Mean { policy, beside_fair: results.mean_gain(policy)? });
        Self {
            provenance: Provenance::Simulated,
            experiment: "cache",
            machine: &setting.machine.name,
            cores: setting.cores,
            seed: setting.seed,
            orders: setting.orders,
            seconds: setting.duration.0 as f64 / 1e9,
            window_us: setting.window.0 / 1000,
            noise_percent: setting.noise,
            mixes: results.mixes.iter().map(text).collect(),
            points: results.points,
            mean_beside_fair: results.contenders.iter().filter_map(mean).collect(),
            metrics: results.metrics,
            published: Published {
                provenance: Provenance::Published,
                mean_beside_fair: 1.1139,
                best_task_time: 0.79,
            },
        }
    }
}

/// A row for each task of each point.
pub(super) fn points(results: &Results<'_>) -> Points {
    let tasks = results.points.iter().flat_map(|point| {
        point.tasks.iter().enumerate().map(move |(number, task)| (point, number, task))
    });
    Points::of(Provenance::Simulated, tasks)
        .same("machine", Unit::Name, &*results.setting.machine.name)
        .same("seed", Unit::Count, results.setting.seed)
        .each("mix", Unit::Name, |(point, ..)| point.mix)
        .each("policy", Unit::Name, |(point, ..)| point.policy.to_string())
        .each("cores", Unit::Count, |(point, ..)| point.cores)
        .each("throughput", Unit::Count, |(point, ..)| point.throughput)
        .each("beside_fair", Unit::Ratio, |(point, ..)| point.beside_fair)
        .each("fairness", Unit::Share, |(point, ..)| point.fairness)
        .each("joules", Unit::Joules, |(point, ..)| point.joules)
        .each("task", Unit::Count, |(_, number, _)| *number)
        .each("program", Unit::Name, |(.., task)| task.program)
        .each("progress", Unit::Share, |(.., task)| task.progress)
        .each("share", Unit::Share, |(.., task)| task.share)
        .each("seconds_per_run", Unit::Seconds, |(.., task)| task.seconds_per_run)
        .each("task_beside_fair", Unit::Ratio, |(.., task)| task.beside_fair)
        .build()
}
