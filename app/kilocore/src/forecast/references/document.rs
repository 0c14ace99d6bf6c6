//! The advice for programs: one JSON document, or a row of CSV for each mapping.

use kilocore_placement::advice::{
    Advice, Frame, Kind, MappingAdvice, Placement, PlacementCosts, Thresholds,
};
use kilocore_show::Parameter;
use serde::Serialize;

use super::results::Results;

/// Everything.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    provenance: &'static str,
    machine: &'a str,
    cpus: u32,
    nodes: u32,
    command: &'a [String],
    recorded_at: &'a str,
    threads: u32,
    forks: u64,
    not_covered: &'a [String],
    parameters: Vec<Parameter>,
    /// From where on something counted.
    thresholds: Limits,
    references: u64,
    /// Of the program as a whole, in cycles of all threads together.
    cycles: Cycles,
    /// By node: references that its memory serves under first touch.
    served_by_node: &'a [u64],
    mappings: Vec<Row>,
}

/// From where on something counts.
#[derive(Debug, Serialize)]
struct Limits {
    least_references: u64,
    least_share: f64,
    nearly: f64,
    mostly_read: f64,
    cached_bytes: u64,
}

impl From<&Thresholds> for Limits {
    fn from(thresholds: &Thresholds) -> Self {
        let Thresholds { least_references, least_share, nearly, mostly_read, cached_bytes } =
            *thresholds;
        Self { least_references, least_share, nearly, mostly_read, cached_bytes }
    }
}

/// Cycles under each placement.
#[derive(Debug, Serialize)]
struct Cycles {
    first_touch: u64,
    interleaved: u64,
    moved: u64,
    linux: u64,
    replicated: u64,
    optimum: u64,
}

impl From<&PlacementCosts> for Cycles {
    fn from(costs: &PlacementCosts) -> Self {
        let of = |placement| costs.of(placement).0;
        Self {
            first_touch: of(Placement::FirstTouch),
            interleaved: of(Placement::Interleaved),
            moved: of(Placement::Moved),
            linux: of(Placement::Migrated),
            replicated: of(Placement::Replicated),
            optimum: of(Placement::Optimum),
        }
    }
}

/// What NAMC each placement comes to.
#[derive(Debug, Serialize)]
struct Namcs {
    first_touch: Option<f64>,
    interleaved: Option<f64>,
    moved: Option<f64>,
    linux: Option<f64>,
    replicated: Option<f64>,
    optimum: Option<f64>,
}

/// A mapping.
#[derive(Debug, Serialize)]
struct Row {
    memory: String,
    kind: &'static str,
    /// How many mappings or blocks there are, and the bytes of the smallest and the largest.
    mappings: u64,
    smallest_bytes: u64,
    largest_bytes: u64,
    /// Who allocated it, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    site: Vec<Caller>,
    mapped_at_end: bool,
    touched_bytes: u64,
    reads: u64,
    writes: u64,
    threads: u32,
    nodes: u32,
    remote: u64,
    shared_reads: u64,
    shared_writes: u64,
    cycles: Cycles,
    namc: Namcs,
    verdict: &'static str,
    advice: String,
    gain_cycles: Option<u64>,
    gain_per_reference: Option<f64>,
    gain_share: Option<f64>,
}

impl Row {
    fn new(advice: &Advice, row: &MappingAdvice) -> Self {
        let gain = row.verdict.gain();
        let namc = |placement| advice.namc_of(row, placement);
        Self {
            memory: row.kind.to_string(),
            kind: kind(&row.kind),
            mappings: row.mappings,
            smallest_bytes: row.smallest,
            largest_bytes: row.largest,
            site: site(&row.kind),
            mapped_at_end: row.mapped,
            touched_bytes: row.touched_bytes,
            reads: row.reads,
            writes: row.writes,
            threads: row.threads,
            nodes: row.nodes,
            remote: row.remote,
            shared_reads: row.shared_reads,
            shared_writes: row.shared_writes,
            cycles: Cycles::from(&row.costs),
            namc: Namcs {
                first_touch: namc(Placement::FirstTouch),
                interleaved: namc(Placement::Interleaved),
                moved: namc(Placement::Moved),
                linux: namc(Placement::Migrated),
                replicated: namc(Placement::Replicated),
                optimum: namc(Placement::Optimum),
            },
            verdict: row.verdict.word(),
            advice: row.verdict.in_words(&row.kind),
            gain_cycles: gain.map(|gain| gain.cycles.0),
            gain_per_reference: gain.map(|gain| gain.per_reference),
            gain_share: gain.map(|gain| gain.share),
        }
    }
}

/// A function that asked for memory.
#[derive(Debug, Serialize)]
struct Caller {
    /// Empty if it is not known.
    function: String,
    /// The program or library that it is in; empty if it is in none.
    module: String,
    /// The call's address in that file's numbering.
    offset: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
}

fn site(kind: &Kind) -> Vec<Caller> {
    let (Kind::Allocated(site) | Kind::ThreadStack(site)) = kind else { return Vec::new() };
    let caller =
        |Frame { function, module, offset, line }| Caller { function, module, offset, line };
    site.frames().iter().cloned().map(caller).collect()
}

fn kind(kind: &Kind) -> &'static str {
    match kind {
        Kind::File(_) => "file",
        Kind::ZeroedData(_) => "zeroed-data",
        Kind::Heap | Kind::RestOfHeap => "heap",
        Kind::Stack => "stack",
        Kind::ThreadStack(_) => "thread-stacks",
        Kind::Allocated(_) => "allocated",
        Kind::OtherAllocated => "other-allocated",
        Kind::Anonymous { .. } => "anonymous",
        Kind::OtherAnonymous { .. } => "other-anonymous",
        Kind::OtherFiles => "other-files",
        Kind::Unknown => "unknown",
    }
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &'a Results) -> Self {
        let Results { description, setting, about, unseen, thresholds, advice } = results;
        Self {
            schema: "kilocore-numa-advice/1",
            provenance: "simulated",
            machine: &description.name,
            cpus: setting.options.processors(),
            nodes: setting.options.nodes,
            command: &about.command,
            recorded_at: &about.recorded_at,
            threads: advice.threads,
            forks: advice.forks,
            not_covered: unseen,
            parameters: setting.parameters(),
            thresholds: Limits::from(thresholds),
            references: advice.references(),
            cycles: Cycles::from(&advice.costs),
            served_by_node: &advice.loads,
            mappings: advice.mappings.iter().map(|row| Row::new(advice, row)).collect(),
        }
    }
}

/// A row of CSV.
#[derive(Debug, Serialize)]
pub(super) struct CsvRow<'a> {
    provenance: &'static str,
    machine: &'a str,
    cpus: u32,
    nodes: u32,
    memory: String,
    kind: &'static str,
    touched_bytes: u64,
    reads: u64,
    writes: u64,
    threads: u32,
    used_by_nodes: u32,
    remote: u64,
    first_touch_cycles: u64,
    interleaved_cycles: u64,
    moved_cycles: u64,
    linux_cycles: u64,
    replicated_cycles: u64,
    optimum_cycles: u64,
    verdict: &'static str,
    gain_cycles: Option<u64>,
    gain_share: Option<f64>,
}

/// The mappings, a row each.
pub(super) fn csv_rows(results: &Results) -> impl Iterator<Item = CsvRow<'_>> {
    let options = &results.setting.options;
    results.advice.mappings.iter().map(move |row| {
        let Cycles { first_touch, interleaved, moved, linux, replicated, optimum } =
            Cycles::from(&row.costs);
        CsvRow {
            provenance: "simulated",
            machine: &results.description.name,
            cpus: options.processors(),
            nodes: options.nodes,
            memory: row.kind.to_string(),
            kind: kind(&row.kind),
            touched_bytes: row.touched_bytes,
            reads: row.reads,
            writes: row.writes,
            threads: row.threads,
            used_by_nodes: row.nodes,
            remote: row.remote,
            first_touch_cycles: first_touch,
            interleaved_cycles: interleaved,
            moved_cycles: moved,
            linux_cycles: linux,
            replicated_cycles: replicated,
            optimum_cycles: optimum,
            verdict: row.verdict.word(),
            gain_cycles: row.verdict.gain().map(|gain| gain.cycles.0),
            gain_share: row.verdict.gain().map(|gain| gain.share),
        }
    })
}
