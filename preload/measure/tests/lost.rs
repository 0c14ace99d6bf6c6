//! Cases in which the recorder cannot record. The program must not notice, and a `.lost` file or the
//! recording itself must say why.

use crate::common;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{library, program};
use kilocore_lock_profile::{Lack, Process, RECORDING_EXTENSION, Recording, read_directory};

/// Runs a scenario of `locks.c` after the shell command `before`. Returns the result of the
/// program, what was recorded, the words in the `.lost` files, and why recordings could not grow.
fn after(before: &str, scenario: &str) -> (Output, Vec<Process>, Vec<String>, Vec<Lack>) {
    let directory = tempfile::tempdir().expect("there is room");
    let output = Command::new("bash")
        .args(["-c", &format!("{before}; exec env LD_PRELOAD=\"$1\" \"$2\" \"$3\"")])
        .arg("bash")
        .args([library(), program("locks")])
        .arg(scenario)
        .env("KILOCORE_MEASURE_DIR", directory.path())
        .output()
        .expect("it runs");
    let processes = read_directory(directory.path(), None).expect("it can be read");
    let marks = files(directory.path(), "lost")
        .map(|path| std::fs::read_to_string(path).expect("it can be read"))
        .collect();
    let lacks = files(directory.path(), RECORDING_EXTENSION)
        .filter_map(|path| Recording::open(&path).expect("it can be read")?.lack())
        .collect();
    (output, processes, marks, lacks)
}

fn files(directory: &Path, ending: &str) -> impl Iterator<Item = PathBuf> {
    let files = std::fs::read_dir(directory).expect("it can be read");
    files
        .map(|entry| entry.expect("an entry").path())
        .filter(move |path| path.extension().is_some_and(|extension| extension == ending))
}

fn is_undisturbed(output: &Output) -> bool {
    output.status.success() && output.stdout.is_empty() && output.stderr.is_empty()
}

#[test]
fn no_room_at_all_is_told() {
    let (output, processes, marks, lacks) = after("ulimit -f 1", "count");
    assert!(is_undisturbed(&output), "{output:?}");
    assert_eq!((processes.len(), &marks[..]), (0, &["no-room\n".to_owned()][..]));
    assert!(lacks.is_empty());
}

#[test]
fn too_little_room_is_told_and_what_fits_is_kept() {
    let (output, processes, marks, lacks) = after("ulimit -f 1024", "never_destroyed");
    assert!(is_undisturbed(&output), "{output:?}");
    assert_eq!((marks.len(), &lacks[..]), (0, &[Lack::Room][..]));
    assert!(processes[0].locks.len() > 100 && processes[0].locks_not_recorded > 0);
}

#[test]
fn little_address_space_suffices() {
    let (output, processes, marks, lacks) = after("ulimit -v 200000", "count");
    assert!(is_undisturbed(&output), "{output:?}");
    assert!(marks.is_empty() && lacks.is_empty(), "{marks:?} {lacks:?}");
    assert_eq!(processes[0].locks[0].acquisitions, 40_000);
}

#[test]
fn a_process_that_limits_its_address_space_itself_has_it_all() {
    // This is more than the recording would leave of the address space.
    let (output, processes, marks, lacks) = after("true", "limited");
    assert!(is_undisturbed(&output), "{output:?}");
    assert!(marks.is_empty() && lacks.is_empty(), "{marks:?} {lacks:?}");
    assert_eq!(processes[0].locks[0].acquisitions, 20);
}
