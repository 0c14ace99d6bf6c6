//! Programs that are compiled, run and recorded here.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::Value;
use tempfile::TempDir;

use super::planted::{KINDS, assert_adds_up, assert_first, assert_found, marked};

/// The program with planted bottlenecks.
fn compiled(folder: &TempDir) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/locate/planted.c");
    let program = folder.path().join("planted");
    let status = Command::new("gcc")
        .args(["-O1", "-g", "-fno-omit-frame-pointer", "-pthread", "-o"])
        .args([&program, &source])
        .status()
        .expect("gcc is there");
    assert!(status.success());
    program.display().to_string()
}

/// Whether a sampler can be used here on two cores: `perf_event_open` is up to whoever runs the
/// machine. Says if not.
fn can_sample(sampler: &str) -> bool {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let sampler = format!("--sampler={sampler}");
    let output = record(&folder, "probe", &["--cores=1,2", "--runs=1", &sampler], &["true"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let refused =
        ["perf_event_open", "perf_event_paranoid", "may be used here", "no perf on the PATH"];
    let can = !refused.iter().any(|part| said.contains(part));
    if !can {
        eprintln!("not tested, as nothing can be sampled here: {said}");
    }
    can
}

fn record(folder: &TempDir, name: &str, options: &[&str], command: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["locate", "--folder"])
        .arg(folder.path().join(name))
        .args(options)
        .arg("--")
        .args(command)
        .output()
        .expect("kilocore runs")
}

fn answer(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// How many units of a kind take some tenths of a second.
fn units(kind: &str) -> u64 {
    if kind == "syscall" { 16_000 } else { 40_000 }
}

/// What `locate record` answers on one of the kinds, on one core and on two.
fn answer_on(folder: &TempDir, program: &str, kind: &str, sampler: &str, runs: u64) -> Value {
    let name = format!("{kind}-{sampler}");
    let (sampler, runs) = (format!("--sampler={sampler}"), format!("--runs={runs}"));
    let options = ["--json", "--cores=1,2", &runs, r"--work=units done: (\d+)", &sampler];
    let units = units(kind).to_string();
    answer(&record(folder, &name, &options, &[program, kind, "{cores}", &units]))
}

/// For each sampler, kinds whose planted function grows with the threads by itself and not by how
/// busy the host is. Each has one that the other is not tried with.
const EVERYWHERE: [(&str, [&str; 2]); 2] =
    [("perf", ["scan", "copy"]), ("own", ["scan", "syscall"])];

/// Whether it is above noise is up to how noisy the host is just then; it is first by far.
#[test]
fn planted_functions_are_first_by_both_samplers() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let program = compiled(&folder);
    for (sampler, kinds) in EVERYWHERE {
        for kind in kinds.into_iter().filter(|_| can_sample(sampler)) {
            let answer = answer_on(&folder, &program, kind, sampler, 2);
            assert_first(&answer, kind, sampler);
            assert_eq!(answer["base"]["work"], (2 * units(kind)).to_string());
            assert_eq!(answer["run_noise"]["source"], "measured");
        }
    }
}

/// Held by what needs both cores for itself.
static BOTH_CORES: Mutex<()> = Mutex::new(());

#[test]
#[ignore = "needs two quiet cores"]
fn planted_functions_are_above_noise_by_both_samplers() {
    let _alone = BOTH_CORES.lock();
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let program = compiled(&folder);
    for sampler in ["perf", "own"].into_iter().filter(|sampler| can_sample(sampler)) {
        for kind in KINDS {
            let answer = answer_on(&folder, &program, kind, sampler, 5);
            assert_found(&answer, kind, sampler);
        }
    }
}

/// The same program on the same cores, twice three times: every other run is one side, so that
/// whatever else the host does falls on both.
fn the_same_twice(program: &str) -> Value {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let options = ["--json", "--cores=1,2", "--runs=6"];
    answer(&record(&folder, "runs", &options, &[program, "none", "{cores}", "30000"]));
    let one = folder.path().join("runs/cores-2");
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("a folder of the test's own");
    for run in [2, 4, 6] {
        for ending in ["", ".kilocore.json"] {
            let name = format!("run-{run}.perf.data{ending}");
            std::fs::rename(one.join(&name), other.join(&name)).expect("it was recorded");
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["compare", "--json"])
        .args([one, other])
        .output()
        .expect("kilocore runs");
    answer(&output)
}

#[test]
fn two_recordings_of_the_same_are_compared() {
    if !can_sample("auto") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let answer = the_same_twice(&compiled(&folder));
    assert_adds_up(&answer);
    assert_eq!(answer["run_noise"]["source"], "measured");
    assert_eq!((&answer["base"]["cores"], &answer["scaled"]["cores"]), (&2.into(), &2.into()));
}

/// Each of three lists may have a mark by chance once in twenty times, so some of many may; more
/// than four of thirty is not by chance.
#[test]
#[ignore = "takes minutes"]
fn recordings_of_the_same_seldom_differ_by_more_than_noise() {
    let _alone = BOTH_CORES.lock();
    if !can_sample("auto") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let program = compiled(&folder);
    let answers: Vec<Value> = (0..30).map(|_| the_same_twice(&program)).collect();
    let wrong: Vec<Vec<&Value>> =
        answers.iter().map(marked).filter(|marks| !marks.is_empty()).collect();
    println!("{} of {} have marks", wrong.len(), answers.len());
    assert!(wrong.len() <= 4, "{wrong:#?}");
}

/// A program that fails ends it, with the program's status.
#[test]
fn a_program_that_fails_is_not_compared() {
    if !can_sample("auto") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let output = record(&folder, "fails", &["--cores=1,2"], &["sh", "-c", "exit 3"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(output.stdout.is_empty());
    let uncounted =
        record(&folder, "uncounted", &["--cores=1,2", "--work=nothing"], &["echo", "a"]);
    let said = String::from_utf8_lossy(&uncounted.stderr);
    assert_eq!(uncounted.status.code(), Some(2), "{said}");
    assert!(said.contains("nothing") && said.contains("its last lines"), "{said}");
    // The same folder may be named again.
    let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo a";
    let options = ["--cores=1,2", "--work=a", "--runs=1"];
    let again = record(&folder, "uncounted", &options, &["sh", "-c", busy]);
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
}
