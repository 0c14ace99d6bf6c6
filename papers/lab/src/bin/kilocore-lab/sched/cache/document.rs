//! The results for programs: one JSON document, or a row of CSV for each task of each point.

use kilocore_lab::sched::cache::{Contender, Judgements, Point};
use serde::Serialize;

use super::results::{Results, counted};

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: &'static str,
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
    provenance: &'static str,
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
            provenance: "simulated",
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
                provenance: "published",
                mean_beside_fair: 1.1139,
                best_task_time: 0.79,
            },
        }
    }
}

/// A row of CSV.
#[derive(Debug, Serialize)]
pub(super) struct CsvRow<'a> {
    provenance: &'static str,
    machine: &'a str,
    seed: u64,
    mix: &'static str,
    policy: Contender,
    cores: u32,
    throughput: f64,
    beside_fair: f64,
    fairness: f64,
    joules: f64,
    task: usize,
    program: &'static str,
    progress: f64,
    share: f64,
    seconds_per_run: f64,
    task_beside_fair: f64,
}

/// The points, a row for each task.
pub(super) fn csv_rows<'a>(results: &Results<'a>) -> impl Iterator<Item = CsvRow<'a>> {
    let (machine, seed) = (&results.setting.machine.name, results.setting.seed);
    results.points.iter().flat_map(move |point| {
        point.tasks.iter().enumerate().map(move |(number, task)| CsvRow {
            provenance: "simulated",
            machine,
            seed,
            mix: point.mix,
            policy: point.policy,
            cores: point.cores,
            throughput: point.throughput,
            beside_fair: point.beside_fair,
            fairness: point.fairness,
            joules: point.joules,
            task: number,
            program: task.program,
            progress: task.progress,
            share: task.share,
            seconds_per_run: task.seconds_per_run,
            task_beside_fair: task.beside_fair,
        })
    })
}
