//! Writes the comparison as differential folded stacks, for other flame graph tools.
//!
//! A line holds a stack, a number for the base side and a number for the scaled side:
//!
//! ```text
//! main;work;memcpy 220 857
//! ```
//!
//! The base side's number is scaled to the work of the scaled side, so that the two can be compared
//! directly.

use std::fmt::Write;

use kilocore_show::folded_frame;

use crate::Comparison;

/// Returns the stacks of both sides, sorted, one on each line. Stacks without samples on both sides
/// are left out.
#[must_use]
pub fn folded(comparison: &Comparison) -> String {
    let ratio = comparison.works.scaled.as_f64() / comparison.works.base.as_f64();
    let tree = &comparison.tree;
    let mut lines: Vec<String> = tree
        .contexts()
        .filter(|(_, _, node)| node.exclusive.base.weight + node.exclusive.scaled.weight > 0)
        .map(|(index, _, node)| {
            let mut names: Vec<String> = tree
                .stack(index)
                .map(|function| folded_frame(&tree.function(function).to_string()))
                .collect();
            names.reverse();
            let base = (node.exclusive.base.weight as f64 * ratio).round();
            format!("{} {base:.0} {}", names.join(";"), node.exclusive.scaled.weight)
        })
        .collect();
    lines.sort_unstable();
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    text
}
