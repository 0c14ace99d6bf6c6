//! Tables of the chain of waits that bounds a run.

use kilocore_emulation_orders::Waits;
use kilocore_show::{Mark, Provenance, Table, number};

use crate::{Point, RunChain};

/// Functions and hand-overs that are shown.
const SHOWN: usize = 10;
/// What takes a smaller part of the run's time is not shown.
const PART: f64 = 0.005;

/// Those of a run, which is `on` so many cores, under so many locks; `name` tells them from those of others.
pub(crate) fn of(on: &str, name: &str, point: &Point) -> Vec<Table> {
    let chain = &point.causes.chain;
    [functions(on, name, chain), hand_overs(on, name, chain)].into_iter().flatten().collect()
}

fn functions(on: &str, name: &str, chain: &RunChain) -> Option<Table> {
    let all = chain.end_ns.max(f64::MIN_POSITIVE);
    let part = |ns: f64| number::percent(ns / all);
    let large = chain.functions.iter().filter(|of| of.ns() / all >= PART).take(SHOWN);
    let rows: Vec<_> = large
        .map(|of| {
            let times = [of.computed_ns, of.waited_ns, of.spun_ns, of.system_ns, of.asleep_ns];
            (of.function.clone(), times.map(part).into())
        })
        .collect();
    let (over_ns, count) = chain.handing_over();
    let threads = match chain.threads.iter().filter(|thread| thread.ns / all >= PART).count() {
        1 => "1 thread".to_owned(),
        many => format!("{many} threads"),
    };
    (!rows.is_empty()).then(|| Table {
        name: format!("chain-{name}"),
        title: format!(
            "What bounds the run {on}: the chain of waits, from the end to the beginning"
        ),
        mark: Some(Mark::new(Provenance::Emulated, "")),
        front: "function",
        headings: ["computes", "waits for lines", "spins", "in kernel", "sleeps"].into(),
        rows,
        below: [format!(
            "shares of the run's time. {threads} on it; {} hand-overs take {} of it",
            number::count(count),
            part(over_ns)
        )]
        .into_iter()
        .chain(meaning(chain.outside_ns / all))
        .collect(),
    })
}

/// What the chain means, of which such a part is waits that are not followed.
fn meaning(outside: f64) -> Vec<String> {
    if outside < PART {
        return vec!["what is not on it can be slower, and the run is as long".to_owned()];
    }
    let part = number::percent(outside);
    vec![
        format!("sleeps: {part} of the run is waits for what is not simulated, such as input, another program, or"),
        "another of the program's threads by way of a network or a signal. Who ends them is not on the chain,"
            .to_owned(),
        "and may bound the run all the same".to_owned(),
    ]
}

fn hand_overs(on: &str, name: &str, chain: &RunChain) -> Option<Table> {
    let all = chain.end_ns.max(f64::MIN_POSITIVE);
    let row = |over: &crate::ChainHandOver| {
        let front = format!("{}, by {}", over.waiter, over.waker);
        let each = over.ns / over.count.max(1) as f64;
        let figures = vec![
            words(over.how).to_owned(),
            number::count(over.count),
            number::percent(over.ns / all),
            number::nanoseconds(each),
        ];
        (front, figures)
    };
    let rows: Vec<_> = chain.hand_overs.iter().take(SHOWN).map(row).collect();
    (!rows.is_empty()).then(|| Table {
        name: format!("hand-overs-{name}"),
        title: format!("The waits on that chain {on}, and who ends them"),
        mark: Some(Mark::new(Provenance::Emulated, "")),
        front: "wait in, ended by",
        headings: ["waits for", "times", "share", "each"].into(),
        rows,
        below: vec![
            "share and each: from what ends the wait until the thread runs. What the one that ends it did before"
                .to_owned(),
            "that is on the chain as well, in the table above".to_owned(),
        ],
    })
}

/// What a wait is for.
fn words(how: Waits) -> &'static str {
    match how {
        Waits::Woken => "a wake-up",
        Waits::Written => "a write",
        Waits::Kernel => "a kernel's lock",
        Waits::Made => "its beginning",
        Waits::Core => "a core",
    }
}
