//! Comparisons as a section of a page in Markdown.

use std::fmt::Write;

use kilocore_figures::{Shape, median};
use kilocore_forecast::{Gain, GainError};
use kilocore_locks::LockId;
use kilocore_show::markdown::table;
use kilocore_show::terminal::columns::Align::{self, Left, Right};

use super::{Comparison, LockComparison, LockGain, ReadWrite};

/// What the marks around the section are called.
pub const MARK: &str = "setting-c";

/// Regret that does not hurt.
const LITTLE: f64 = 0.1;

/// The whole section, from its first paragraph on: a table of all programs, what each bar asks
/// for, and a part for each program with its circumstances and curves.
#[must_use]
pub fn markdown(comparisons: &[Comparison]) -> String {
    let mut text = String::new();
    overview(&mut text, comparisons);
    summary(&mut text, comparisons);
    constants(&mut text, comparisons);
    gains(&mut text, comparisons);
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
    let columns = [
        ("program", Left),
        ("machine", Left),
        ("measured", Left),
        ("forecast", Left),
        ("verdict", Left),
        ("do well by measurement", Left),
        ("advised", Left),
        ("regret", Right),
        ("without it", Right),
        ("error", Right),
        ("as on 1 node", Right),
        ("linear", Right),
        ("in band", Right),
    ];
    let row = |c: &Comparison| {
        let verdict = match (c.commits, c.verdict_is_right()) {
            (false, _) => "none",
            (true, true) => "right",
            (true, false) => "**wrong**",
        };
        vec![
            name(c),
            c.machine.to_owned(),
            c.measured_shape.name().to_owned(),
            c.forecast_shape.name().to_owned(),
            verdict.to_owned(),
            some_or_all(&c.measured_well(), c.locks.len()),
            c.advised.to_string(),
            percent(c.regret()),
            percent(c.regret_of_no_change()),
            percent(c.error()),
            percent(c.error_if_it_stays()),
            percent(c.error_if_it_scales()),
            percent(c.band().0),
        ]
    };
    let rows: Vec<_> = comparisons.iter().map(row).collect();
    text.push_str(&table(&columns, &rows));
    text.push_str(
        "\n\n*measured*, *forecast*: what throughput does as the program is, under glibc's mutex. \
         *verdict*: none where the answer to a user is that too little was seen to tell how it \
         scales. *do well*: locks within 10 % of the best on all nodes. *regret*: throughput lost on all \
         nodes by taking the advised lock instead of the best; *without it*: by changing nothing. \
         *error*: median, over all locks and numbers of nodes, of throughput divided by that of \
         the program as it is on one node; beside it that of two simple guesses. *in band*: \
         measured points inside the forecast's band.\n",
    );
}

fn summary(text: &mut String, comparisons: &[Comparison]) {
    let all = comparisons.len();
    let count = |wanted: fn(&Comparison) -> bool| comparisons.iter().filter(|c| wanted(c)).count();
    let of = |value: fn(&Comparison) -> f64| median(comparisons.iter().map(value)).unwrap_or(0.0);
    writeln!(
        text,
        "\nThere is a verdict in {} of {all} cases, and it is right in {} of these. Where there is \
         none, the curve would have been right in {} of {}. The advised lock loses at most 10 % in \
         {} of all cases, where changing nothing does in {}. The median error is {}, against {} if all stayed \
         as on one node and {} if throughput grew with the nodes. In the median {} of the measured \
         points lie in the band, whose upper end is {:.1} times its lower one.",
        count(|c| c.commits),
        count(|c| c.commits && c.verdict_is_right()),
        count(|c| !c.commits && c.verdict_is_right()),
        count(|c| !c.commits),
        count(|c| c.regret() <= LITTLE),
        count(|c| c.regret_of_no_change() <= LITTLE),
        percent(of(Comparison::error)),
        percent(of(Comparison::error_if_it_stays)),
        percent(of(Comparison::error_if_it_scales)),
        percent(of(|c| c.band().0)),
        of(|c| c.band().1),
    )
    .expect("a string takes all");
}

/// What answers come to that know nothing of the program: always the same shape, always the same
/// lock.
fn constants(text: &mut String, comparisons: &[Comparison]) {
    let all = comparisons.len();
    let shapes = constant_verdicts(comparisons)
        .map(|(shape, right)| format!("'{}' is right in {right}", shape.name()));
    let little = |lock: LockId| {
        comparisons
            .iter()
            .filter(|c| c.regret_of(lock).is_some_and(|regret| regret <= LITTLE))
            .count()
    };
    let locks = LockId::ALL.iter().map(|&lock| (lock, little(lock)));
    // The first of equals.
    let best = locks.rev().max_by_key(|(_, little)| *little);
    let best = best.map_or(String::new(), |(lock, little)| {
        format!(" Always taking {lock} loses at most 10 % in {little} of all {all}.")
    });
    writeln!(
        text,
        "\nWhere there is a verdict, the constant answer {}.{best}",
        shapes.collect::<Vec<_>>().join(", ")
    )
    .expect("a string takes all");
}

/// In how many of the cases with a verdict always saying so is right.
pub fn constant_verdicts(comparisons: &[Comparison]) -> impl Iterator<Item = (Shape, usize)> {
    [Shape::Scales, Shape::Flattens, Shape::Collapses].into_iter().map(|shape| {
        let right = |c: &&Comparison| c.commits && c.measured_shape == shape;
        (shape, comparisons.iter().filter(right).count())
    })
}

/// How far gains were off, under all locks together.
fn gain_error(comparisons: &[Comparison]) -> Option<GainError> {
    let gains: Vec<Gain> = comparisons.iter().flat_map(Comparison::gains).map(|g| g.gain).collect();
    GainError::of(&gains)
}

/// How far gains were off, lock by lock.
fn gain_errors(comparisons: &[Comparison]) -> Vec<(&'static str, GainError)> {
    let gains: Vec<LockGain> = comparisons.iter().flat_map(Comparison::gains).collect();
    let of = |lock: LockId| {
        let own: Vec<Gain> = gains.iter().filter(|g| g.lock == lock).map(|g| g.gain).collect();
        Some((lock.name(), GainError::of(&own)?))
    };
    LockId::ALL.iter().filter_map(|&lock| of(lock)).collect()
}

/// The file of how far gains were off; none without a comparison.
pub(super) fn gain_errors_file(comparisons: &[Comparison]) -> Option<String> {
    Some(GainError::file(&gain_error(comparisons)?, &gain_errors(comparisons)))
}

/// What the advice rests on: how one lock compares with another.
fn gains(text: &mut String, comparisons: &[Comparison]) {
    let Some(all) = gain_error(comparisons) else { return };
    writeln!(
        text,
        "\nHow a lock compares with glibc's on all nodes, which is what the advice rests on: over {} \
         rows the gain is off by a factor of {:.2} in the median and of {:.2} in one of ten. Of {} \
         gains or losses of a tenth or more, {} are forecast on the right side. The advice names \
         these figures for the lock that it recommends.\n",
        all.cases, all.median, all.wide, all.decided, all.right
    )
    .expect("a string takes all");
    let columns = [
        ("lock", Left),
        ("rows", Right),
        ("median factor", Right),
        ("nine in ten", Right),
        ("on the right side", Right),
    ];
    let row = |(lock, error): (&str, GainError)| {
        let GainError { cases, median, wide, decided, right } = error;
        vec![
            lock.to_owned(),
            cases.to_string(),
            format!("{median:.2}"),
            format!("{wide:.2}"),
            format!("{right} of {decided}"),
        ]
    };
    let rows: Vec<_> = gain_errors(comparisons).into_iter().map(row).collect();
    text.push_str(&table(&columns, &rows));
    text.push_str(
        "\n\nThe advice states the chance that a gain is one, and recommends no lock below two in three. The \
         chance goes by the forecast, and by how the same lock did for other sensitive programs of the data set whose \
         throughput does the same under glibc's mutex as is forecast of this one's \
         (locks/forecast/data/published-gains.csv); here no program says anything of itself, nor of its other \
         versions. Of the gains and losses of a tenth or more, by the least chance of the likelier side that an \
         answer needs; the rest is left open:\n\n",
    );
    let all: Vec<LockGain> = comparisons.iter().flat_map(Comparison::gains).collect();
    text.push_str(&super::chances::chances(&all));
    text.push('\n');
}

/// Measured and forecast throughput of each lock by number of nodes.
fn curves(text: &mut String, comparison: &Comparison) {
    writeln!(
        text,
        "\n{} on {}: measured / forecast, as it is on one node = 1. {}\n",
        comparison.program,
        comparison.machine,
        finding(comparison),
    )
    .expect("a string takes all");
    let nodes: Vec<String> = comparison.nodes.iter().map(|nodes| format!("{nodes} n")).collect();
    let nodes = nodes.iter().map(|heading| (heading.as_str(), Right));
    let columns: Vec<(&str, Align)> = [("lock", Left)].into_iter().chain(nodes).collect();
    let row = |lock: &LockComparison| {
        let pairs = lock.measured.iter().zip(&lock.forecast);
        let pairs = pairs.map(|(measured, forecast)| format!("{measured:.2} / {forecast:.2}"));
        [format!("{} ({})", lock.name, lock.lock)].into_iter().chain(pairs).collect()
    };
    let rows: Vec<_> = comparison.locks.iter().map(row).collect();
    text.push_str(&table(&columns, &rows));
    text.push('\n');
}

/// What the comparison shows, in a sentence or two.
fn finding(comparison: &Comparison) -> String {
    let c = comparison;
    let all = c.locks.len();
    let verdict = if !c.commits {
        format!("It {}; too little was seen of it for a verdict", c.measured_shape.name())
    } else if c.verdict_is_right() {
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

#[cfg(test)]
mod tests {
    use kilocore_figures::Shape;
    use kilocore_locks::LockId;

    use super::{constant_verdicts, gain_error, gain_errors, markdown};
    use crate::profiles::{Comparison, Entry, LockComparison, ReadWrite};

    /// A program whose throughput ends so, by lock: measured and forecast.
    fn comparison(measured_shape: Shape, ends: &[(LockId, f64, f64)]) -> Comparison {
        let lock = |&(lock, measured, forecast): &(LockId, f64, f64)| LockComparison {
            name: lock.name().to_owned(),
            lock,
            measured: vec![1.0, measured],
            forecast: vec![1.0, forecast],
            band: vec![(0.5, 2.0); 2],
            published: None,
        };
        Comparison {
            entry: Entry {
                name: "p".to_owned(),
                programs: vec!["p".to_owned()],
                read_write: ReadWrite::Kept,
                saturated: false,
                load: "a load".to_owned(),
                differs: "the load".to_owned(),
            },
            machine: "A48",
            program: "p".to_owned(),
            nodes: vec![1, 8],
            measured_shape,
            forecast_shape: Shape::Collapses,
            commits: true,
            advised: LockId::Mcs,
            locks: ends.iter().map(lock).collect(),
        }
    }

    fn two() -> [Comparison; 2] {
        use LockId::{Futex, Mcs, Tas};
        [
            comparison(Shape::Collapses, &[(Futex, 1.0, 1.0), (Mcs, 2.0, 4.0), (Tas, 0.5, 2.0)]),
            comparison(Shape::Scales, &[(Futex, 1.0, 1.0), (Mcs, 3.0, 3.0)]),
        ]
    }

    #[test]
    fn constant_answers_stand_beside_the_forecast_s() {
        let right: Vec<usize> = constant_verdicts(&two()).map(|(_, right)| right).collect();
        assert_eq!(right, [1, 0, 1]);
        let page = markdown(&two());
        assert!(page.contains("'scales' is right in 1, 'flattens' is right in 0"), "{page}");
        assert!(page.contains("Always taking mcs loses at most 10 % in 2 of all 2."), "{page}");
        let mut one = two();
        one[1].commits = false;
        assert_eq!(constant_verdicts(&one).map(|(_, right)| right).sum::<usize>(), 1);
        let page = markdown(&one);
        assert!(
            page.contains("There is a verdict in 1 of 2 cases, and it is right in 1"),
            "{page}"
        );
    }

    #[test]
    fn gains_are_held_against_measured_ones_lock_by_lock() {
        let all = gain_error(&two()).unwrap();
        assert_eq!((all.cases, all.median, all.decided, all.right), (3, 2.0, 3, 2));
        let by_lock = gain_errors(&two());
        assert_eq!(by_lock.iter().map(|(lock, _)| *lock).collect::<Vec<_>>(), ["tas", "mcs"]);
        assert!((by_lock[0].1.median - 4.0).abs() < 1e-9 && by_lock[0].1.right == 0);
        let page = markdown(&two());
        assert!(page.contains("| mcs | 2 | 1.50 | 2.00 | 2 of 2 |"), "{page}");
    }
}
