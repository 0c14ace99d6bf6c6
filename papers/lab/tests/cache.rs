//! Points that are kept on disk: every experiment answers the same with and without them, and computes nothing twice.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::common;

/// Each experiment, small.
const EXPERIMENTS: [&str; 9] = [
    "lock --lock mcs,ticket --cores 1,4 --acquisitions 400",
    "lock --rwlock central-rw,bravo-central --cores 1,4 --acquisitions 400",
    "ldu --workload lmbench-fork --scheme stock,ldu-global --cores 1,2",
    "kernel --cores 1,2",
    "lru --cores 1,2 --variant stock,finer --factor 2",
    "numa --size small --program radix --copying never,fixed,optimum --initial-delay 100",
    "pages --cores 1,2",
    "sched --workload mmapbench --scheduler fair,best-static --kernel-lock spin,mutex --cores 1,2 --windows 5",
    "sched --experiment cache --mix heavy --scheduler fair,optimum --seconds 1 --orders 2",
];

fn answer(words: &[&str], home: Option<&Path>) -> Vec<u8> {
    let mut command = common::command();
    if let Some(home) = home {
        command.env_remove("KILOCORE_NO_CACHE").env("XDG_CACHE_HOME", home);
    }
    let output = command.args(words).arg("--json").output().expect("it runs");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The files that are kept, by name, and by which numbers the system knows them.
fn kept(home: &Path) -> Vec<(PathBuf, u64)> {
    let Ok(folder) = fs::read_dir(home.join("kilocore/points")) else { return Vec::new() };
    let file = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.expect("a file").path();
        let number = fs::metadata(&path).expect("it is there").ino();
        (path, number)
    };
    let mut files: Vec<(PathBuf, u64)> = folder.map(file).collect();
    files.sort();
    files
}

#[test]
fn cold_warm_and_without_are_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("its path");
    for experiment in EXPERIMENTS {
        let words: Vec<&str> = experiment.split(' ').collect();
        let before = kept(&home);
        let without = answer(&[&["--no-cache"], &words[..]].concat(), Some(&home));
        assert_eq!(kept(&home), before, "{experiment}: nothing is kept");
        assert!(answer(&words, Some(&home)) == without, "{experiment}");
        let written = kept(&home);
        assert!(written.len() > before.len(), "{experiment}: points are kept");
        // A point that was not found again would be written again.
        assert!(answer(&words, Some(&home)) == without, "{experiment}");
        assert_eq!(kept(&home), written, "{experiment}: all was known");
        assert!(answer(&words, None) == without, "{experiment}");
    }
}

#[test]
fn more_of_an_experiment_computes_only_what_is_new() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().canonicalize().expect("its path");
    let words = |cores| ["lock", "--lock", "mcs", "--cores", cores, "--acquisitions", "400"];
    answer(&words("1,2"), Some(&home));
    let some = kept(&home);
    answer(&words("2"), Some(&home));
    assert_eq!(kept(&home), some);
    answer(&words("1,2,4"), Some(&home));
    assert_eq!(kept(&home).len(), some.len() + 1);
}
