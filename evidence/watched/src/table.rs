//! The scores as a table.

use std::collections::BTreeMap;

use kilocore_figures::median;
use kilocore_show::Table;

use crate::score::{Count, Score};

/// Returns a table of scores by name of program, in Markdown.
pub fn table(scores: &BTreeMap<String, Score>) -> String {
    let row = |(name, score): (&String, &Score)| {
        let cells = vec![
            count(score.first),
            count(score.named),
            ratios(&score.acquisitions),
            count(score.acquisitions_right),
            ratios(&score.holds),
            count(score.holds_right),
            score.failed.to_string(),
        ];
        (name.clone(), cells)
    };
    let table = Table {
        front: "program",
        headings: [
            "comes first",
            "named",
            "acquisitions / truth",
            "right",
            "hold / truth",
            "right",
            "failed runs",
        ]
        .into(),
        rows: scores.iter().map(row).collect(),
        ..Table::default()
    };
    table.markdown()
}

pub(crate) fn count(count: Count) -> String {
    match count.of {
        0 => "–".to_owned(),
        of => format!("{} of {of}", count.so),
    }
}

/// The median and the range.
pub(crate) fn ratios(ratios: &[f64]) -> String {
    let low = ratios.iter().copied().min_by(f64::total_cmp);
    let high = ratios.iter().copied().max_by(f64::total_cmp);
    match (median(ratios.iter().copied()), low, high, ratios.len()) {
        (Some(middle), _, _, 1) => format!("{middle:.2}"),
        (Some(middle), Some(low), Some(high), _) => format!("{middle:.2} ({low:.2} – {high:.2})"),
        _ => "–".to_owned(),
    }
}
