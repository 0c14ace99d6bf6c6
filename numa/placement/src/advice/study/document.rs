//! The advice for programs: one JSON document, or a row for each mapping.

use kilocore_show::{Parameter, Points, Provenance, Unit};
use serde::Serialize;

use crate::advice::results::Results;
use crate::advice::{
    Advice, Frame, MappingAdvice, MemoryKind, Placement, PlacementCosts, Thresholds,
};

/// The whole document that `--json` prints.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    provenance: Provenance,
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

/// A row of the report: a mapping, or several that share the row.
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

fn site(kind: &MemoryKind) -> Vec<Caller> {
    let (MemoryKind::Allocated(site) | MemoryKind::ThreadStack(site)) = kind else {
        return Vec::new();
    };
    let caller =
        |Frame { function, module, offset, line }| Caller { function, module, offset, line };
    site.frames().iter().cloned().map(caller).collect()
}

fn kind(kind: &MemoryKind) -> &'static str {
    match kind {
        MemoryKind::File(_) => "file",
        MemoryKind::ZeroedData(_) => "zeroed-data",
        MemoryKind::Heap | MemoryKind::RestOfHeap => "heap",
        MemoryKind::Stack => "stack",
        MemoryKind::ThreadStack(_) => "thread-stacks",
        MemoryKind::Allocated(_) => "allocated",
        MemoryKind::OtherAllocated => "other-allocated",
        MemoryKind::Anonymous { .. } => "anonymous",
        MemoryKind::OtherAnonymous { .. } => "other-anonymous",
        MemoryKind::OtherFiles => "other-files",
        MemoryKind::Unknown => "unknown",
    }
}

impl<'a> Document<'a> {
    pub(super) fn new(results: &'a Results) -> Self {
        let Results { machine, setting, about, unseen, thresholds, advice, .. } = results;
        Self {
            schema: "kilocore-numa-advice/1",
            provenance: Provenance::Simulated,
            machine: &machine.name,
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

/// A row for each mapping.
pub(super) fn points(results: &Results) -> Points {
    let options = &results.setting.options;
    let cost = |placement| move |row: &&MappingAdvice| row.costs.of(placement).0;
    Points::of(Provenance::Simulated, &results.advice.mappings)
        .same("machine", Unit::Name, &*results.machine.name)
        .same("cpus", Unit::Count, options.processors())
        .same("nodes", Unit::Count, options.nodes)
        .each("memory", Unit::Name, |row| row.kind.to_string())
        .each("kind", Unit::Name, |row| kind(&row.kind))
        .each("touched_bytes", Unit::Bytes, |row| row.touched_bytes)
        .each("reads", Unit::Count, |row| row.reads)
        .each("writes", Unit::Count, |row| row.writes)
        .each("threads", Unit::Count, |row| row.threads)
        .each("used_by_nodes", Unit::Count, |row| row.nodes)
        .each("remote", Unit::Count, |row| row.remote)
        .each("first_touch_cycles", Unit::Cycles, cost(Placement::FirstTouch))
        .each("interleaved_cycles", Unit::Cycles, cost(Placement::Interleaved))
        .each("moved_cycles", Unit::Cycles, cost(Placement::Moved))
        .each("linux_cycles", Unit::Cycles, cost(Placement::Migrated))
        .each("replicated_cycles", Unit::Cycles, cost(Placement::Replicated))
        .each("optimum_cycles", Unit::Cycles, cost(Placement::Optimum))
        .each("verdict", Unit::Name, |row| row.verdict.word())
        .each("gain_cycles", Unit::Cycles, |row| row.verdict.gain().map(|gain| gain.cycles.0))
        .each("gain_share", Unit::Share, |row| row.verdict.gain().map(|gain| gain.share))
        .build()
}
