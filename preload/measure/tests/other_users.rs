//! Programs that run as root, and other users who would like to damage them.

use crate::common;

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use common::{library, program};
use kilocore_lock_profile::Profile;

/// The user `nobody`.
const OTHER: u32 = 65534;

/// Whether the test can have another user. If not, it says that it does nothing.
fn has_other_user() -> bool {
    // SAFETY: the function has no arguments.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        eprintln!("skipped: only root can be another user");
    }
    is_root
}

/// Returns the profile of a program of `tests/c`, as root.
fn profile_of(name: &str, way: &str) -> Profile {
    // The path has to be reachable for the other user.
    let folder = tempfile::tempdir_in("/tmp").expect("there is room");
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    let copy = folder.path().join(name);
    kilocore_shipped::copy_to_run(program(name).as_ref(), &copy);
    let library = folder.path().join("libkilocore_measure.so");
    kilocore_shipped::copy_to_run(common::library().as_ref(), &library);
    common::profile_by(&library, &[copy.to_str().expect("a plain path"), way], false)
}

#[test]
fn another_user_can_neither_find_nor_shorten_nor_remove_a_recording() {
    if !has_other_user() {
        return;
    }
    let profile = profile_of("attacked", "truncated");
    assert_eq!(profile.runs[0].exit_status, 0);
    let process = &profile.runs[0].processes[0];
    let taken: u64 = process.locks.iter().map(|lock| lock.acquisitions).sum();
    // Two rounds of four threads, and the locks that are new in the end.
    assert_eq!(taken, 2 * 4 * 300 * (64 + 64 + 1) + 64, "all of it is recorded");
}

#[test]
fn what_a_recording_says_leads_nowhere_else() {
    let folder = tempfile::tempdir().expect("there is room");
    let output = Command::new(program("attacked"))
        .arg("forged")
        .env("LD_PRELOAD", library())
        .env("KILOCORE_MEASURE_DIR", folder.path())
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // Whatever is in it now, it can be read.
    let _ = kilocore_lock_profile::read_directory(folder.path(), None);
}

#[test]
fn a_service_that_gives_up_its_rights_before_its_first_lock_is_recorded() {
    if !has_other_user() {
        return;
    }
    for way in ["drop", "lock-drop", "close-drop", "drop-fork", "fork-drop", "drop-exec"] {
        let profile = profile_of("dropped", way);
        assert_eq!(profile.runs[0].exit_status, 0, "{way}");
        let processes = &profile.runs[0].processes;
        let locks = processes.iter().flat_map(|process| &process.locks);
        let taken: Vec<u64> = locks.map(|lock| lock.acquisitions).filter(|n| *n > 1).collect();
        assert_eq!((taken.len(), taken.iter().sum()), (3000, 30_000u64), "{way}");
        assert_eq!(processes.iter().map(|p| p.locks_not_recorded).sum::<u64>(), 0, "{way}");
    }
}

/// Runs a program as `user` that takes locks, with this folder for its recordings.
fn record_into(folder: &Path, user: u32) {
    use std::os::unix::process::CommandExt;
    let copy = folder.parent().expect("a folder is in a folder").join("dropped");
    kilocore_shipped::copy_to_run(program("dropped").as_ref(), &copy);
    let output = Command::new(&copy)
        .arg("take")
        .env("LD_PRELOAD", library())
        .env("KILOCORE_MEASURE_DIR", folder)
        .uid(user)
        .output()
        .expect("it runs");
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn nothing_is_recorded_into_a_folder_that_others_may_change() {
    if !has_other_user() {
        return;
    }
    let parent = tempfile::tempdir_in("/tmp").expect("there is room");
    std::fs::set_permissions(parent.path(), PermissionsExt::from_mode(0o755)).expect("it is ours");
    let folder = |name: &str, owner: u32, mode: u32| {
        let folder = parent.path().join(name);
        std::fs::create_dir(&folder).expect("there is room");
        chown(&folder, Some(owner), Some(owner)).expect("this is root");
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(mode)).expect("it is ours");
        folder
    };
    let count = |folder: &Path| std::fs::read_dir(folder).expect("a folder").count();
    for (name, owner, mode) in [
        ("of another user", OTHER, 0o700),
        ("for all", 0, 0o777),
        ("for all, sticky", 0, 0o1733),
        ("for a group", 0, 0o770),
    ] {
        let folder = folder(name, owner, mode);
        record_into(&folder, 0);
        assert_eq!(count(&folder), 0, "a folder {name}");
    }
    let own = folder("of root", 0, 0o700);
    std::os::unix::fs::symlink(&own, parent.path().join("link")).expect("there is room");
    record_into(&parent.path().join("link"), 0);
    assert_eq!(count(&own), 0, "a link");
    record_into(&own, 0);
    let files: Vec<_> = std::fs::read_dir(&own)
        .expect("a folder")
        .map(|entry| entry.expect("one").path())
        .collect();
    assert_eq!(files.len(), 1);
    let file = files[0].metadata().expect("it is there");
    assert_eq!((file.uid(), file.mode() & 0o7777), (0, 0o600));
}
