//! Compares lists of public items, in which what belongs to an item is indented below it.

use std::collections::BTreeSet;

/// The end of a line that is there with a feature only.
pub(crate) const NEEDS_FEATURE: &str = "[feature]";

/// The lines of a list, each behind the lines that it belongs to.
fn in_full(list: &str) -> Vec<String> {
    let mut above: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("# ")) {
        let depth = (line.len() - line.trim_start().len()) / 4;
        above.truncate(depth);
        above.push(line.trim());
        found.push(above.join(" › "));
    }
    found
}

/// Returns `most` with a mark behind each line that `least` has not, and the lines that only `least` has.
pub(crate) fn merge(least: &str, most: &str) -> String {
    let always: BTreeSet<_> = in_full(least).into_iter().collect();
    let full = in_full(most);
    let mut merged = String::new();
    for (line, full) in most.lines().zip(&full) {
        merged.push_str(line);
        if !always.contains(full) {
            merged.push_str("  ");
            merged.push_str(NEEDS_FEATURE);
        }
        merged.push('\n');
    }
    for line in always.difference(&full.into_iter().collect()) {
        merged.push_str(&format!("without features: {line}\n"));
    }
    merged
}

/// What is only in `known`, marked by a minus, and what is only in `found`, marked by a plus.
pub(crate) fn differences(known: &str, found: &str) -> Vec<String> {
    let (known, found) = (in_full(known), in_full(found));
    let lines = |list: &[String]| list.iter().cloned().collect::<BTreeSet<_>>();
    let (before, after) = (lines(&known), lines(&found));
    let gone = before.difference(&after).map(|line| format!("- {line}"));
    let new = after.difference(&before).map(|line| format!("+ {line}"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "#[must_use] pub struct a::Log\n    impl Log\n        pub fn new() -> Log\n    impl Clone for Log\n";

    #[test]
    fn the_same_list_differs_in_nothing() {
        assert_eq!(differences(LIST, LIST), Vec::<String>::new());
    }

    #[test]
    fn a_line_is_named_with_what_it_belongs_to() {
        let found =
            LIST.replace("new()", "new(size: usize)").replace("    impl Clone for Log\n", "");
        assert_eq!(
            differences(LIST, &found),
            [
                "- #[must_use] pub struct a::Log › impl Clone for Log",
                "- #[must_use] pub struct a::Log › impl Log › pub fn new() -> Log",
                "+ #[must_use] pub struct a::Log › impl Log › pub fn new(size: usize) -> Log",
            ]
        );
    }

    #[test]
    fn what_a_feature_adds_is_marked() {
        let least = "#[must_use] pub struct a::Log\n    impl Log\n";
        let merged = merge(least, LIST);
        assert_eq!(merged.matches(NEEDS_FEATURE).count(), 2, "{merged}");
        assert!(merged.contains("#[must_use] pub struct a::Log\n    impl Log\n"), "{merged}");
        assert!(!differences(&merged, LIST).is_empty(), "a feature that is needed is a change");
    }
}
