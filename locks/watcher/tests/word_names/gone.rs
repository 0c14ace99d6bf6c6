//! Files that are gone while they are mapped, with others at their paths.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use kilocore_lock_watcher::word_names::{Files, Names};

use crate::{SOURCE, Waiting};

fn compile(source: &str, file: &Path, options: &[&str]) {
    let text = file.with_extension("c");
    fs::write(&text, source).expect("there is room");
    let mut compiler = Command::new("cc");
    let status = compiler.args(options).arg("-o").arg(file).arg(text).status();
    assert!(status.expect("there is a compiler").success());
}

/// What a library at this path defines in a process, of the two that were there.
fn defined(pid: u32, library: &str) -> Vec<String> {
    let names = Names::of(pid, &Files::default()).expect("it may be looked at");
    names.definitions(library, &|name| name.starts_with("planted_")).into_keys().collect()
}

#[test]
fn names_come_from_the_file_that_is_mapped_and_not_from_one_that_took_its_place() {
    let folder = tempfile::tempdir().expect("there is room");
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    compile(SOURCE, &at("program"), &[]);
    let [first, second] = ["first", "second"].map(|name| {
        let library = at(name);
        compile(
            &format!("int planted_{name}(void) {{ return 1; }}"),
            &library,
            &["-shared", "-fPIC"],
        );
        library
    });
    let library = at("library.so");
    fs::rename(first, &library).expect("it was built");
    let waiting = Waiting::of(Command::new(at("program")).env("LD_PRELOAD", &library));
    let pid = waiting.0.id();
    assert_eq!(defined(pid, "library.so"), ["planted_first"]);

    fs::rename(second, &library).expect("it was built");
    // Only some users may read through a mapping.
    let mapped = fs::read_dir(format!("/proc/{pid}/map_files")).expect("it is there");
    let may = mapped.flatten().any(|mapping| fs::metadata(mapping.path()).is_ok());
    let found: &[&str] = if may { &["planted_first"] } else { &[] };
    assert_eq!(defined(pid, "library.so"), found);
    // Where nobody may, there is nothing at the path that is the mapped file.
    fs::remove_file(&library).expect("it is there");
    assert_eq!(defined(pid, "library.so"), found);
}

#[test]
fn the_programs_own_file_is_read_though_it_is_gone() {
    let folder = tempfile::tempdir().expect("there is room");
    let program = folder.path().join("program");
    compile(SOURCE, &program, &["-Wl,--export-dynamic"]);
    let waiting = Waiting::start(&program);
    let other = folder.path().join("other");
    compile("int planted_other(void) { return 1; }", &other, &["-shared", "-fPIC"]);
    fs::rename(other, &program).expect("it was built");
    let pid = waiting.0.id();
    let mut names = Names::of(pid, &Files::default()).expect("it may be looked at");
    let found = names.functions(&|name| ["main", "planted_other"].iter().position(|n| *n == name));
    assert!(matches!(found[..], [(0, _)]), "{found:?}");
}
