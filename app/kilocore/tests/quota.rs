//! A program whose control group limits its use of the cores, as a container's does.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

/// A control group that allows a tenth of a core. It goes when this is dropped.
struct Group {
    folder: PathBuf,
}

impl Group {
    /// Returns nothing, and says why, if this test may not make one.
    fn new() -> Option<Self> {
        // Tests run at the same time.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("kilocore-test-{}-{number}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let second = Path::new("/sys/fs/cgroup").join(&name);
        for (folder, files) in [
            (first, &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")][..]),
            (second, &[("cpu.max", "10000 100000")]),
        ] {
            let group = Self { folder };
            // The kernel makes a group's files. Where it does not, this is a folder like any other.
            let set = |(file, limit): &(&str, &str)| {
                let file = OpenOptions::new().write(true).open(group.folder.join(file));
                file.and_then(|mut file| file.write_all(limit.as_bytes())).is_ok()
            };
            let is_made = fs::create_dir(&group.folder).is_ok() && files.iter().all(set);
            if is_made {
                return Some(group);
            }
        }
        eprintln!("skipped: no control group can be made here that limits the use of the cores");
        None
    }

    /// A command that begins in it.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]);
        command.arg(self.folder.join("cgroup.procs")).args(words);
        command.env("KILOCORE_LIBRARY_DIR", kilocore_shipped::folder());
        command
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Two threads that compute for as long as the group's limit shows.
const BUSY: &str = "import threading, time
end = time.monotonic() + 2
def work():
    while time.monotonic() < end: pass
threads = [threading.Thread(target=work) for _ in range(2)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]";

#[test]
fn a_limit_is_seen_and_said_and_no_verdict_comes_of_it() {
    let Some(group) = Group::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let profile = folder.path().join("profile.json");
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let (kilocore, file) = (kilocore.to_str().expect("text"), profile.to_str().expect("text"));
    let words = [kilocore, "record", "locks", "--output", file, "--", "python3", "-c", BUSY];
    let output = group.command(&words).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let document: Value =
        serde_json::from_slice(&fs::read(&profile).expect("it is written")).unwrap();
    let limit = &document["runs"][0]["limit"];
    assert_eq!(limit["cores"], 0.1, "{limit}");
    let (periods, throttled) = (&limit["periods"], &limit["throttled"]);
    assert!(throttled.as_u64() > Some(1) && throttled.as_u64() <= periods.as_u64(), "{limit}");
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("allowed it the time of 0.10 cores, and held it up in"), "{said}");
    let predict = Command::new(kilocore)
        .args(["forecast", file, "--machine", "opteron-6344-4s", "--cores", "1,6", "--json"])
        .output()
        .expect("it runs");
    let answer: Value = serde_json::from_slice(&predict.stdout).expect("a document");
    assert_eq!(answer["recommendation"]["verdict"], "unknown", "{answer}");
}

/// What a command says that begins in the group, its words one blank apart.
fn said_in(group: &Group, words: &[&str]) -> String {
    let output = group.command(words).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let said = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn figures_that_are_those_of_a_limit_say_so() {
    let Some(group) = Group::new() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let kilocore = kilocore.to_str().expect("text");
    let warning = "the control group allows the time of 0.10 cores, where ";
    let bench = [kilocore, "bench", "getppid", "--cores=1", "--seconds=0.5", "--repeats=1"];
    let said = said_in(&group, &bench);
    assert!(said.contains(warning) && said.contains("held the tasks up in"), "{said}");
    let out = folder.path().join("profiles");
    let out = out.to_str().expect("text");
    let record = [kilocore, "locate", "--runs=1", "--call-graph=none", "--folder", out];
    let record = [&record[..], &["--", "python3", "-c", BUSY]].concat();
    let said = said_in(&group, &record);
    assert!(said.contains(warning) && said.contains("held it up in"), "{said}");
    let steered =
        [kilocore, "steer", "--dry-run", "--metrics", "proc", "--", "python3", "-c", BUSY];
    let said = said_in(&group, &steered);
    assert!(said.contains(warning) && said.contains("held it up in"), "{said}");
}
