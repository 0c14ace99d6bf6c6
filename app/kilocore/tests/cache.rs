//! Simulations that are kept on disk: the answer is the same with and without them, whatever is wrong with the disk.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::common::file;

/// A fit that takes a second.
const MEASURED: &[u8] =
    b"lock,cores,throughput\npthread,1,2.9\npthread,4,2.1\nmcs,4,3.1\nticket,4,2.8\n";
/// A profile of a real program, as `kilocore record locks` wrote it.
const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/profiles/kyotocabinet.json");

/// A folder for what is kept, by its path without links.
fn home() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().canonicalize().expect("its path");
    (folder, path)
}

/// The machine of these tests.
const MACHINE: &str = "core-i7-6700";

fn start(subject: &str, home: &Path, options: &[&str]) -> Child {
    start_on(subject, home, MACHINE, options)
}

fn start_on(subject: &str, home: &Path, machine: &str, options: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["forecast", subject, "--machine", machine, "--json", "--cores", "1,4"])
        .args(["--lock", "mcs,cna"])
        .args(options)
        .env("XDG_CACHE_HOME", home)
        .env_remove("KILOCORE_NO_CACHE")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kilocore starts")
}

/// What a forecast that goes well prints.
fn answer(started: Child) -> Vec<u8> {
    let output = started.wait_with_output().expect("it ends");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    // How far it is may be said on a busy host, and nothing else.
    let is_progress = |line: &str| {
        let said = ["weighing workloads", "forecasting", "simulating"];
        line.strip_prefix("kilocore: ")
            .is_some_and(|line| said.iter().any(|said| line.starts_with(said)))
    };
    assert!(message.lines().all(is_progress), "{message}");
    output.stdout
}

fn forecast(subject: &str, home: &Path) -> Vec<u8> {
    answer(start(subject, home, &[]))
}

/// The files that are kept, by name.
fn kept(home: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(home.join("kilocore/points")).expect("a folder");
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    assert!(!files.is_empty(), "something is kept");
    files
}

/// By which number the system knows a file. Another one in its place has another number.
fn inode(file: &PathBuf) -> u64 {
    fs::metadata(file).expect("it is there").ino()
}

fn forecast_on(subject: &str, home: &Path, machine: &str) -> Vec<u8> {
    answer(start_on(subject, home, machine, &[]))
}

/// The file of a machine that is like the one of these tests, and of the same name, but takes less time for a line.
fn nearer_machine() -> String {
    let listed = Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["list", "machines", MACHINE])
        .output()
        .expect("kilocore runs");
    let text = String::from_utf8(listed.stdout).expect("text");
    let nearer = text.replace("same_group_ns.value = 21.0", "same_group_ns.value = 9.0");
    assert_ne!(text, nearer);
    file("cache-nearer.toml", nearer.as_bytes()).to_str().expect("a plain path").to_owned()
}

fn measured(name: &str) -> String {
    file(name, MEASURED).to_str().expect("a plain path").to_owned()
}

#[test]
fn cold_warm_and_without_are_the_same_bytes() {
    for subject in [measured("cache-fit.csv").as_str(), PROFILE] {
        let (_held, home) = home();
        let without = answer(start(subject, &home, &["--no-cache"]));
        assert!(!home.join("kilocore").exists(), "nothing is kept");
        let cold = forecast(subject, &home);
        let written = kept(&home);
        let inodes: Vec<u64> = written.iter().map(inode).collect();
        let warm = forecast(subject, &home);
        assert!(cold == without && warm == without, "{subject}");
        // All was known, so that nothing was written: they are the same files.
        assert_eq!(kept(&home), written);
        assert_eq!(written.iter().map(inode).collect::<Vec<_>>(), inodes);
        // Another machine has points of its own, also if it has the same name.
        let before = written.len();
        assert_ne!(forecast_on(subject, &home, &nearer_machine()), without, "{subject}");
        assert!(kept(&home).len() > before);
        // Another seed is another answer.
        assert_ne!(answer(start(subject, &home, &["--seed", "2"])), without, "{subject}");
    }
}

#[test]
fn what_is_damaged_is_simulated_and_written_again() {
    let (_held, home) = home();
    let subject = measured("cache-damaged.csv");
    let answered = forecast(&subject, &home);
    let cut = |whole: &[u8]| whole[..whole.len() / 3].to_vec();
    let changed = |whole: &[u8]| {
        let mut changed = whole.to_vec();
        changed[whole.len() / 2] ^= 0x40;
        changed
    };
    let emptied = |_: &[u8]| Vec::new();
    for damage in [&cut as &dyn Fn(&[u8]) -> Vec<u8>, &emptied, &changed] {
        let damaged: Vec<(PathBuf, Vec<u8>)> = kept(&home)
            .into_iter()
            .map(|file| {
                let bytes = damage(&fs::read(&file).expect("it is kept"));
                fs::write(&file, &bytes).expect("it is ours");
                (file, bytes)
            })
            .collect();
        assert!(forecast(&subject, &home) == answered);
        for (file, bytes) in damaged {
            assert!(fs::read(&file).map_or(true, |now| now != bytes), "{}", file.display());
        }
        // All is known again.
        let whole = kept(&home);
        assert!(forecast(&subject, &home) == answered);
        assert_eq!(kept(&home), whole);
    }
}

#[test]
fn where_nothing_can_be_kept_the_answer_is_the_same() {
    let (_held, home) = home();
    let subject = measured("cache-nowhere.csv");
    let answered = answer(start(&subject, &home, &["--no-cache"]));
    fs::write(home.join("file"), "no folder").expect("it is ours");
    fs::create_dir_all(home.join("elsewhere")).expect("it is ours");
    fs::create_dir_all(home.join("linked")).expect("it is ours");
    symlink(home.join("elsewhere"), home.join("linked/kilocore")).expect("it is ours");
    // No folder, one in which nothing can be made, even by root, and one that is a link.
    for nowhere in [&home.join("file"), Path::new("/proc/self"), &home.join("linked")] {
        assert!(forecast(&subject, nowhere) == answered, "{}", nowhere.display());
    }
    assert_eq!(fs::read_dir(home.join("elsewhere")).expect("a folder").count(), 0);
}

#[test]
fn several_at_once_give_the_same_answer_and_leave_whole_files() {
    let (_held, home) = home();
    let subject = measured("cache-at-once.csv");
    let started: Vec<Child> = (0..3).map(|_| start(&subject, &home, &[])).collect();
    let answers: Vec<Vec<u8>> = started.into_iter().map(answer).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let before = kept(&home);
    assert!(forecast(&subject, &home) == answers[0]);
    assert_eq!(kept(&home), before, "all was known");
}

#[test]
fn what_is_kept_is_told_of_and_removed() {
    let (_held, home) = home();
    let asked = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
        command.args(words).env("XDG_CACHE_HOME", &home).env_remove("KILOCORE_NO_CACHE");
        let output = command.output().expect("kilocore runs");
        (output.status.code(), String::from_utf8(output.stdout).expect("it is text"))
    };
    let shown = || {
        let (status, printed) = asked(&["cache", "show", "--json"]);
        assert_eq!(status, Some(0));
        let document: serde_json::Value = serde_json::from_str(&printed).expect("a document");
        assert_eq!(document["kept"][0]["kind"], "points");
        (document["kept"][0]["bytes"].as_u64(), document["kept"][2]["bytes"].as_u64())
    };
    // Looking makes nothing.
    assert_eq!(shown(), (Some(0), Some(0)));
    assert!(!home.join("kilocore").exists());
    assert!(start(PROFILE, &home, &[]).wait_with_output().expect("it ends").status.success());
    let old = home.join("kilocore/simulations");
    fs::create_dir(&old).expect("a folder");
    fs::write(old.join("of-a-former-version"), [0; 1000]).expect("a file");
    let (points, simulations) = shown();
    assert!(points > Some(100) && simulations == Some(1000), "{points:?}");
    let (_, said) = asked(&["cache", "show"]);
    assert!(said.contains("points: ") && said.contains("simulations: "), "{said}");
    assert_eq!(asked(&["cache", "clear"]).0, Some(0));
    assert_eq!(shown(), (Some(0), Some(0)));
    // A folder that somebody else could have written is not touched.
    fs::remove_dir_all(&old).expect("a folder");
    symlink("/tmp", &old).expect("a link");
    assert_eq!(asked(&["cache", "clear"]).0, Some(2));
}
