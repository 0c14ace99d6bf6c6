//! Terse tables for the terminal: a line for each program, and what they come to.

use comfy_table::{CellAlignment, Table, presets};
use kilocore_figures::median;
use kilocore_show::number;

use crate::before::Before;
use crate::run::Answer;
use crate::score::{self, Method};
use crate::summary::{BOTH, Group, Share, Summary, groups};
use crate::written::{bias, percent, share};

fn table(header: &[&str], names: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.iter().copied());
    for column in table.column_iter_mut().skip(names) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table
}

/// The text of a table, without blanks at the ends of lines.
fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A line for each answer: errors of the forecast and of both baselines, then the choice of lock,
/// collapses and the band. *was* is the error of an earlier run.
#[must_use]
pub fn programs(answers: &[Answer], before: &Before) -> String {
    let header = [
        "",
        "",
        "program",
        "spread",
        "points",
        "level",
        "was",
        "(usl",
        "stays)",
        "shape",
        "bias",
        "regret",
        "(usl",
        "stays)",
        "collapse",
        "inside",
        "width",
        "best",
        "called best",
    ];
    let mut table = table(&header, 3);
    for answer in answers {
        let of = |method| Summary::of(&[answer], method);
        let [forecast, usl, stays] = Method::ALL.map(of);
        let choice = score::choice(answer, Method::Forecast);
        let (best, called) =
            choice.map_or_else(Default::default, |c| (c.measured_best, c.called_best));
        table.add_row([
            answer.setting.name().to_owned(),
            answer.machine.name.to_owned(),
            answer.program.clone(),
            number::multiple(answer.spread),
            forecast.points.to_string(),
            percent(forecast.level),
            percent(before.level(&[answer])),
            percent(usl.level),
            percent(stays.level),
            percent(forecast.shape),
            bias(forecast.bias),
            percent(forecast.regret),
            percent(usl.regret),
            percent(stays.regret),
            share(forecast.collapses),
            percent(forecast.inside.value()),
            percent(forecast.width),
            best,
            answer.refused.as_ref().map_or(called, |why| format!("refused: {why}")),
        ]);
    }
    text_of(&table)
}

/// Summaries by setting, machine, group and method. *was* is the error of an earlier run.
#[must_use]
pub fn summaries(answers: &[Answer], before: &Before) -> String {
    let header = [
        "",
        "machine",
        "programs",
        "by",
        "n",
        "level",
        "was",
        "by program",
        "shape",
        "by program",
        "bias",
        "regret ≤ 10 %",
        "median",
        "collapse",
        "missed",
        "false",
        "inside",
        "width",
    ];
    let mut table = table(&header, 4);
    for (setting, machine, group, chosen) in groups(answers) {
        for method in Method::ALL {
            let summary = Summary::of(&chosen, method);
            let band = |text: String| if method == Method::Forecast { text } else { String::new() };
            table.add_row([
                setting.name().to_owned(),
                machine.to_owned(),
                group.name().to_owned(),
                format!("{method:?}").to_lowercase(),
                summary.programs.to_string(),
                percent(summary.level),
                band(percent(before.level(&chosen))),
                percent(summary.level_by_program),
                percent(summary.shape),
                percent(summary.shape_by_program),
                bias(summary.bias),
                percent(summary.low_regret.value()),
                percent(summary.regret),
                share(summary.collapses),
                summary.missed.to_string(),
                summary.false_alarms.to_string(),
                band(percent(summary.inside.value())),
                band(percent(summary.width)),
            ]);
        }
    }
    text_of(&table)
}

/// Errors by lock and by number of nodes, over the sensitive programs.
#[must_use]
pub fn by_lock(answers: &[Answer]) -> String {
    let mut table =
        table(&["", "machine", "lock", "nodes", "points", "level", "bias", "inside"], 3);
    for (setting, machine, group, chosen) in groups(answers) {
        if group != Group::Sensitive || machine == BOTH {
            continue;
        }
        let mut places: std::collections::BTreeMap<(String, u32), Vec<&crate::run::Compared>> =
            std::collections::BTreeMap::new();
        for curve in chosen.iter().flat_map(|a| &a.curves) {
            for point in curve.points.iter().filter(|p| p.held) {
                places.entry((curve.alias.clone(), point.nodes)).or_default().push(point);
            }
        }
        for ((alias, nodes), points) in places {
            let ratios = points.iter().map(|p| p.forecast.throughput / p.observed.throughput);
            let errors = ratios.clone().map(|r| (r - 1.0).abs());
            table.add_row([
                setting.name().to_owned(),
                machine.to_owned(),
                alias,
                nodes.to_string(),
                points.len().to_string(),
                percent(median(errors)),
                bias(median(ratios.map(f64::ln))),
                percent(Share::count(points.iter().map(|p| score::inside(p))).value()),
            ]);
        }
    }
    text_of(&table)
}
