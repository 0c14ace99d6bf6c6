//! Which of the processors' counts tells best how hard a program presses.
//!
//! The thesis makes a matrix of how much programs slow each other down in pairs, takes the rows for
//! intensity and the columns for sensitivity, and compares five metrics by two properties:
//! * **correlation**: how well a metric, counted while a program runs alone, agrees with intensity;
//! * **stability**: how little it changes with the neighbour.
//!
//! It chooses references to the last-level cache per instruction. This is the same comparison for the
//! programs of a list, on the settled model. Sensitivity is compared, too.

use kilocore_sched_policy::{Counters, Metric};
use kilocore_sim::occupancy::{
    Executed, Hardware, Matrix, Phase, Program, correlation, settled_counts,
};
use serde::Serialize;

/// How good a metric is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgement {
    /// The name of the metric.
    pub metric: &'static str,
    /// Pearson's correlation of its value alone with intensity.
    pub with_intensity: f64,
    /// The same with sensitivity.
    pub with_sensitivity: f64,
    /// By how much its value beside a neighbour differs from that alone, as a part of that: the mean
    /// over all pairs.
    pub instability: f64,
}

/// What the programs do to each other, and how good each metric is for telling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judgements {
    /// The names of the programs, in the order of all rows and columns.
    pub programs: Vec<&'static str>,
    /// `slowdown[i][j]`: how many times as long `j` takes beside `i` as alone.
    pub slowdown: Vec<Vec<f64>>,
    /// How much each slows the others down: the mean of its row, less 1.
    pub intensity: Vec<f64>,
    /// How much the others slow each down: the mean of its column, less 1.
    pub sensitivity: Vec<f64>,
    /// The correlation of the two.
    pub intensity_with_sensitivity: f64,
    /// How good each metric is.
    pub metrics: Vec<Judgement>,
}

/// Compares all metrics on these programs, on two cores that share a cache.
///
/// Nothing if no two hardware threads share a last-level cache.
#[must_use]
pub fn judge(hardware: &Hardware, programs: &[Program]) -> Option<Judgements> {
    let other = (1..hardware.threads())
        .find(|&thread| hardware.cache_of(thread) == hardware.cache_of(0))?;
    let phases: Vec<Phase> = programs.iter().map(Program::mean).collect();
    let matrix = Matrix::new(hardware, &phases);
    let each = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..phases.len()).map(of).collect() };
    let (intensity, sensitivity) =
        (each(&|task| matrix.intensity(task)), each(&|task| matrix.sensitivity(task)));
    let alone: Vec<Counters> =
        phases.iter().map(|phase| counters(&settled_counts(hardware, &[(0, phase)])[0])).collect();
    let beside: Vec<Vec<Counters>> = phases
        .iter()
        .map(|phase| {
            let with = |neighbour: &Phase| {
                counters(&settled_counts(hardware, &[(0, phase), (other, neighbour)])[0])
            };
            phases.iter().map(with).collect()
        })
        .collect();
    let judgement = |metric: Metric| {
        let value = |counters: &Counters| metric.of(counters) as f64;
        let values: Vec<f64> = alone.iter().map(value).collect();
        let changes = values.iter().zip(&beside).flat_map(|(&alone, beside)| {
            beside.iter().map(move |counters| (value(counters) - alone).abs() / alone.max(1.0))
        });
        Judgement {
            metric: metric.name(),
            with_intensity: correlation(&values, &intensity),
            with_sensitivity: correlation(&values, &sensitivity),
            instability: changes.sum::<f64>() / (phases.len() * phases.len()) as f64,
        }
    };
    Some(Judgements {
        programs: programs.iter().map(|program| program.name).collect(),
        slowdown: (0..phases.len()).map(|row| each(&|column| matrix.at(row, column))).collect(),
        intensity_with_sensitivity: correlation(&intensity, &sensitivity),
        metrics: Metric::ALL.into_iter().map(judgement).collect(),
        intensity,
        sensitivity,
    })
}

fn counters(counted: &Executed) -> Counters {
    let whole = |count: f64| count.round() as u64;
    Counters {
        cycles: whole(counted.cycles),
        instructions: whole(counted.instructions),
        references: whole(counted.references),
        misses: whole(counted.misses),
        ..Counters::default()
    }
}
