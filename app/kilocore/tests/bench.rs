//! `kilocore bench` from outside: what it measures, what it refuses, and what it writes.

mod common;

use std::path::Path;
use std::process::{Command, Output};

use common::{file, kilocore, refused};
use serde_json::Value;

/// The JSON that a successful command prints.
#[track_caller]
fn document(output: &Output) -> Value {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {message}", output.status);
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

/// Samples so short that only their being there counts.
const SHORT: [&str; 7] = ["--quick", "--repeats", "3", "--seconds", "0.01", SMALL_FILE, "--json"];
/// In place of half a gigabyte.
const SMALL_FILE: &str = "--file-bytes=8000000";

fn short(words: &[&str]) -> Output {
    kilocore(&[&["bench"], words, &SHORT].concat())
}

/// The outcome of a benchmark.
#[track_caller]
fn outcome<'a>(document: &'a Value, name: &str) -> &'a Value {
    let outcomes = document["benchmarks"].as_array().expect("outcomes");
    outcomes.iter().find(|outcome| outcome["name"] == name).expect("an outcome of that name")
}

fn has_run(outcome: &Value) -> bool {
    let points = outcome["points"].as_array().expect("points");
    points.iter().any(|point| point["samples"].as_array().is_some_and(|all| !all.is_empty()))
}

/// Asserts that a benchmark was refused for this reason, with a message that has this part.
#[track_caller]
fn refused_as(document: &Value, name: &str, reason: &str, part: &str) {
    let refused = &outcome(document, name)["refused"];
    assert_eq!(refused["reason"], reason, "{name}: {refused}");
    let message = refused["message"].as_str().expect("a message");
    assert!(message.contains(part), "{name}: no '{part}' in: {message}");
}

#[test]
fn every_benchmark_runs_or_says_why_not_and_leaves_nothing() {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let listed = document(&kilocore(&["list", "benchmarks", "--json"]));
    let listed = listed["benchmarks"].as_array().unwrap().clone();
    assert!(listed.len() >= 20);
    for kind in ["processes", "threads"] {
        let scratch_folder = scratch.path().to_str().unwrap();
        let mut words = vec!["bench", "all", "--as", kind, "--scratch", scratch_folder];
        words.extend(["--quick", "--repeats", "1", "--seconds", "0.005", SMALL_FILE, "--json"]);
        let measured = document(&kilocore(&words));
        for entry in &listed {
            let name = entry["name"].as_str().unwrap();
            let outcome = outcome(&measured, name);
            let possible = entry["kinds"].as_array().unwrap().contains(&kind.into());
            assert!(!possible || outcome["refused"]["reason"] != "kind", "{name}");
            let says_why = outcome["refused"]["message"].is_string();
            assert!(has_run(outcome) != says_why, "{name}: {outcome}");
        }
        assert!(has_run(outcome(&measured, "getppid")));
        let left: Vec<_> = scratch.path().read_dir().unwrap().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn a_run_has_all_samples_and_says_what_they_are() {
    let measured = document(&short(&["getppid", "dup", "--cores", "1"]));
    assert_eq!(measured["schema"], "kilocore-bench");
    assert_eq!(measured["version"], 1);
    assert_eq!(measured["provenance"], "measured");
    assert!(measured["environment"]["kernel"].as_str().unwrap().starts_with("Linux"));
    assert_eq!(measured["benchmarks"].as_array().unwrap().len(), 2);
    for name in ["getppid", "dup"] {
        let point = &outcome(&measured, name)["points"][0];
        assert_eq!(point["cores"], 1);
        let samples = point["samples"].as_array().unwrap();
        assert_eq!(samples.len(), 3);
        for sample in samples {
            let figure = |of: &str| sample[of].as_f64().unwrap();
            let rate = figure("operations") / figure("seconds");
            assert!((rate / figure("per_s") - 1.0).abs() < 1e-6, "{sample}");
            let (fastest, slowest) = (figure("fastest_batch_ns"), figure("slowest_batch_ns"));
            assert!(slowest >= fastest, "{sample}");
            // With a single batch all three are the same, but for rounding.
            let mean = 1e9 / figure("per_s");
            let rounding = mean * 1e-9;
            assert!(mean >= fastest - rounding && mean <= slowest + rounding, "{sample}");
        }
    }
}

#[test]
fn the_hidden_benchmark_runs_by_name_only() {
    assert!(has_run(outcome(&document(&short(&["empty", "--cores", "1"])), "empty")));
    let listed = kilocore(&["list", "benchmarks"]);
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("empty"));
}

#[test]
fn what_cannot_run_is_refused_and_the_others_run() {
    // Nobody may make folders there, not even root.
    let measured = document(&short(&["open", "getppid", "mmap", "--scratch", "/proc"]));
    refused_as(&measured, "open", "scratch", "/proc");
    assert!(outcome(&measured, "mmap")["refused"].is_object());
    assert!(has_run(outcome(&measured, "getppid")));
    let measured = document(&short(&["brk", "getppid", "--as", "threads"]));
    refused_as(&measured, "brk", "kind", "leave --as away");
    assert!(has_run(outcome(&measured, "getppid")));
    // Nothing at all: the reason is in the table and the status says so.
    let output = kilocore(&["bench", "open", "--quick", "--scratch", "/nonexistent"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("open: refused: cannot make scratch"));
}

/// Runs a short measurement after a shell has set limits.
fn limited(limits: &str, names: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_kilocore");
    let words = format!("{limits}; exec {program} bench {names} {}", SHORT.join(" "));
    Command::new("sh").args(["-c", &words]).output().expect("a shell")
}

#[test]
fn limits_of_the_process_are_refusals() {
    let measured = document(&limited("ulimit -f 1000", "mmap write-sequential getppid"));
    refused_as(&measured, "mmap", "limit", "RLIMIT_FSIZE");
    refused_as(&measured, "write-sequential", "limit", "RLIMIT_FSIZE");
    assert!(has_run(outcome(&measured, "getppid")));
    // Too little address space for the file, which the task sees when it maps it.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let folder = scratch.path().display();
    let words = ["--quick", "--repeats=1", "--seconds=0.01", "--json", "--file-bytes=150000000"];
    let script = format!(
        "ulimit -v 140000; exec {} bench mmap getppid --cores 1 --scratch {folder} {}",
        env!("CARGO_BIN_EXE_kilocore"),
        words.join(" ")
    );
    let measured = document(&Command::new("sh").args(["-c", &script]).output().expect("a shell"));
    assert!(has_run(outcome(&measured, "getppid")));
    if outcome(&measured, "mmap")["refused"]["reason"] == "room" {
        eprintln!("no room for a file larger than the address space, so that was not tested");
        return;
    }
    refused_as(&measured, "mmap", "limit", "mmap");
}

/// Runs shell commands in namespaces of their own; none where that is not allowed.
fn apart(script: &str) -> Option<Output> {
    let unshare = |script: &str| {
        let namespaces = ["--map-root-user", "--mount", "--ipc", "sh", "-c", script];
        Command::new("unshare").args(namespaces).output().ok()
    };
    unshare("true").filter(|output| output.status.success())?;
    unshare(script)
}

#[test]
fn too_little_room_and_no_semaphores_are_refusals() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (program, small) = (env!("CARGO_BIN_EXE_kilocore"), folder.path().display());
    let words = SHORT.join(" ");
    let script = format!(
        "mount -t tmpfs -o size=4m tmpfs {small} && echo '250 32000 32 0' > /proc/sys/kernel/sem && \
         exec {program} bench mmap write-random write-sequential open sem getppid \
         --scratch {small} {words}"
    );
    let Some(output) = apart(&script) else {
        eprintln!("no namespaces here, nothing tested");
        return;
    };
    let measured = document(&output);
    for name in ["mmap", "write-random", "write-sequential"] {
        refused_as(&measured, name, "room", "MiB are free");
    }
    refused_as(&measured, "sem", "limit", "semget");
    assert!(has_run(outcome(&measured, "open")) && has_run(outcome(&measured, "getppid")));
}

#[test]
fn without_a_tmpfs_random_writes_are_refused() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let script = format!(
        "mount --bind {} /dev/shm && exec {} bench write-random getppid {}",
        folder.path().display(),
        env!("CARGO_BIN_EXE_kilocore"),
        SHORT.join(" ")
    );
    let Some(output) = apart(&script) else {
        eprintln!("no namespaces here, nothing tested");
        return;
    };
    let measured = document(&output);
    refused_as(&measured, "write-random", "facility", "tmpfs");
    assert!(has_run(outcome(&measured, "getppid")));
}

#[test]
fn runs_are_saved_shown_compared_and_reported() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let saved = path("saved.json");
    let output = short(&["getppid", "--cores", "1", "--output", &saved]);
    let printed = document(&output);
    assert_eq!(printed, document(&kilocore(&["show", &saved, "--json"])));
    let compared = document(&kilocore(&["compare", &saved, &saved, "--json"]));
    let comparison = &compared["comparisons"][0];
    assert_eq!(comparison["ratio"], 1.0);
    // Three samples on each side cannot settle it, however far apart.
    assert_eq!(comparison["verdict"], "too-few-repeats");
    let against = document(&short(&["getppid", "--cores", "1", "--baseline", &saved]));
    assert_eq!(against["against"]["comparisons"].as_array().unwrap().len(), 1);
    for ending in ["html", "svg", "csv", "json"] {
        let report = path(&format!("report.{ending}"));
        let shown = kilocore(&["show", &saved, "--output", &report]);
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        let text = std::fs::read_to_string(&report).unwrap();
        assert!(text.contains("getppid") && text.contains("measured"), "{ending}");
    }
    let rows = std::fs::read_to_string(path("report.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + 3);
}

#[test]
fn bad_input_is_refused() {
    refused(&["bench", "nothing"], &["unknown benchmark `nothing`", "getppid"]);
    refused(&["bench", "getppid", "--cores", "0"], &["0 cores"]);
    refused(&["bench", "getppid", "--cores", "1024", "--repeats", "1"], &["1024", "may use"]);
    refused(&["bench", "getppid", "--as", "fibers"], &["fibers", "processes or threads"]);
    refused(&["bench", "getppid", "--pin", "chair"], &["chair", "node"]);
    refused(&["bench", "getppid", "--seconds", "0"], &["seconds above 0"]);
    refused(&["bench", "getppid", "--repeats", "0"], &["--repeats"]);
    refused(&["bench", "getppid", "--output", "x.pdf"], &[".pdf", ".html"]);
    refused(&["bench", "getppid", "--output", "/nonexistent/x.json"], &["/nonexistent"]);
    refused(&["show", "/nonexistent.json"], &["/nonexistent.json"]);
    refused(&["bench-helper", "worker", "{}"], &["own use"]);
    let twice = r#"{"benchmark":"sem","seats":[{"index":0,"kind":"processes","cpus":[]}],"tasks":1,
        "control":1,"lifeline":1,"files":[1,1],"folder":null,"numbers":[],"size":0}"#;
    refused(&["bench-helper", "worker", twice], &["own use"]);
}

#[test]
fn a_folder_whose_name_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let odd = folder.path().join(std::ffi::OsStr::from_bytes(b"odd-\xff"));
    std::fs::create_dir(&odd).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_kilocore"));
    let output = command.args(["bench", "open", "--scratch"]).arg(&odd).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty() && said.contains("no UTF-8 text"), "{said}");
}

#[test]
fn what_was_measured_is_shown_even_if_it_cannot_be_saved() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // It can be opened, and has no room.
    let full = folder.path().join("full.json");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let output = short(&["getppid", "--cores", "1", "--output", full.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("full.json"));
    let shown: Value = serde_json::from_slice(&output.stdout).expect("the document");
    assert!(has_run(outcome(&shown, "getppid")));
}

#[test]
fn a_baseline_with_nothing_in_common_is_refused_before_measuring() {
    let saved = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-other.json");
    let saved = saved.to_str().unwrap();
    document(&short(&["getppid", "--cores", "1", "--output", saved]));
    refused(&["bench", "dup", "--cores", "1", "--baseline", saved], &["--baseline", "getppid"]);
    let words = ["bench", "getppid", "--as", "threads", "--cores", "1", "--baseline", saved];
    refused(&words, &["--baseline"]);
}

#[test]
fn text_of_a_saved_run_does_not_steer_the_terminal() {
    let saved = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-plain.json");
    let whole = document(&short(&["getppid", "--cores", "1", "--output", saved.to_str().unwrap()]));
    let mut steering = whole.clone();
    steering["benchmarks"][0]["title"] = "\u{1b}[2Jtitle".into();
    steering["benchmarks"][0]["notes"] = serde_json::json!(["\u{1b}]0;note\u{7}"]);
    steering["environment"]["processor"] = "\u{1b}[31mred".into();
    let path = file("bench-steering.json", steering.to_string().as_bytes());
    let shown = kilocore(&["show", path.to_str().unwrap()]);
    let compared = kilocore(&["compare", saved.to_str().unwrap(), path.to_str().unwrap()]);
    for output in [shown, compared] {
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("\u{fffd}[31mred"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
    let schema = r#"{"schema":"\u001b[2Jx","version":1}"#;
    let path = file("bench-schema.json", schema.as_bytes());
    let output = kilocore(&["show", path.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("\u{fffd}[2Jx") && !said.contains('\u{1b}'), "{said:?}");
}

#[test]
fn files_that_are_too_large_are_not_read() {
    let path = file("bench-large.json", b"{");
    let large = std::fs::File::options().write(true).open(&path).unwrap();
    large.set_len(257 << 20).unwrap();
    refused(&["show", path.to_str().unwrap()], &["256 MiB", "bench-large.json"]);
    large.set_len(0).unwrap();
}

#[test]
fn damaged_files_are_refused_with_the_place() {
    let saved = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-damaged.json");
    let saved = saved.to_str().unwrap();
    let whole = document(&short(&["getppid", "--cores", "1", "--output", saved])).to_string();
    let cases = [
        ("truncated", whole[..whole.len() / 2].to_owned(), "ends in the middle"),
        ("other", r#"{"schema":"x","version":1}"#.to_owned(), "'x'"),
        ("later", whole.replace("\"version\":1", "\"version\":99"), "99"),
        ("no-cores", whole.replace("\"cores\":1", "\"cores\":0"), "no such number of cores"),
        ("cores", whole.replace("\"cores\":1", "\"cores\":4000000000"), "no such number of cores"),
        ("rate", whole.replace("\"per_s\":", "\"per_s\":-"), "rate is not one"),
    ];
    let mut many = serde_json::from_str::<Value>(&whole).unwrap();
    let samples = many["benchmarks"][0]["points"][0]["samples"].as_array_mut().unwrap();
    *samples = vec![samples[0].clone(); 1001];
    let cases = cases.into_iter().chain([("samples", many.to_string(), "1000 samples")]);
    for (name, text, part) in cases {
        let path = file(&format!("bench-{name}.json"), text.as_bytes());
        let path = path.to_str().unwrap();
        refused(&["show", path], &[path, part]);
        refused(&["compare", saved, path], &[path, part]);
    }
}

/// Which functions of the kernel take how long for an operation, where that can be sampled.
#[test]
fn the_functions_below_an_interface_are_located() {
    let words = ["sem", "--locate", "--cores=1,2", "--quick", "--seconds=0.2", "--json"];
    let output = kilocore(&[&["bench"], &words[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let impossible = ["perf_event", "samples of the kernel", "this process may use"];
    if impossible.iter().any(|part| said.contains(part)) && !output.status.success() {
        eprintln!("not tested, as nothing can be sampled here: {said}");
        return;
    }
    let found = document(&output);
    assert_eq!((&found["base"]["cores"], &found["scaled"]["cores"]), (&1.into(), &2.into()));
    let functions = found["functions"].as_array().unwrap();
    let is_of_semop = |function: &Value| {
        let name = function["name"].as_str().unwrap();
        function["owner"] == "kernel" && name.contains("sem")
    };
    let own = functions.iter().filter(|function| is_of_semop(function));
    let samples: u64 = own.map(|f| f["exclusive"]["base"]["samples"].as_u64().unwrap()).sum();
    assert!(samples > 10, "{functions:#?}");
    // What came before the counting, such as making the program, is left out.
    assert!(functions.iter().all(|function| function["name"] != "do_execveat_common.isra.0"));
    refused(&["bench", "sem", "dup", "--locate"], &["one benchmark at a time"]);
    refused(&["bench", "sem", "--locate", "--cores=1"], &["--cores", "two numbers"]);
}
