//! Hints for a program without names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use kilocore_lock_watcher::word_names::{Files, Names, Remedy};

use crate::{SOURCE, Waiting};

/// Compiles a program, with options of the linker.
fn compile(folder: &Path, name: &str, options: &[&str]) -> std::path::PathBuf {
    let source = folder.join("source.c");
    fs::write(&source, SOURCE).expect("there is room");
    let program = folder.join(name);
    let status = Command::new("cc").arg(&source).args(options).arg("-o").arg(&program).status();
    assert!(status.expect("there is a compiler").success());
    program
}

/// Where the code of a file begins in a process.
fn code(pid: u32, path: &str) -> u64 {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).expect("it runs");
    let line = maps.lines().find(|line| line.contains("r-xp") && line.ends_with(path));
    let start = line.and_then(|line| line.split('-').next()).expect("it has code");
    u64::from_str_radix(start, 16).expect("it is an address")
}

#[test]
fn a_stripped_program_of_no_package_is_to_be_built_with_names() {
    let folder = tempfile::tempdir().expect("there is room");
    for (name, options, is_stripped) in
        [("plain", &["-O1"][..], false), ("stripped", &["-s", "-Wl,--build-id=none"], true)]
    {
        let program = compile(folder.path(), name, options);
        let path = program.canonicalize().expect("it is there").to_string_lossy().into_owned();
        let running = Waiting::start(&program);
        let mut names = Names::of(running.0.id(), &Files::default()).expect("it runs");
        let files = BTreeSet::from([path.clone(), "/nowhere".to_owned()]);
        assert_eq!(names.hints(&files), [], "nothing was asked for yet");
        let frames = names.frames(code(running.0.id(), &path));
        assert_eq!(frames.first().map(|frame| &frame.module), Some(&path));
        drop(running);
        let hints = names.hints(&files);
        assert_eq!(hints.len(), usize::from(is_stripped), "{hints:?}");
        let right = |hint: &kilocore_lock_watcher::word_names::Hint| {
            hint.module == path && hint.remedy == Remedy::DoNotStrip
        };
        assert!(hints.iter().all(right), "{hints:?}");
    }
}
