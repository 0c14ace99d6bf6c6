//! What the programs with planted bottlenecks are, and what an answer has to say of them.

use serde_json::Value;

/// The reasons not to scale that `planted.c` knows. Its function for each is `planted_KIND`.
pub(crate) const KINDS: [&str; 5] = ["lock", "counter", "scan", "copy", "syscall"];

/// Asserts that the answer puts the planted function first, and above noise.
#[track_caller]
pub(crate) fn assert_found(answer: &Value, kind: &str, how: &str) {
    let first = &answer["code"][0];
    let planted = format!("planted_{kind}");
    assert_eq!(first["name"], planted.as_str(), "{how}: {:#}", answer["code"]);
    assert_eq!(first["charged"]["above_noise"], true, "{how}: {first:#}");
    assert_adds_up(answer);
}

/// Asserts that nothing is above noise.
#[track_caller]
pub(crate) fn assert_nothing(answer: &Value, how: &str) {
    for (list, part) in
        [("code", "charged"), ("functions", "exclusive"), ("functions", "inclusive")]
    {
        for row in answer[list].as_array().expect("a list") {
            assert_eq!(row[part]["above_noise"], false, "{how}: {row:#}");
        }
    }
    assert_adds_up(answer);
}

/// Asserts that the whole numbers of all functions add up to those of both sides.
#[track_caller]
fn assert_adds_up(answer: &Value) {
    for side in ["base", "scaled"] {
        let weight = |row: &Value| row["exclusive"][side]["weight"].as_u64().expect("a number");
        let functions: u64 =
            answer["functions"].as_array().expect("a list").iter().map(weight).sum();
        assert_eq!(Some(functions), answer[side]["weight"].as_u64());
    }
}
