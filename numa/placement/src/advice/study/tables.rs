//! The advice for people: what could not be seen, what to do, and what it rests on.

use kilocore_show::{Mark, Table, number};

use crate::Node;
use crate::advice::results::Results;
use crate::advice::{Advice, Bytes, MappingAdvice, MemoryKind, Placement, Remedy, Verdict};

/// How many mappings are shown. The documents have all.
const MOST_ROWS: usize = 24;

/// From this share of all references on a node's memory is worth a remark.
const CROWDED: f64 = 0.75;

/// What could not be seen comes first.
pub(super) fn all(results: &Results) -> Vec<Table> {
    let (shown, left_out) = shown(&results.advice);
    vec![
        coverage(results),
        advised(results, &shown, left_out),
        used(results, &shown),
        costs(results, &shown),
    ]
}

/// Those with a verdict, and how many others there are.
fn shown(advice: &Advice) -> (Vec<&MappingAdvice>, usize) {
    let known = |row: &&MappingAdvice| row.verdict != Verdict::Unknown;
    let shown: Vec<&MappingAdvice> = advice.mappings.iter().filter(known).take(MOST_ROWS).collect();
    let left_out = advice.mappings.len() - shown.len();
    (shown, left_out)
}

fn coverage(results: &Results) -> Table {
    let below = vec![
        format!("Not in these figures: {}.", results.unseen.join("; ")),
        format!(
            "Each reference goes to memory here. Those that hit a cache do not on a real machine, so \
             gains are upper ends; nothing is advised for memory of {} or less. Memories are never \
             short of bandwidth here.",
            number::engineering(results.thresholds.cached_bytes as f64, "B")
        ),
    ];
    Table { below, ..Table::default() }
}

fn mark(results: &Results) -> Mark {
    Mark::simulated(&results.machine.name, results.setting.options.seed)
}

fn name(row: &MappingAdvice) -> String {
    let gone = if row.mapped { "" } else { ", unmapped" };
    format!("{}{}{gone}", row.kind, extent(row))
}

/// How many mappings or blocks there are, and of what sizes, as far as the name does not say so.
fn extent(row: &MappingAdvice) -> String {
    let count = number::count(row.mappings);
    match row.kind {
        MemoryKind::Allocated(_) | MemoryKind::OtherAllocated | MemoryKind::ThreadStack(_) => {
            let (smallest, largest) = (Bytes(row.smallest), Bytes(row.largest));
            match row.mappings {
                1 => format!(", {largest}"),
                _ if smallest == largest => format!(", {count} of {largest}"),
                _ => format!(", {count} of {smallest} to {largest}"),
            }
        }
        _ if row.mappings > 1 && !row.kind.is_one_thing() => format!(", {count} mappings"),
        _ => String::new(),
    }
}

/// The advice in a few words. What is below the table says more.
fn in_short(row: &MappingAdvice) -> String {
    match row.verdict {
        Verdict::Do(Remedy::Replicate, _) => "replicate it".to_owned(),
        Verdict::Do(Remedy::Move { to: None }, _) => "move its pages to their users".to_owned(),
        verdict => verdict.in_words(&row.kind),
    }
}

/// How to follow advice that is given.
fn ways(shown: &[&MappingAdvice]) -> Option<String> {
    let is = |row: &&MappingAdvice| matches!(row.verdict, Verdict::Do(Remedy::Replicate, _));
    shown.iter().any(is).then(|| {
        "To replicate means a copy on each node: Replicated<T> of kilocore-numa, or copies of the \
         program's own."
            .to_owned()
    })
}

/// What to do, most gain first.
fn advised(results: &Results, shown: &[&MappingAdvice], left_out: usize) -> Table {
    let advice = &results.advice;
    let options = &results.setting.options;
    let row = |row: &&MappingAdvice| {
        let gain = row.verdict.gain();
        let figure = |figure: Option<String>| figure.unwrap_or_else(|| "–".to_owned());
        let cells = vec![
            in_short(row),
            figure(gain.map(|gain| number::figure(gain.per_reference))),
            figure(gain.map(|gain| number::percent(gain.share))),
        ];
        (name(row), cells)
    };
    let mut below = vec![format!(
        "Gains: cycles for each reference to the mapping, and the share of what all memory of the \
         program costs with pages where they are used first. Of that, {} would be gained in all.",
        number::percent(advice.share_to_gain())
    )];
    if left_out > 0 {
        below.push(format!(
            "{} more rows have too few references to tell, or little cost; --json has them.",
            number::count(left_out as u64)
        ));
    }
    below.extend(ways(shown));
    below.extend(crowded(advice));
    Table {
        name: "advice".to_owned(),
        title: format!(
            "{}: what to do about its memory, on {} processors of {} nodes",
            results.about.command.join(" "),
            options.processors(),
            options.nodes,
        ),
        mark: Some(mark(results)),
        front: "memory",
        headings: ["advice", "gain, cycles", "gain, share"].into(),
        rows: shown.iter().map(row).collect(),
        below,
    }
}

/// What bandwidth may have to say, which is not simulated.
fn crowded(advice: &Advice) -> Option<String> {
    let (Node(node), share) = advice.busiest().filter(|(_, share)| *share >= CROWDED)?;
    Some(format!(
        "Node {node}'s memory serves {} of all references. If its bandwidth is short, which is not \
         simulated, interleaving what is shared and written helps.",
        number::percent(share)
    ))
}

/// Who uses what, and how.
fn used(results: &Results, shown: &[&MappingAdvice]) -> Table {
    let row = |row: &&MappingAdvice| {
        let cells = vec![
            number::engineering(row.touched_bytes as f64, "B"),
            number::count(row.reads),
            number::count(row.writes),
            number::percent(row.read_share()),
            number::count(row.threads.into()),
            number::count(row.nodes.into()),
            number::percent(row.remote_share()),
        ];
        (name(row), cells)
    };
    Table {
        name: "users".to_owned(),
        title: format!(
            "Who uses it: {} references of {} threads (counted), and what is remote",
            number::count(results.advice.references()),
            number::count(results.advice.threads as u64),
        ),
        mark: Some(mark(results)),
        front: "memory",
        headings: ["touched", "reads", "writes", "share of reads", "threads", "nodes", "remote"]
            .into(),
        rows: shown.iter().map(row).collect(),
        below: Vec::new(),
    }
}

fn namc(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}

/// The placements that a table compares, each with its column's heading.
const COLUMNS: [(Placement, &str); 6] = [
    (Placement::FirstTouch, "first touch"),
    (Placement::Interleaved, "interleaved"),
    (Placement::Moved, "moved"),
    (Placement::Migrated, "Linux migrates"),
    (Placement::Replicated, "replicated"),
    (Placement::Optimum, "optimum"),
];

/// What references cost under each placement.
fn costs(results: &Results, shown: &[&MappingAdvice]) -> Table {
    let advice = &results.advice;
    let all = advice.costs.of(Placement::FirstTouch).0.max(1) as f64;
    let row = |row: &&MappingAdvice| {
        let share = row.costs.of(Placement::FirstTouch).0 as f64 / all;
        let namcs = COLUMNS.iter().map(|&(placement, _)| namc(advice.namc_of(row, placement)));
        (name(row), [number::percent(share)].into_iter().chain(namcs).collect())
    };
    let whole = COLUMNS.iter().map(|&(placement, _)| namc(advice.namc(placement)));
    let whole = ("all".to_owned(), [number::percent(1.0)].into_iter().chain(whole).collect());
    Table {
        name: "costs".to_owned(),
        title: "NAMC: cost of a reference, in local ones".to_owned(),
        mark: Some(mark(results)),
        front: "memory",
        headings: [("share of cost")].into_iter().chain(COLUMNS.map(|(_, name)| name)).collect(),
        rows: shown.iter().map(row).chain([whole]).collect(),
        below: vec![
            "moved: each page on the node where its references cost least, known afterwards. optimum: \
             with copies, by somebody who knows the future."
                .to_owned(),
        ],
    }
}
