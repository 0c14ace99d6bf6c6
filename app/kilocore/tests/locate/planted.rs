//! What the programs with planted bottlenecks are, and what an answer has to say of them.

use serde_json::Value;

/// The reasons not to scale that `planted.c` knows. Its function for each is `planted_KIND`.
pub(crate) const KINDS: [&str; 5] = ["lock", "counter", "scan", "copy", "syscall"];

/// Asserts that the answer puts the planted function first.
#[track_caller]
pub(crate) fn assert_first(answer: &Value, kind: &str, how: &str) {
    let planted = format!("planted_{kind}");
    assert_eq!(answer["code"][0]["name"], planted.as_str(), "{how}: {:#}", answer["code"]);
    assert_adds_up(answer);
}

/// Asserts that the answer puts the planted function first, and above noise.
#[track_caller]
pub(crate) fn assert_found(answer: &Value, kind: &str, how: &str) {
    assert_first(answer, kind, how);
    let first = &answer["code"][0];
    assert_eq!(first["charged"]["above_noise"], true, "{how}: {first:#}");
}

/// The rows of all lists of functions that are above noise.
pub(crate) fn marked(answer: &Value) -> Vec<&Value> {
    let lists = [("code", "charged"), ("functions", "exclusive"), ("functions", "inclusive")];
    let of_list = |(list, part): (&str, &'static str)| {
        let rows = answer[list].as_array().expect("a list").iter();
        rows.filter(move |row| row[part]["above_noise"] == true)
    };
    lists.into_iter().flat_map(of_list).collect()
}

/// Asserts that nothing is above noise.
#[track_caller]
pub(crate) fn assert_nothing(answer: &Value, how: &str) {
    let marked = marked(answer);
    assert!(marked.is_empty(), "{how}: {marked:#?}");
    assert_adds_up(answer);
}

/// Asserts that the whole numbers of all functions add up to those of both sides.
#[track_caller]
pub(crate) fn assert_adds_up(answer: &Value) {
    for side in ["base", "scaled"] {
        let weight = |row: &Value| row["exclusive"][side]["weight"].as_u64().expect("a number");
        let functions: u64 =
            answer["functions"].as_array().expect("a list").iter().map(weight).sum();
        assert_eq!(Some(functions), answer[side]["weight"].as_u64());
    }
}
