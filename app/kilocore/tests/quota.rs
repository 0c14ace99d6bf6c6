//! A program whose control group limits its use of the cores, as a container's does.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::measured::compiled;

/// A control group with a limit. It goes when this is dropped.
struct Group {
    folder: PathBuf,
    name: String,
}

/// A tenth of a core, in microseconds of a period of 100 ms.
const TENTH: &str = "10000";
/// A whole core.
const ONE: &str = "100000";
/// All that there is.
const NONE: &str = "max";

impl Group {
    /// A group that allows so many microseconds of each 100 ms. Returns nothing, and says why, if this test may
    /// not make one.
    fn new(quota: &str) -> Option<Self> {
        // Tests run at the same time.
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("kilocore-test-{}-{number}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/cpu").join(&name);
        let second = Path::new("/sys/fs/cgroup").join(&name);
        let of_first = if quota == NONE { "-1" } else { quota };
        for (folder, files) in [
            (first, &[("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", of_first)][..]),
            (second, &[("cpu.max", &*format!("{quota} 100000"))]),
        ] {
            let group = Self { folder, name: format!("/{name}") };
            // The kernel makes a group's files. Where it does not, this is a folder like any other.
            let set = |(file, limit): &(&str, &str)| {
                let file = OpenOptions::new().write(true).open(group.folder.join(file));
                file.and_then(|mut file| file.write_all(limit.as_bytes())).is_ok()
            };
            let is_made = fs::create_dir(&group.folder).is_ok() && files.iter().all(set);
            if is_made {
                // What else runs here should not decide what a program shows, as far as that can be had.
                let _ = set(&("cpu.shares", "262144")) || set(&("cpu.weight", "10000"));
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
    let Some(group) = Group::new(TENTH) else { return };
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
    assert_eq!(limit["group"], group.name.as_str(), "{limit}");
    assert!(limit["throttled_ns"].as_f64() > Some(1e8), "{limit}");
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
    let Some(group) = Group::new(TENTH) else { return };
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

/// Two threads that share so many pieces of work, each of them a part of a millisecond, and take a lock so seldom that it
/// does not matter. They can use two cores.
const SCALES: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static long pieces;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long next;
static volatile double sink;
static void *work(void *nothing) {
    for (;;) {
        pthread_mutex_lock(&lock);
        long mine = next++;
        pthread_mutex_unlock(&lock);
        if (mine >= pieces) return nothing;
        double sum = 0;
        for (int i = 0; i < 200000; i++) sum += i;
        sink = sum;
    }
}
int main(int count, char **words) {
    pthread_t threads[2];
    pieces = atol(words[count - 1]);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

/// What the doctor answers of a program with so many pieces of work, and the profile that it keeps.
fn doctor(program: &Path, pieces: u32, keep: &Path, group: &Group) -> (Value, Value) {
    let kilocore = kilocore_shipped::folder().join("kilocore");
    let [kilocore, keep, program] =
        [&kilocore, keep, program].map(|path| path.to_str().expect("text"));
    let machine = ["--machine", "opteron-6344-4s", "--cores", "1,6", "--lock", "futex"];
    let pieces = pieces.to_string();
    let command = ["--", program, &pieces];
    let words = [&[kilocore, "doctor", "--json", "--keep", keep][..], &machine, &command];
    let output = group.command(&words.concat()).output().expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let document = |bytes: &[u8]| serde_json::from_slice(bytes).expect("a document");
    (document(&output.stdout), document(&fs::read(keep).expect("it is kept")))
}

#[test]
fn a_quota_is_not_taken_for_a_program_that_does_not_scale() {
    if kilocore_process::allowed_cores().len() < 2 {
        eprintln!("skipped: a program needs two cores to show that it uses them");
        return;
    }
    let Some(group) = Group::new(ONE) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let program = compiled(&folder, "scales", SCALES, &[]);
    let keep = folder.path().join("profile.json");
    let (answer, profile) = doctor(&program, 4_000, &keep, &group);
    let advice = &answer["recommendation"];
    let verdict = advice["verdict"].as_str().expect("a word");
    for of_locks_or_cores in ["limited-by-locks", "limited-by-kernel-locks", "cores-unused"] {
        assert_ne!(verdict, of_locks_or_cores, "{advice}");
    }
    assert_eq!(answer["measured"]["why_not"], "quota", "{}", answer["measured"]);
    assert_eq!(answer["measured"]["points"], Value::Array(Vec::new()), "{}", answer["measured"]);
    assert!(!advice.to_string().contains("on 2 cores it does"), "{advice}");
    let run = &profile["runs"][0];
    let limit = &run["limit"];
    assert_eq!((&limit["cores"], &limit["group"]), (&1.0.into(), &group.name.as_str().into()));
    let [held_up, wall] = [&limit["throttled_ns"], &run["wall_ns"]].map(|time| time.as_f64());
    let all = wall.expect("a time") * run["cores"].as_f64().expect("a number");
    // Others may have had so much of the cores that the quota was not used up.
    if held_up.expect("this kernel tells") > 0.03 * all {
        let said = format!("a quota of 1 core (cgroup {}) held the program back for", group.name);
        assert_eq!(verdict, "unknown", "{advice}");
        assert!(advice["headline"].as_str().is_some_and(|text| text.contains(&said)), "{advice}");
    } else {
        assert!(run["interference"]["load"].as_f64() > Some(1.0), "{run}");
    }
    // The same program without it gets what it always gets: that it scales, unless the host is too busy to tell.
    let free = Group::new(NONE).expect("there was another one");
    // A short run on a busy host may end before its threads were seen often enough. Then that is the answer, and a longer
    // run is asked for.
    let (answer, profile) = [4_000, 20_000, 100_000]
        .into_iter()
        .map(|pieces| doctor(&program, pieces, &keep, &free))
        .find(|(answer, _)| {
            let headline = answer["recommendation"]["headline"].as_str().expect("text");
            !headline.contains("not watched from outside, or too shortly")
        })
        .expect("seconds are long enough");
    if !profile["runs"][0]["limit"].is_null() {
        eprintln!("skipped: this process has a limit of its own");
        return;
    }
    let advice = &answer["recommendation"];
    assert!(!advice.to_string().contains("quota"), "{advice}");
    assert_ne!(answer["measured"]["why_not"], "quota", "{}", answer["measured"]);
    let is_busy = advice["headline"].as_str().expect("text").contains("the host was busy (load ");
    assert!(is_busy || advice["verdict"] == "not-by-locks", "{advice}");
}
