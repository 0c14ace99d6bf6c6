//! Runs of `kilocore emulate` in a sweep: each is a point, if its result can be used again.

use std::fs;
use std::process::Output;

use serde_json::Value;

use super::{Place, document, text};
use crate::emulate::SUMS;
use crate::measured::{compiled, run_while};

/// Ends with the status that it is told, after it has looked at the clock of the system's start.
const DEPENDS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
    FILE *file = fopen("/proc/uptime", "r");
    for (volatile int i = 0; i < 100000; i++) { }
    return argc > 2 && file ? atoi(argv[1]) : 9;
}
"#;

const WORDS: [&str; 9] = [
    "emulate",
    "--machine",
    "opteron-6344-4s",
    "--cores",
    "1,4,12",
    "--lock",
    "mcs",
    "--seeds",
    "2",
];

impl Place {
    /// One whose plan emulates a program with this option and these arguments, and the words of its command.
    fn emulating(
        program: &str,
        source: &str,
        option: &str,
        arguments: &str,
    ) -> (Self, Vec<String>) {
        let place = Self::new("");
        let program = compiled(place.path(), program, source, &[]);
        let command = format!("{} {option} -- {} {arguments}", WORDS.join(" "), program.display());
        let plan = format!("[[run]]\ncommand = \"kilocore {command}\"\n");
        fs::write(place.path().join("plan.toml"), plan).expect("it is ours");
        (place, command.split_whitespace().map(str::to_owned).collect())
    }

    fn swept(&self, options: &[&str]) -> Output {
        let mut command = self.command(&[&["sweep", "plan.toml", "--json"], options].concat());
        // Cargo adds the folder that it builds in to it.
        command.env_remove("LD_LIBRARY_PATH");
        run_while(command, |_| ())
    }

    /// What the command does alone, with nothing kept. The program sees the environment, so that is the same.
    fn alone(&self, words: &[String]) -> Output {
        let first = [words[0].as_str(), "--no-cache"];
        let words = first.into_iter().chain(words[1..].iter().map(String::as_str));
        let mut command = self.command(&words.collect::<Vec<_>>());
        command.env_remove("LD_LIBRARY_PATH");
        run_while(command, |_| ())
    }
}

/// A document without what it says of when and how long its runs were emulated.
fn timeless(bytes: &[u8]) -> Value {
    let mut document: Value = serde_json::from_slice(bytes).expect("a document");
    let fields = document.as_object_mut().expect("fields");
    for point in fields["points"].as_array_mut().expect("points") {
        for name in ["host_seconds", "known_since"] {
            point.as_object_mut().expect("a point").remove(name).expect("it is said");
        }
    }
    document
}

#[test]
fn each_run_is_a_point_and_the_answer_is_that_of_the_command() {
    let (place, words) = Place::emulating("sums", SUMS, "--json", "{cores} 2400");
    let first = document(&place.swept(&["--jobs", "2"]));
    // Two on each number of cores, under each of two locks. On one core, the second is known to be needed by the first.
    assert_eq!(first["computed"], 12, "{first}");
    let answer = place.answer("run-1.txt");
    let told: Value = serde_json::from_slice(&answer).expect("a document");
    let points = told["points"].as_array().expect("points");
    assert!(points.iter().all(|point| point["known_since"].is_string()), "{told}");
    assert_eq!(timeless(&answer), timeless(&place.alone(&words).stdout));
    let again = document(&place.swept(&["--jobs", "1"]));
    assert_eq!(again["computed"], 0);
    assert_eq!(text(&place.answer("run-1.txt")).len(), text(&answer).len());
    // Another sweep of this user knows them as well.
    assert_eq!(document(&place.swept(&["--into", "other"]))["computed"], 0);
    // And the sweep's own folder has them for whoever has no other.
    fs::remove_dir_all(place.path().join("home")).expect("it is there");
    assert_eq!(document(&place.swept(&[]))["computed"], 0);
}

#[test]
fn what_is_printed_is_what_the_command_prints() {
    let (place, words) = Place::emulating("sums", SUMS, "", "{cores} 2400");
    assert_eq!(document(&place.swept(&[]))["computed"], 12);
    let told = text(&place.answer("run-1.txt"));
    assert!(told.contains("known from before") && told.contains(": all"), "{told}");
    let is_new = |line: &&str| !line.contains("known from before") && !line.contains("--no-cache");
    let new: Vec<&str> = told.lines().filter(is_new).collect();
    let alone = text(&place.alone(&words).stdout);
    assert_eq!(new, alone.lines().collect::<Vec<_>>());
}

#[test]
fn a_program_whose_runs_cannot_be_used_again_is_answered_by_its_command() {
    let (place, words) = Place::emulating("depends", DEPENDS, "--json", "0 {cores}");
    for _ in 0..2 {
        assert_eq!(document(&place.swept(&[]))["computed"], 0);
        let answer = place.answer("run-1.txt");
        let told: Value = serde_json::from_slice(&answer).expect("a document");
        let why = told["points"][0]["for_once"].as_str().expect("it is said");
        assert!(why.contains("/proc/uptime"), "{why}");
        // Where nothing was to be kept, that is not said.
        let without = |bytes| {
            let mut document = timeless(bytes);
            for point in document["points"].as_array_mut().expect("points") {
                point.as_object_mut().expect("a point").remove("for_once").expect("it is said");
            }
            document
        };
        assert_eq!(without(&answer), without(&place.alone(&words).stdout));
    }
}

#[test]
fn a_program_that_fails_is_named_with_what_its_command_says() {
    let (place, words) = Place::emulating("depends", DEPENDS, "", "3 {cores}");
    let output = place.swept(&[]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let run = &told["runs"][0];
    assert_eq!((output.status.code(), run["state"].as_str()), (Some(1), Some("failed")), "{told}");
    let alone = place.alone(&words);
    let said = text(&alone.stderr);
    // How far it is, it says when it takes long.
    let said = said.trim().lines().next_back().expect("it says why");
    let why = run["why"].as_str().expect("it is said");
    assert_eq!(alone.status.code(), Some(3));
    assert!(why.contains("ended with status 3") && why.ends_with(said), "{why}\n{said}");
}
