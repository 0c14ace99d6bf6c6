//! The scores as a table.

use std::collections::BTreeMap;

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;

use crate::score::{Count, Score};

/// Returns a table of scores by name of program, in Markdown.
pub fn table(scores: &BTreeMap<String, Score>) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header([
        "program",
        "comes first",
        "named",
        "acquisitions / truth",
        "right",
        "hold / truth",
        "right",
        "failed runs",
    ]);
    for (name, score) in scores {
        table.add_row([
            name.clone(),
            count(score.first),
            count(score.named),
            ratios(&score.acquisitions),
            count(score.acquisitions_right),
            ratios(&score.holds),
            count(score.holds_right),
            score.failed.to_string(),
        ]);
    }
    table.to_string()
}

pub(crate) fn count(count: Count) -> String {
    match count.of {
        0 => "–".to_owned(),
        of => format!("{} of {of}", count.so),
    }
}

/// The median and the range.
pub(crate) fn ratios(ratios: &[f64]) -> String {
    let mut sorted = ratios.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted[..] {
        [] => "–".to_owned(),
        [one] => format!("{one:.2}"),
        [low, .., high] => format!("{:.2} ({low:.2} – {high:.2})", sorted[sorted.len() / 2]),
    }
}
