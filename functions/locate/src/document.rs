//! The comparison as a document for programs.
//!
//! Rates are in the comparison's measure per unit of work. To add up losses without rounding, use
//! the weights and the work, which are whole numbers: a loss is
//! `scaled / scaled.work − base / base.work`.

use kilocore_figures::{Nanoseconds, Provenance};
use kilocore_sampled_profile::Tally;
use serde::Serialize;

use crate::{
    Amounts, CodeRow, Comparison, FunctionRow, NoiseSource, Owner, SideTotals, Times, Uncertainty,
    Warning, Work,
};

/// The name of the format, with its version.
pub const SCHEMA: &str = "kilocore-locate-1";

/// A comparison, as it is written in JSON.
#[derive(Debug, Serialize)]
pub struct ComparisonDocument<'a> {
    schema: &'static str,
    provenance: Provenance,
    /// The unit of the weights.
    measure: &'a str,
    base: SideDocument<'a>,
    scaled: SideDocument<'a>,
    /// How many times as much work the scaled side did in the same time.
    speedup: Option<f64>,
    /// How many times as many cores the scaled side had.
    core_ratio: Option<f64>,
    /// The whole loss, and its two parts: on processors, and while cores were unused.
    loss: TotalDocument,
    run_noise: NoiseDocument,
    functions: Vec<FunctionDocument<'a>>,
    code: Vec<CodeDocument<'a>>,
    contexts: Vec<ContextDocument>,
    locks: LocksDocument,
    warnings: &'a [Warning],
}

#[derive(Debug, Serialize)]
struct SideDocument<'a> {
    profiles: &'a [String],
    cores: Option<u32>,
    work: Work,
    samples: u64,
    weight: u64,
    #[serde(rename = "elapsed_ns")]
    elapsed: Option<Nanoseconds>,
    throughput: Option<f64>,
}

#[derive(Debug, Serialize)]
struct TotalDocument {
    total: f64,
    busy: f64,
    idle: Option<f64>,
    /// The share of the scaled side's core time that its samples do not explain, if `idle` is not
    /// known.
    unexplained: Option<f64>,
}

#[derive(Debug, Serialize)]
struct NoiseDocument {
    relative: f64,
    source: &'static str,
    degrees_of_freedom: Option<usize>,
}

#[derive(Debug, Serialize)]
struct LocksDocument {
    user: f64,
    kernel: f64,
}

/// How long something took on both sides, and the loss.
#[derive(Debug, Serialize)]
struct ChangeDocument {
    base: TallyDocument,
    scaled: TallyDocument,
    base_per_unit: f64,
    scaled_per_unit: f64,
    loss: f64,
    /// The share of the whole loss.
    share: Option<f64>,
    /// Half the width of the 95 % interval.
    margin: f64,
    above_noise: bool,
}

#[derive(Debug, Serialize)]
struct TallyDocument {
    samples: u64,
    weight: u64,
}

#[derive(Debug, Serialize)]
struct FunctionDocument<'a> {
    name: &'a str,
    object: &'a str,
    owner: Owner,
    new: bool,
    vanished: bool,
    exclusive: ChangeDocument,
    inclusive: ChangeDocument,
}

#[derive(Debug, Serialize)]
struct CodeDocument<'a> {
    name: Option<&'a str>,
    object: Option<&'a str>,
    charged: ChangeDocument,
}

#[derive(Debug, Serialize)]
struct ContextDocument {
    /// The caller's index in the list of contexts. The outermost functions have none.
    caller: Option<usize>,
    /// The function's index in the list of functions.
    function: usize,
    exclusive: ChangeDocument,
    inclusive: TimesDocument,
}

#[derive(Debug, Serialize)]
struct TimesDocument {
    base: u64,
    scaled: u64,
    loss: f64,
}

impl From<Tally> for TallyDocument {
    fn from(tally: Tally) -> Self {
        Self { samples: tally.samples, weight: tally.weight }
    }
}

impl<'a> ComparisonDocument<'a> {
    /// Returns the document of a comparison.
    #[must_use]
    pub fn of(comparison: &'a Comparison) -> Self {
        let per_unit = |times: Times| times.loss(comparison.works).per_unit(comparison.works);
        let mut places = vec![0; comparison.functions.len()];
        for (place, row) in comparison.functions.iter().enumerate() {
            places[row.function.index()] = place;
        }
        let locks = comparison.locks;
        Self {
            schema: SCHEMA,
            provenance: Provenance::Measured,
            measure: comparison.measure.name(),
            base: SideDocument::of(&comparison.base),
            scaled: SideDocument::of(&comparison.scaled),
            speedup: comparison.speedup(),
            core_ratio: comparison.core_ratio(),
            loss: TotalDocument {
                total: comparison.total_loss().per_unit(comparison.works),
                busy: per_unit(comparison.busy),
                idle: comparison.idle.map(per_unit),
                unexplained: comparison.unexplained(),
            },
            run_noise: NoiseDocument::of(comparison),
            functions: comparison.functions.iter().map(|row| function(comparison, row)).collect(),
            code: comparison.code.iter().map(|row| code(comparison, row)).collect(),
            contexts: contexts(comparison, &places),
            locks: LocksDocument {
                user: locks.user.per_unit(comparison.works),
                kernel: locks.kernel.per_unit(comparison.works),
            },
            warnings: &comparison.warnings,
        }
    }
}

impl<'a> SideDocument<'a> {
    fn of(side: &'a SideTotals) -> Self {
        Self {
            profiles: &side.names,
            cores: side.cores,
            work: side.work,
            samples: side.busy.samples,
            weight: side.busy.weight,
            elapsed: side.elapsed,
            throughput: side.throughput(),
        }
    }
}

impl NoiseDocument {
    fn of(comparison: &Comparison) -> Self {
        let noise = comparison.run_noise;
        let (source, degrees_of_freedom) = match noise.source {
            NoiseSource::Measured(freedom) => ("measured", Some(freedom)),
            NoiseSource::Given => ("given", None),
            NoiseSource::Assumed => ("assumed", None),
        };
        Self { relative: noise.relative, source, degrees_of_freedom }
    }
}

fn change(comparison: &Comparison, amounts: Amounts, uncertainty: Uncertainty) -> ChangeDocument {
    let (times, works) = (amounts.times(), comparison.works);
    let loss = times.loss(works);
    ChangeDocument {
        base: amounts.base.into(),
        scaled: amounts.scaled.into(),
        base_per_unit: times.base_per_unit(works),
        scaled_per_unit: times.scaled_per_unit(works),
        loss: loss.per_unit(works),
        share: loss.share_of(comparison.total_loss()),
        margin: uncertainty.margin,
        above_noise: uncertainty.above_noise,
    }
}

fn function<'a>(comparison: &'a Comparison, row: &FunctionRow) -> FunctionDocument<'a> {
    let function = comparison.tree.function(row.function);
    FunctionDocument {
        name: &function.name,
        object: &function.object,
        owner: Owner::of(function),
        new: row.inclusive.is_new(),
        vanished: row.inclusive.has_vanished(),
        exclusive: change(comparison, row.exclusive, row.exclusive_uncertainty),
        inclusive: change(comparison, row.inclusive, row.inclusive_uncertainty),
    }
}

fn code<'a>(comparison: &'a Comparison, row: &CodeRow) -> CodeDocument<'a> {
    let function = row.function.map(|function| comparison.tree.function(function));
    CodeDocument {
        name: function.map(|function| function.name.as_str()),
        object: function.map(|function| function.object.as_str()),
        charged: change(comparison, row.charged, row.uncertainty),
    }
}

fn contexts(comparison: &Comparison, places: &[usize]) -> Vec<ContextDocument> {
    let contexts = comparison.tree.contexts().map(|(index, function, node)| ContextDocument {
        // The root is not in the list.
        caller: node.caller.index().checked_sub(1),
        function: places[function.index()],
        exclusive: change(comparison, node.exclusive, comparison.contexts[index.index()].exclusive),
        inclusive: TimesDocument {
            base: node.inclusive.base.weight,
            scaled: node.inclusive.scaled.weight,
            loss: node.inclusive.times().loss(comparison.works).per_unit(comparison.works),
        },
    });
    contexts.collect()
}
