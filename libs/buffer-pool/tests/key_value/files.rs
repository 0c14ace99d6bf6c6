//! The program on files: one at a time, and what it says.

use std::path::Path;

use super::program::{open, run};

/// Returns what the program says of an error.
fn refusal(file: &str, command: &[&str]) -> String {
    run(file, command).expect_err("it is refused").to_string()
}

fn file(folder: &Path) -> String {
    folder.join("things.kv").to_str().expect("the name is text").to_owned()
}

fn get(file: &str, key: &str) -> Option<Vec<u8>> {
    let tree = open(file, false).expect("nobody changes it");
    tree.get(key.as_bytes()).expect("it can be read")
}

#[test]
fn of_two_programs_that_change_a_file_one_is_refused_and_no_key_is_lost() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = file(folder.path());
    let first = open(&file, true).expect("it is new");
    first.put(b"apple", b"red").expect("there is room");
    for command in [&["put", "plum", "blue"][..], &["get", "apple"], &["list"]] {
        let said = refusal(&file, command);
        assert!(said.contains("things.kv: another program has it open"), "{said}");
    }
    first.commit().expect("there is room");
    drop(first);
    run(&file, &["put", "plum", "blue"]).expect("nobody else has it");
    assert_eq!(get(&file, "apple").as_deref(), Some(&b"red"[..]));
    assert_eq!(get(&file, "plum").as_deref(), Some(&b"blue"[..]));
}

#[test]
fn those_who_only_read_a_file_share_it() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = file(folder.path());
    run(&file, &["put", "apple", "red"]).expect("it is new");
    let reader = open(&file, false).expect("nobody changes it");
    assert_eq!(get(&file, "apple").as_deref(), Some(&b"red"[..]));
    assert!(refusal(&file, &["remove", "apple"]).contains("another program has it open"));
    drop(reader);
    run(&file, &["remove", "apple"]).expect("nobody reads it");
    assert_eq!(get(&file, "apple"), None);
}

#[test]
fn what_the_program_says_names_the_file_and_the_reason() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = file(folder.path());
    let said = refusal(&file, &["get", "apple"]);
    assert!(said.contains("things.kv: No such file"), "{said}");
    std::fs::write(&file, "something else").expect("there is room");
    let said = refusal(&file, &["get", "apple"]);
    assert!(said.ends_with("things.kv: page 0 is no page of a tree"), "{said}");
    std::fs::remove_file(&file).expect("it is there");
    let long = "x".repeat(300);
    let said = refusal(&file, &["put", &long, "red"]);
    assert!(said.contains("things.kv: a key has at most 255 bytes"), "{said}");
}

#[test]
fn a_command_that_is_none_makes_no_file() {
    let folder = tempfile::tempdir().expect("there is room");
    let file = file(folder.path());
    for command in [&[][..], &["put", "apple"], &["load", "things"]] {
        run(&file, command).expect("it says how it is used");
        assert!(!Path::new(&file).exists(), "{command:?}");
    }
}
