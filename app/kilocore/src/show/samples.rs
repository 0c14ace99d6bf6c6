//! What a sampled profile says by itself: where it comes from, and which functions have most samples.

use std::path::Path;

use kilocore_figures::Nanoseconds;
use kilocore_sampled_profile::{FunctionTally, SampledProfile, Unit};
use kilocore_show::{Provenance, Table, number};
use serde::Serialize;

use crate::compare::inputs;
use kilocore_command_line::Failure;
use kilocore_command_line::reports::{self, Reports};

/// How many functions are shown. The document has all.
const ROWS: usize = 20;

/// A sampled profile in figures.
#[derive(Debug, Serialize)]
struct SamplesDocument {
    schema: &'static str,
    provenance: Provenance,
    format: String,
    command: Option<String>,
    kernel: Option<String>,
    /// What weights are counted in, such as cycles.
    unit: String,
    event: Option<String>,
    samples: u64,
    weight: u64,
    #[serde(rename = "span_ns")]
    span: Option<Nanoseconds>,
    threads: usize,
    lost: u64,
    remarks: Vec<String>,
    functions: Vec<Row>,
}

/// A function that was sampled.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    object: String,
    samples: u64,
    weight: u64,
    inclusive_weight: u64,
}

/// Prints what is in a profile.
pub(super) fn show(file: &Path, reports: &Reports) -> Result<(), Failure> {
    let profile = inputs::profile(file, None, None)?;
    let document = document(&profile);
    reports.print(&document, || reports::in_words(&[source(file, &profile), functions(&profile)]))
}

fn document(profile: &SampledProfile) -> SamplesDocument {
    let (facts, total) = (&profile.facts, profile.total());
    let row = |tally: &FunctionTally| {
        let function = profile.functions.get(tally.function);
        Row {
            name: function.name.clone(),
            object: function.object.clone(),
            samples: tally.own.samples,
            weight: tally.own.weight,
            inclusive_weight: tally.inclusive.weight,
        }
    };
    SamplesDocument {
        schema: "kilocore-samples-summary/1",
        provenance: Provenance::Measured,
        format: profile.format.to_string(),
        command: facts.command.clone(),
        kernel: facts.kernel.clone(),
        unit: profile.unit.to_string(),
        event: facts.event.clone(),
        samples: total.samples,
        weight: total.weight,
        span: facts.span,
        threads: facts.threads,
        lost: facts.lost,
        remarks: profile.remarks.iter().map(ToString::to_string).collect(),
        functions: profile.by_function().iter().map(row).collect(),
    }
}

/// Where the profile comes from, and what it lacks.
fn source(file: &Path, profile: &SampledProfile) -> Table {
    let (facts, total) = (&profile.facts, profile.total());
    let mut below = vec![format!("{}: {}", file.display(), profile.format)];
    below.extend(facts.command.as_ref().map(|command| format!("Recorded of: {command}")));
    let event = facts.event.as_ref().map(|event| format!(" of {event}")).unwrap_or_default();
    let span = facts.span.map(|span| format!(" in {}", number::nanoseconds(span.0 as f64)));
    let threads = match facts.threads {
        0 => String::new(),
        threads => format!(", of {} threads", number::count(threads as u64)),
    };
    let samples = number::count(total.samples);
    below.push(format!(
        "{samples} samples{event}{}{threads}, {} in all (measured).",
        span.unwrap_or_default(),
        weight(&profile.unit, total.weight)
    ));
    if facts.lost > 0 {
        below.push(format!("{} records were lost.", number::count(facts.lost)));
    }
    if !facts.has_kernel {
        below.push("It has no samples of the kernel.".to_owned());
    }
    below.extend(profile.remarks.iter().map(|remark| format!("Note: {remark}.")));
    Table { below, ..Table::default() }
}

/// A weight with its unit.
fn weight(unit: &Unit, weight: u64) -> String {
    match unit {
        Unit::Nanoseconds | Unit::Waiting => number::nanoseconds(weight as f64),
        unit => format!("{} {unit}", number::count(weight)),
    }
}

fn functions(profile: &SampledProfile) -> Table {
    let all = profile.total().weight.max(1) as f64;
    let tallies = profile.by_function();
    let row = |tally: &FunctionTally| {
        let function = profile.functions.get(tally.function);
        let share = |weight: u64| number::percent(weight as f64 / all);
        let cells = vec![
            weight(&profile.unit, tally.own.weight),
            share(tally.own.weight),
            share(tally.inclusive.weight),
            function.object_name().to_owned(),
        ];
        (function.to_string(), cells)
    };
    let more = tallies.len().saturating_sub(ROWS);
    Table {
        title: "Functions by their own samples".to_owned(),
        front: "function",
        headings: ["own", "share", "with callees", "in"].into(),
        rows: tallies.iter().take(ROWS).map(row).collect(),
        below: (more > 0)
            .then(|| format!("and {more} more; --json has them"))
            .into_iter()
            .collect(),
        ..Table::default()
    }
}
