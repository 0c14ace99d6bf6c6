//! What programs read of a study.

use kilocore_emulation_orders::{Counts, Orders, Place, Span, ThreadTimes};
use kilocore_show::Provenance;
use serde::Serialize;

use crate::row::{self, Row};
use crate::verdict::{InDocument, Verdict};
use crate::{Causes, Point, Variant, known};

#[derive(Debug, Serialize)]
pub(crate) struct Document<'a> {
    provenance: Provenance,
    command: &'a str,
    machine: &'a str,
    seed: u64,
    disorder_cycles: u64,
    cycles_per_instruction: f64,
    interleaved: bool,
    warm_from: Option<String>,
    from: Option<String>,
    until: Option<String>,
    answer: Vec<String>,
    verdicts: Vec<DocumentVerdict<'a>>,
    points: Vec<DocumentPoint<'a>>,
}

/// Whether the program scales, under some locks.
#[derive(Debug, Serialize)]
struct DocumentVerdict<'a> {
    locks: &'a str,
    #[serde(flatten)]
    verdict: InDocument,
}

/// The figures of one run, and what others that differ by chance say of them.
#[derive(Debug, Serialize)]
struct DocumentPoint<'a> {
    locks: &'a str,
    cores: u32,
    speedup: f64,
    speedup_least: f64,
    speedup_most: f64,
    parallel_speedup: Option<f64>,
    gain: f64,
    gain_least: f64,
    gain_most: f64,
    status: i32,
    host_seconds: f64,
    known_since: Option<String>,
    for_once: Option<&'a str>,
    detailed_from_ns: Option<f64>,
    from_ns: Option<f64>,
    end_ns: f64,
    parallel: Option<Span>,
    runs: Vec<DocumentRun>,
    threads: &'a [ThreadTimes],
    counts: Counts,
    #[serde(flatten)]
    causes: &'a Causes,
}

#[derive(Debug, Serialize)]
struct DocumentRun {
    seed: u64,
    end_ns: f64,
    parallel: Option<Span>,
}

/// What stands in the place of a status where a signal ended the program.
const BY_SIGNAL: i32 = -1;

impl<'a> Document<'a> {
    pub(crate) fn of(
        command: &'a str,
        orders: &'a Orders,
        variants: &'a [Variant],
        answer: Vec<String>,
    ) -> Self {
        let place = |place: &Option<Place>| place.as_ref().map(Place::to_string);
        let verdict = |variant: &'a Variant| DocumentVerdict {
            locks: &variant.locks,
            verdict: Verdict::of(variant).in_document(),
        };
        Self {
            provenance: Provenance::Emulated,
            command,
            machine: &orders.machine.name,
            seed: orders.seed,
            disorder_cycles: orders.disorder,
            cycles_per_instruction: orders.cycles_per_instruction,
            interleaved: orders.interleaved,
            warm_from: place(&orders.window.warm),
            from: place(&orders.window.from),
            until: place(&orders.window.until),
            answer,
            verdicts: variants.iter().map(verdict).collect(),
            points: row::of(variants).map(|row| DocumentPoint::of(&row)).collect(),
        }
    }
}

impl<'a> DocumentPoint<'a> {
    fn of(row: &Row<'a>) -> Self {
        let (runs, point) = (row.runs, row.runs.shown());
        let (speedups, gains) = (row.speedups(), row.gains());
        let run = |(seed, Point { report, .. }): (u64, &Point)| DocumentRun {
            seed,
            end_ns: report.end_ns,
            parallel: report.parallel,
        };
        Self {
            locks: &row.variant.locks,
            cores: row.cores,
            speedup: row.speedup(),
            speedup_least: *speedups.start(),
            speedup_most: *speedups.end(),
            parallel_speedup: row.parallel_speedup(),
            gain: row.gain(),
            gain_least: *gains.start(),
            gain_most: *gains.end(),
            status: point.status.code().unwrap_or(BY_SIGNAL),
            host_seconds: runs.all().map(|(_, point)| point.took.as_secs_f64()).sum(),
            known_since: known::since(runs),
            for_once: runs.all().find_map(|(_, point)| point.for_once.as_deref()),
            detailed_from_ns: point.report.seen.and_then(|seen| seen.detailed_ns),
            from_ns: point.report.seen.and_then(|seen| seen.from_ns),
            end_ns: point.report.end_ns,
            parallel: point.report.parallel,
            runs: runs.all().map(run).collect(),
            threads: &point.report.threads,
            counts: point.report.counts,
            causes: &point.causes,
        }
    }
}
