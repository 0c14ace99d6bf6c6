//! The tables of the page.

use std::collections::BTreeMap;

use Align::{Left, Right};
use kilocore_figures::median;
use kilocore_locks::LockId;
use kilocore_show::markdown::{code, table};
use kilocore_show::number;
use kilocore_show::terminal::columns::Align;

use crate::bars::{Asked, Bar, Standing};
use crate::data::DataSet;
use crate::run::{Answer, Compared};
use crate::score::{self, Method};
use crate::split::Setting;
use crate::summary::{Group, Share, Summary, groups};
use crate::written::{bias, percent, share};

fn verdict(value: Option<bool>) -> String {
    match value {
        Some(true) => "yes".to_owned(),
        Some(false) => "**no**".to_owned(),
        None => "–".to_owned(),
    }
}

fn standing(standing: Option<Standing>) -> String {
    match standing {
        Some(Standing::Better) => "yes".to_owned(),
        Some(Standing::Alike) => "**no**, alike".to_owned(),
        Some(Standing::Worse) => "**no**".to_owned(),
        None => "–".to_owned(),
    }
}

/// The bars and whether they are reached.
pub(crate) fn bars(bars: &[Bar]) -> String {
    let columns = [
        ("setting", Left),
        ("of sensitive programs, if nothing else is said", Left),
        ("asked", Right),
        ("forecast", Right),
        ("reached", Left),
        ("scalability law", Right),
        ("stays", Right),
        ("the same for all", Right),
        ("better than these", Left),
    ];
    let row = |bar: &Bar| {
        let baselines = bar.baselines;
        let asked = match bar.asked {
            Asked::AtMost(most) => format!("≤ {:.0} %", 100.0 * most),
            Asked::AtLeast(1.0) => "all".to_owned(),
            Asked::AtLeast(least) => format!("≥ {:.0} %", 100.0 * least),
            Asked::AsHighAsCanBe => "–".to_owned(),
        };
        vec![
            bar.setting.to_owned(),
            bar.what.to_owned(),
            asked,
            percent(bar.forecast),
            verdict(bar.reached()),
            percent(baselines.map(|b| b[0])),
            percent(baselines.map(|b| b[1])),
            bar.constant.map_or_else(
                || "–".to_owned(),
                |(name, score)| format!("{} ('{name}')", percent(Some(score))),
            ),
            standing(bar.standing()),
        ]
    };
    table(&columns, &bars.iter().map(row).collect::<Vec<_>>())
}

/// Summaries by setting, machine, group and method.
pub(crate) fn summaries(answers: &[Answer]) -> String {
    let columns = [
        ("setting", Left),
        ("machine", Left),
        ("programs", Left),
        ("by", Left),
        ("error", Right),
        ("by program", Right),
        ("of shape", Right),
        ("by program", Right),
        ("regret ≤ 10 %", Right),
        ("collapse ±25 %", Right),
        ("missed, false", Right),
        ("in band", Right),
        ("width", Right),
    ];
    let mut rows = Vec::new();
    for (setting, machine, group, chosen) in groups(answers) {
        for method in Method::ALL {
            let s = Summary::of(&chosen, method);
            let own = method == Method::Forecast;
            let band = |text: String| if own { text } else { String::new() };
            let first = |text: String| if own { text } else { String::new() };
            let refused =
                if s.refused > 0 { format!(", {} refused", s.refused) } else { String::new() };
            rows.push(vec![
                first(setting.name().to_owned()),
                first(machine.to_owned()),
                first(format!("{} ({}{refused})", group.name(), s.programs)),
                by(method).to_owned(),
                percent(s.level),
                percent(s.level_by_program),
                percent(s.shape),
                percent(s.shape_by_program),
                share(s.low_regret),
                share(s.collapses),
                format!("{}, {}", s.missed, s.false_alarms),
                band(percent(s.inside.value())),
                band(percent(s.width)),
            ]);
        }
    }
    table(&columns, &rows)
}

fn by(method: Method) -> &'static str {
    match method {
        Method::Forecast => "**forecast**",
        Method::Usl => "law",
        Method::Stays => "stays",
    }
}

/// Which lock of the data set is taken for which of Kilocore's.
pub(crate) fn locks(sets: &[DataSet]) -> String {
    let mut aliases: BTreeMap<&str, Option<LockId>> = BTreeMap::new();
    for series in sets.iter().flat_map(|s| &s.programs).flat_map(|p| &p.series) {
        aliases.insert(&series.alias, series.lock);
    }
    let mut names: BTreeMap<LockId, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for (alias, lock) in aliases {
        match lock {
            Some(lock) => names.entry(lock).or_default().push(code(alias)),
            None => without.push(code(alias)),
        }
    }
    let row = |(lock, aliases): (LockId, Vec<String>)| {
        vec![code(lock.name()), lock.info().title.to_owned(), aliases.join(", ")]
    };
    let mut rows: Vec<Vec<String>> = names.into_iter().map(row).collect();
    if !without.is_empty() {
        rows.push(vec!["none".to_owned(), String::new(), without.join(", ")]);
    }
    let columns = [("Kilocore", Left), ("", Left), ("data set", Left)];
    table(&columns, &rows)
}

/// Held-back points of sensitive programs in a setting, by a key.
fn held_by<K: Ord>(
    answers: &[Answer],
    setting: Setting,
    key: impl Fn(&Answer, &crate::run::Curve, &Compared) -> K,
) -> BTreeMap<K, Vec<&Compared>> {
    let mut places: BTreeMap<K, Vec<&Compared>> = BTreeMap::new();
    let fits = |a: &&Answer| a.setting == setting && Group::Sensitive.has(a);
    for answer in answers.iter().filter(fits) {
        for curve in &answer.curves {
            for point in curve.points.iter().filter(|p| p.held) {
                places.entry(key(answer, curve, point)).or_default().push(point);
            }
        }
    }
    places
}

fn errors(points: &[&Compared], method: Method) -> Option<f64> {
    let error = |p: &&Compared| (method.says(p) / p.observed.throughput - 1.0).abs();
    median(points.iter().map(error))
}

fn inside(points: &[&Compared]) -> String {
    percent(Share::count(points.iter().map(|p| score::inside(p))).value())
}

/// Errors on sensitive programs by number of nodes.
pub(crate) fn nodes(answers: &[Answer]) -> String {
    let columns = [
        ("setting", Left),
        ("machine", Left),
        ("nodes", Right),
        ("points", Right),
        ("forecast", Right),
        ("law", Right),
        ("stays", Right),
        ("in band", Right),
    ];
    let mut rows = Vec::new();
    for setting in Setting::ALL {
        for ((machine, nodes), points) in
            held_by(answers, setting, |a, _, p| (a.machine.name, p.nodes))
        {
            let mut row = vec![
                setting.name().to_owned(),
                machine.to_owned(),
                nodes.to_string(),
                points.len().to_string(),
            ];
            row.extend(Method::ALL.map(|method| percent(errors(&points, method))));
            row.push(inside(&points));
            rows.push(row);
        }
    }
    table(&columns, &rows)
}

/// Errors on sensitive programs by lock.
pub(crate) fn by_lock(answers: &[Answer]) -> String {
    let columns = [
        ("lock", Left),
        ("A: points", Right),
        ("error", Right),
        ("bias", Right),
        ("in band", Right),
        ("B: points", Right),
        ("error", Right),
        ("bias", Right),
        ("in band", Right),
    ];
    let by =
        Setting::ALL.map(|setting| held_by(answers, setting, |_, c, _| (c.lock, c.alias.clone())));
    let mut keys: Vec<_> = by.iter().flat_map(BTreeMap::keys).cloned().collect();
    keys.sort();
    keys.dedup();
    let row = |key: &(LockId, String)| {
        let mut row = vec![code(&key.1)];
        for by in &by {
            let points = by.get(key).map_or(&[][..], Vec::as_slice);
            let ratio = |p: &&Compared| (p.forecast.throughput / p.observed.throughput).ln();
            row.extend([
                points.len().to_string(),
                percent(errors(points, Method::Forecast)),
                bias(median(points.iter().map(ratio))),
                inside(points),
            ]);
        }
        row
    };
    table(&columns, &keys.iter().map(row).collect::<Vec<_>>())
}

/// The lock of a program that is forecast worst, with its median error.
fn worst_lock(answer: &Answer) -> String {
    let error = |c: &crate::run::Curve| {
        let errors = score::level_errors(c, Method::Forecast);
        Some((median(errors)?, c.alias.clone()))
    };
    let worst = answer.curves.iter().filter_map(error).max_by(|a, b| a.0.total_cmp(&b.0));
    worst.map_or_else(
        || "–".to_owned(),
        |(error, alias)| format!("{} {}", code(&alias), number::percent(error)),
    )
}

/// The programs that are forecast worst.
pub(crate) fn worst(answers: &[&Answer]) -> String {
    let columns = [
        ("program", Left),
        ("machine", Left),
        ("best ÷ worst lock", Right),
        ("error", Right),
        ("law", Right),
        ("stays", Right),
        ("bias", Right),
        ("in band", Right),
        ("worst lock", Left),
    ];
    let row = |answer: &&Answer| {
        let [forecast, usl, stays] = Method::ALL.map(|method| Summary::of(&[answer], method));
        vec![
            code(&answer.program),
            answer.machine.name.to_owned(),
            number::multiple(answer.spread),
            answer.refused.clone().map_or(percent(forecast.level), |why| format!("refused: {why}")),
            percent(usl.level),
            percent(stays.level),
            bias(forecast.bias),
            percent(forecast.inside.value()),
            worst_lock(answer),
        ]
    };
    table(&columns, &answers.iter().map(row).collect::<Vec<_>>())
}

/// The collapse points of a program: how many are right, and their median error.
fn collapses(answer: &Answer) -> String {
    let all: Vec<score::Collapse> = answer
        .curves
        .iter()
        .filter_map(|c| score::collapse(c, Method::Forecast, answer.last_given_nodes))
        .collect();
    let errors = all.iter().filter_map(|c| match c {
        score::Collapse::Both(error) => Some(*error),
        _ => None,
    });
    let right = Share::count(all.iter().map(|c| c.hit()));
    match median(errors) {
        Some(error) => format!("{}, off by {}", share(right), number::percent(error)),
        None => share(right),
    }
}

/// Scores of each program.
pub(crate) fn programs(answers: &[&Answer]) -> String {
    let columns = [
        ("program", Left),
        ("best ÷ worst lock", Right),
        ("error", Right),
        ("law", Right),
        ("stays", Right),
        ("of shape", Right),
        ("regret", Right),
        ("law", Right),
        ("stays", Right),
        ("best", Left),
        ("called best", Left),
        ("collapse ±25 %", Right),
        ("in band", Right),
        ("width", Right),
        ("quartiles", Right),
    ];
    let row = |answer: &&Answer| {
        let [forecast, usl, stays] = Method::ALL.map(|method| Summary::of(&[answer], method));
        let choice = score::choice(answer, Method::Forecast);
        let (best, called) = choice
            .map_or_else(Default::default, |c| (code(&c.measured_best), code(&c.called_best)));
        vec![
            code(&answer.program),
            number::multiple(answer.spread),
            answer.refused.clone().map_or(percent(forecast.level), |why| format!("refused: {why}")),
            percent(usl.level),
            percent(stays.level),
            percent(forecast.shape),
            percent(forecast.regret),
            percent(usl.regret),
            percent(stays.regret),
            best,
            called,
            collapses(answer),
            percent(forecast.inside.value()),
            percent(forecast.width),
            percent(forecast.noise),
        ]
    };
    table(&columns, &answers.iter().map(row).collect::<Vec<_>>())
}
