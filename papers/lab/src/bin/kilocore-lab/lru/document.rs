//! The results for programs: one JSON document, or a row for each point.

use kilocore_lab::lru::{Claims, Pattern, Point, claims};
use kilocore_show::{Parameter, Points, Provenance, Unit};
use serde::Serialize;

use super::results::Results;

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    provenance: Provenance,
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
    provenance: Provenance,
    #[serde(flatten)]
    claims: Claims,
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &Results<'a>) -> Self {
        let published = claims(&results.machine.name)
            .filter(|_| results.folios.are_pages())
            .map(|claims| PublishedClaims { provenance: Provenance::Published, claims });
        Self {
            provenance: Provenance::Simulated,
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

/// A row for each point.
pub(super) fn points(results: &Results<'_>) -> Points {
    Points::of(Provenance::Simulated, results.points)
        .same("machine", Unit::Name, &*results.machine.name)
        .same("seed", Unit::Count, results.seed)
        .each("pattern", Unit::Name, |point| point.pattern.name())
        .each("folio_pages", Unit::Count, |point| point.folio_pages)
        .same("folios_wait", Unit::Flag, results.folios.wait)
        .each("variant", Unit::Name, |point| point.variant)
        .each("factor", Unit::Count, |point| point.factor)
        .each("threads", Unit::Count, |point| point.threads)
        .each("throughput_mb_per_s", Unit::MegabytesPerSecond, |point| point.throughput_mb_per_s)
        .each("lock_wait_share", Unit::Share, |point| point.lock_wait_share)
        .build()
}
