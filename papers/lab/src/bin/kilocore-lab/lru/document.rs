//! The results for programs: one JSON document, or a row of CSV for each point.

use kilocore_lab::lru::{Claims, Pattern, Point, claims};
use kilocore_show::Parameter;
use serde::Serialize;

use super::results::Results;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: &'static str,
    machine: &'a str,
    seed: u64,
    pattern: Pattern,
    folio_pages: u32,
    folios_wait: bool,
    parameters: Vec<Parameter>,
    points: &'a [Point],
    /// What the paper's text says of this machine, if it is one of its two.
    published: Option<PublishedClaims>,
}

#[derive(Debug, Serialize)]
struct PublishedClaims {
    provenance: &'static str,
    #[serde(flatten)]
    claims: Claims,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &Results<'a>) -> Self {
        let published = claims(&results.machine.name)
            .filter(|_| results.folios.are_pages())
            .map(|claims| PublishedClaims { provenance: "published", claims });
        Self {
            provenance: "simulated",
            machine: &results.machine.name,
            seed: results.seed,
            pattern: results.pattern,
            folio_pages: results.folios.order.frames(),
            folios_wait: results.folios.wait,
            parameters: results.setting.parameters(),
            points: results.points,
            published,
        }
    }
}

/// A row of CSV.
#[derive(Debug, Serialize)]
pub(super) struct CsvRow<'a> {
    provenance: &'static str,
    machine: &'a str,
    seed: u64,
    pattern: Pattern,
    folio_pages: u32,
    folios_wait: bool,
    variant: &'static str,
    factor: u32,
    threads: u32,
    throughput_mb_per_s: f64,
    lock_wait_share: f64,
}

/// The points, a row each.
pub(super) fn csv_rows<'a>(results: &Results<'a>) -> impl Iterator<Item = CsvRow<'a>> {
    let (machine, seed) = (&results.machine.name, results.seed);
    results.points.iter().map(move |point| CsvRow {
        provenance: "simulated",
        machine,
        seed,
        pattern: point.pattern,
        folio_pages: point.folio_pages,
        folios_wait: results.folios.wait,
        variant: point.variant,
        factor: point.factor,
        threads: point.threads,
        throughput_mb_per_s: point.throughput_mb_per_s,
        lock_wait_share: point.lock_wait_share,
    })
}
