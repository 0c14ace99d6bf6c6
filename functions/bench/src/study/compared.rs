//! Two saved runs, the second held against the first.

use kilocore_show::{Mark, Provenance, Table, number};

use crate::{Comparison, Comparisons};

impl Comparisons {
    /// Returns a row for each comparison, and what else differs.
    #[must_use]
    pub fn table(&self) -> Table {
        let row = |comparison: &Comparison| {
            let interval = comparison.ratio_interval;
            let figures = vec![
                comparison.cores.to_string(),
                number::per_second(comparison.first_per_s),
                number::per_second(comparison.second_per_s),
                number::multiple(comparison.ratio),
                format!("{:.2} to {:.2}", interval.low, interval.high),
                chance(comparison.chance),
                verdict(comparison),
            ];
            (comparison.name.clone(), figures)
        };
        let explained = format!(
            "chance: of such a difference by accident, allowing for the numbers of cores of a \
         benchmark;\nchanges below {} do not count",
            number::percent(self.least_change)
        );
        let differs = |(what, first, second): &(String, String, String)| {
            format!("{what} differs: {first} in the first, {second} in the second")
        };
        let only = |which: &'static str, names: &[String]| -> Option<String> {
            (!names.is_empty()).then(|| format!("only in the {which}: {}", names.join(", ")))
        };
        Table {
            name: "compared".to_owned(),
            title: "The second run against the first".to_owned(),
            mark: Some(Mark::new(Provenance::Measured, "")),
            front: "benchmark",
            headings: ["cores", "first", "second", "ratio", "interval", "chance", "verdict"].into(),
            rows: self.comparisons.iter().map(row).collect(),
            below: [explained]
                .into_iter()
                .chain(self.circumstances.iter().map(differs))
                .chain(only("first", &self.only_in_first))
                .chain(only("second", &self.only_in_second))
                .collect(),
        }
    }
}

/// The verdict, and whether to doubt it.
fn verdict(comparison: &Comparison) -> String {
    let doubt = if comparison.unsteady { ", unsteady" } else { "" };
    format!("{}{doubt}", comparison.verdict.name())
}

fn chance(chance: f64) -> String {
    if chance < 0.001 { "< 0.001".to_owned() } else { format!("{chance:.3}") }
}
