//! Replaying a trace of pages on this host, under each policy of the page pool.

use std::path::Path;
use std::process::ExitCode;

use kilocore_page_trace::Trace;
use kilocore_page_trace::replay::{Distribution, Measured, Program, Replay};
use kilocore_pages::Policy;
use kilocore_show::{Table, number};
use serde::Serialize;

use super::Arguments;
use kilocore_command_line::Failure;
use kilocore_command_line::output;
use kilocore_command_line::reports;

/// How often each policy is measured if nothing is said.
const ROUNDS: u32 = 5;

/// What was measured of a policy.
#[derive(Debug, Serialize)]
struct Point {
    policy: &'static str,
    initialization: Latency,
    /// The mean of each round.
    initialization_means_cycles: Vec<f64>,
    /// The median of the ratios of these to those of Linux 4.18 in the same rounds, if it was measured.
    over_baseline: Option<f64>,
    allocation_cycles: f64,
    release_cycles: f64,
}

#[derive(Debug, Serialize)]
struct Latency {
    mean: f64,
    percentile_10: u64,
    median: u64,
    percentile_90: u64,
    percentile_99: u64,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    provenance: &'static str,
    trace: String,
    command: &'a [String],
    processors: usize,
    other_pages: f64,
    used_before_release: f64,
    points: Vec<Point>,
}

/// The same as what simulations of traces begin with, so that one may be laid beside the other.
const OTHER_PAGES: f64 = 1.0;
const USED_BEFORE_RELEASE: f64 = 1.0;

pub(super) fn replay(file: &Path, arguments: &Arguments) -> Result<ExitCode, Failure> {
    if !arguments.reports.output.is_empty() {
        return Err(Failure::new(
            "--output: there is no report of a replay; leave it out, or take --json",
        ));
    }
    let (pool, rounds) = (&arguments.pool, arguments.repeats.unwrap_or(ROUNDS));
    let trace = Trace::read(file)?;
    let program = Program {
        other_pages: pool.other_pages.unwrap_or(OTHER_PAGES),
        used_before_release: pool.used_before_release.unwrap_or(USED_BEFORE_RELEASE),
    };
    let replay = Replay::new(&trace, program)?;
    let points = measure(&replay, &pool.policies(), rounds)?;
    let title = format!(
        "{}: cycles to initialize a page, {} processors (measured here, {rounds} rounds)",
        file.display(),
        replay.processors(),
    );
    let table = table(title, &points);
    let document = Document {
        provenance: "measured",
        trace: file.display().to_string(),
        command: &trace.header.about.command,
        processors: replay.processors(),
        other_pages: program.other_pages,
        used_before_release: program.used_before_release,
        points,
    };
    arguments.reports.print(document, || reports::in_words(&[table]))?;
    Ok(ExitCode::SUCCESS)
}

/// Measures policies in turn, so that a host that slows down slows all of them.
fn measure(replay: &Replay, policies: &[Policy], rounds: u32) -> Result<Vec<Point>, Failure> {
    let progress = output::progress(u64::from(rounds) * policies.len() as u64, "replaying");
    let mut measured = vec![Measured::default(); policies.len()];
    let mut means = vec![Vec::new(); policies.len()];
    for _ in 0..rounds {
        for (at, &policy) in policies.iter().enumerate() {
            let run = replay.run(policy)?;
            means[at].push(run.distribution().mean);
            measured[at].add(run);
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    let baseline = policies.iter().position(|policy| *policy == Policy::Linux4_18);
    let over_baseline = |means_of: &[f64]| {
        let ratios = means_of.iter().zip(&means[baseline?]).map(|(own, base)| own / base);
        kilocore_figures::median(ratios)
    };
    let point = |(at, policy): (usize, &Policy)| {
        let Distribution { mean, percentile_10, median, percentile_90, percentile_99 } =
            measured[at].distribution();
        Point {
            policy: policy.name(),
            initialization: Latency { mean, percentile_10, median, percentile_90, percentile_99 },
            over_baseline: over_baseline(&means[at]),
            initialization_means_cycles: means[at].clone(),
            allocation_cycles: measured[at].mean_allocation(),
            release_cycles: measured[at].mean_release(),
        }
    };
    Ok(policies.iter().enumerate().map(point).collect())
}

fn table(title: String, points: &[Point]) -> Table {
    let row = |point: &Point| {
        let latency = &point.initialization;
        let cycles = |mean: f64| number::count(mean.round() as u64);
        let over =
            point.over_baseline.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
        let mut cells = vec![cycles(latency.mean), over];
        let percentiles =
            [latency.percentile_10, latency.median, latency.percentile_90, latency.percentile_99];
        cells.extend(percentiles.map(number::count));
        cells.extend([cycles(point.allocation_cycles), cycles(point.release_cycles)]);
        (point.policy.to_owned(), cells)
    };
    Table {
        title,
        front: "policy",
        headings: vec!["mean", "× 4.18", "10 %", "50 %", "90 %", "99 %", "allocate", "release"],
        rows: points.iter().map(row).collect(),
        below: vec![
            "× 4.18: median of the ratios of the means within a round; allocate, release: mean cycles"
                .to_owned(),
        ],
    }
}
