//! Tables of where the time of a run went.

use kilocore_emulation_orders::{Sharing, ThreadTimes, UseKind};
use kilocore_show::{Mark, Provenance, Table, number};

use crate::{HotLine, Point};

/// Functions and lines that are shown.
const SHOWN: usize = 10;
/// Uses of a line that are shown.
const USES: usize = 3;
/// What takes a smaller part of all threads' time is not shown.
const PART: f64 = 0.005;

/// Those of a run, which is `on` so many cores, under so many locks; `name` tells them from those of others.
pub(crate) fn of(on: &str, name: &str, point: &Point) -> Vec<Table> {
    [functions(on, name, point), lines(on, name, point)].into_iter().flatten().collect()
}

/// The time of all threads on their cores, in ns.
fn all_ns(point: &Point) -> f64 {
    let of = |times: &ThreadTimes| {
        times.working_ns + times.stalled_ns + times.spinning_ns + times.system_ns
    };
    point.report.threads.iter().map(of).sum::<f64>().max(f64::MIN_POSITIVE)
}

fn functions(on: &str, name: &str, point: &Point) -> Option<Table> {
    let all = all_ns(point);
    let part = |ns: f64| number::percent(ns / all);
    let large = point
        .causes
        .functions
        .iter()
        .filter(|of| (of.computed_ns + of.waited_ns) / all >= PART)
        .take(SHOWN);
    let rows: Vec<_> = large
        .map(|of| (of.function.clone(), vec![part(of.computed_ns), part(of.waited_ns)]))
        .collect();
    let sum = |of: fn(&ThreadTimes) -> f64| point.report.threads.iter().map(of).sum::<f64>();
    let elsewhere = [
        ("the kernel, for all of them", sum(|times| times.system_ns)),
        ("waiting in a loop", sum(|times| times.spinning_ns)),
    ];
    let elsewhere = elsewhere.into_iter().filter(|(_, ns)| ns / all >= PART);
    let elsewhere =
        elsewhere.map(|(what, ns)| (what.to_owned(), vec![part(ns), number::NONE.to_owned()]));
    let rows: Vec<_> = rows.into_iter().chain(elsewhere).collect();
    (!rows.is_empty()).then(|| Table {
        name: format!("functions-{name}"),
        title: format!("Where the time of its threads goes {on}"),
        mark: Some(Mark::new(Provenance::Emulated, "")),
        front: "function",
        headings: ["computes", "waits for lines"].into(),
        rows,
        below: Vec::new(),
    })
}

fn lines(on: &str, name: &str, point: &Point) -> Option<Table> {
    let all = all_ns(point);
    let large = point.causes.lines.iter().filter(|line| line.waited_ns / all >= PART).take(SHOWN);
    let rows: Vec<_> = large.flat_map(|line| rows(line, all)).collect();
    (!rows.is_empty()).then(|| Table {
        name: format!("lines-{name}"),
        title: format!("The cache lines that cost its threads most {on}"),
        mark: Some(Mark::new(Provenance::Emulated, "")),
        front: "line",
        headings: ["sharing", "moves", "waits"].into(),
        rows,
        below: vec![
            "moves: from core to core; waits: share of the threads' time; sharing: true if they need the same".to_owned(),
            "bytes, false if each has its own, which happen to be on one line".to_owned(),
        ],
    })
}

fn rows(line: &HotLine, all: f64) -> Vec<(String, Vec<String>)> {
    let figures = |sharing: &str, moves: u64, waited: f64| {
        let moves = number::count(moves);
        vec![sharing.to_owned(), moves, number::percent(waited / all)]
    };
    let sharing = match line.sharing {
        Some(Sharing::True) => "true",
        Some(Sharing::False) => "false",
        None => number::NONE,
    };
    let first = (line.data.clone(), figures(sharing, line.moves, line.waited_ns));
    let by = line.by.iter().take(USES).map(|one| {
        let does = match one.access {
            UseKind::Load => "reads",
            UseKind::Store => "writes",
            UseKind::Update => "updates",
        };
        let front = format!("  {} {does} {}", one.function, one.data);
        (front, figures("", one.moves, one.waited_ns))
    });
    [first].into_iter().chain(by).collect()
}
