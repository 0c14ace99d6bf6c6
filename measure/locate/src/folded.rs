//! The comparison as differential folded stacks, for the flame graph tools of others.
//!
//! A line is a stack, what it took on the base side and what it took on the scaled side. The base
//! side's is what it would have taken for the scaled side's work, so that the two can be compared
//! as they stand.

use std::fmt::Write;

use crate::Comparison;

/// The stacks of both sides, sorted, a line each. Stacks on which nothing fell on either side are
/// left out.
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
                .map(|function| frame(&tree.function(function).to_string()))
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

/// A name without what would end it.
fn frame(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c == ';' {
                ':'
            } else if c.is_control() {
                '?'
            } else {
                c
            }
        })
        .collect()
}
