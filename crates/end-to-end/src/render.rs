//! Comparisons as a section of a page in Markdown.

use std::fmt::Write;

use crate::comparison::median;
use crate::{Comparison, LockComparison, ReadWrite};

/// The whole section, from its first paragraph on: a table of all programs, what each bar asks
/// for, and a part for each program with its circumstances and curves.
#[must_use]
pub fn markdown(comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    overview(&mut text, comparisons);
    summary(&mut text, comparisons);
    let mut previous = None;
    for comparison in comparisons {
        let entry = &comparison.entry;
        if previous != Some(entry) {
            write!(text, "\n### {}\n\n", title(comparison)).expect("a string takes all");
            writeln!(text, "*Measured here:* {}.\n", entry.load).expect("a string takes all");
            writeln!(text, "*What differs:* {}.", entry.differs).expect("a string takes all");
            previous = Some(entry);
        }
        curves(&mut text, comparison);
    }
    text
}

fn title(comparison: &Comparison) -> String {
    let entry = &comparison.entry;
    let mut title = entry.programs.join(", ");
    if entry.read_write == ReadWrite::Mutex {
        title += " (read-write locks as mutexes)";
    }
    if entry.saturated {
        title += " (saturated)";
    }
    title
}

fn name(comparison: &Comparison) -> String {
    match comparison.entry.read_write {
        ReadWrite::Kept => comparison.program.clone(),
        ReadWrite::Mutex => format!("{}, read-write locks as mutexes", comparison.program),
    }
}

fn overview(text: &mut String, comparisons: &[Comparison]) {
    text.push_str(
        "| program | machine | measured | forecast | verdict | do well by measurement | advised \
         | regret | without it | error | as on 1 node | linear | in band |\n\
         | --- | --- | --- | --- | --- | --- | --- | --: | --: | --: | --: | --: | --: |\n",
    );
    for c in comparisons {
        let (inside, _) = c.band();
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            name(c),
            c.machine,
            c.measured_shape.name(),
            c.forecast_shape.name(),
            if c.verdict_is_right() { "right" } else { "**wrong**" },
            some_or_all(&c.measured_well(), c.locks.len()),
            c.advised,
            percent(c.regret()),
            percent(c.regret_of_no_change()),
            percent(c.error()),
            percent(c.error_if_it_stays()),
            percent(c.error_if_it_scales()),
            percent(inside),
        )
        .expect("a string takes all");
    }
    text.push_str(
        "\n*measured*, *forecast*: what throughput does as the program is, under glibc's mutex. \
         *do well*: locks within 10 % of the best on all nodes. *regret*: throughput lost on all \
         nodes by taking the advised lock instead of the best; *without it*: by changing nothing. \
         *error*: median, over all locks and numbers of nodes, of throughput divided by that of \
         the program as it is on one node; beside it that of two simple guesses. *in band*: \
         measured points inside the forecast's band.\n",
    );
}

fn summary(text: &mut String, comparisons: &[Comparison]) {
    let all = comparisons.len();
    let count = |wanted: fn(&Comparison) -> bool| comparisons.iter().filter(|c| wanted(c)).count();
    let of = |value: fn(&Comparison) -> f64| median(comparisons.iter().map(value));
    writeln!(
        text,
        "\nThe verdict is right in {} of {all} cases; the advised lock loses at most 10 % in {} of \
         them, where changing nothing does in {}. The median error is {}, against {} if all stayed \
         as on one node and {} if throughput grew with the nodes. In the median {} of the measured \
         points lie in the band, whose upper end is {:.1} times its lower one.",
        count(Comparison::verdict_is_right),
        count(|c| c.regret() <= 0.1),
        count(|c| c.regret_of_no_change() <= 0.1),
        percent(of(Comparison::error)),
        percent(of(Comparison::error_if_it_stays)),
        percent(of(Comparison::error_if_it_scales)),
        percent(of(|c| c.band().0)),
        of(|c| c.band().1),
    )
    .expect("a string takes all");
}

/// Measured and forecast throughput of each lock by number of nodes.
fn curves(text: &mut String, comparison: &Comparison) {
    let nodes: Vec<String> = comparison.nodes.iter().map(|nodes| format!("{nodes} n")).collect();
    write!(
        text,
        "\n{} on {}: measured / forecast, as it is on one node = 1. {}\n\n| lock | {} |\n| --- |{}\n",
        comparison.program,
        comparison.machine,
        finding(comparison),
        nodes.join(" | "),
        " --: |".repeat(nodes.len()),
    )
    .expect("a string takes all");
    for lock in &comparison.locks {
        let pairs = lock.measured.iter().zip(&lock.forecast);
        let pairs: Vec<String> = pairs.map(|(m, f)| format!("{m:.2} / {f:.2}")).collect();
        writeln!(text, "| {} ({}) | {} |", lock.name, lock.lock, pairs.join(" | "))
            .expect("a string takes all");
    }
}

/// What the comparison shows, in a sentence or two.
fn finding(comparison: &Comparison) -> String {
    let c = comparison;
    let all = c.locks.len();
    let verdict = if c.verdict_is_right() {
        format!("It {}, as forecast", c.measured_shape.name())
    } else {
        format!(
            "**Wrong:** it {}, and was forecast to be one that {}",
            c.measured_shape.name(),
            c.forecast_shape.name()
        )
    };
    format!(
        "{verdict}. Do well by measurement: {}; by forecast: {}.",
        some_or_all(&c.measured_well(), all),
        some_or_all(&c.forecast_well(), all)
    )
}

fn some_or_all(locks: &[&LockComparison], all: usize) -> String {
    if locks.len() == all {
        return "all".to_owned();
    }
    locks.iter().map(|lock| lock.name.as_str()).collect::<Vec<_>>().join(" ")
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
