//! Files of all kinds: `show` and `forecast` find out what each is, and say so when something else is wanted.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{file, kilocore, refused};

fn checkout(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    path.to_str().expect("an ordinary name").to_owned()
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[track_caller]
fn printed(words: &[&str]) -> String {
    let output = kilocore(words);
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

#[track_caller]
fn document(words: &[&str]) -> Value {
    serde_json::from_str(&printed(&[words, &["--json"]].concat())).expect("one document")
}

#[test]
fn each_kind_of_file_is_shown() {
    let profile = checkout("data/profiles/rocksdb.json");
    assert!(printed(&["show", &profile]).contains("What was seen"));
    assert_eq!(document(&["show", &profile])["format"], "kilocore-profile");
    let measured = checkout("docs/guide/examples/kyotocabinet.csv");
    let text = printed(&["show", &measured]);
    assert!(text.contains("pthread") && text.contains("on 24"), "{text}");
    assert!(document(&["show", &measured])["points"].as_array().is_some_and(|all| all.len() > 5));
    let samples = checkout("docs/guide/examples/locate/two-cores.script.gz");
    let text = printed(&["show", &samples]);
    assert!(text.contains("perf script") && text.contains("memmove"), "{text}");
    let shown = document(&["show", &samples]);
    let own: u64 = shown["functions"]
        .as_array()
        .expect("functions")
        .iter()
        .map(|function| function["weight"].as_u64().expect("a number"))
        .sum();
    assert_eq!(shown["weight"], own, "each sample is some function's own");
    let pages = checkout("data/page-traces/build.pages");
    assert!(printed(&["show", &pages]).contains("pages allocated"));
    let machine = checkout("sim/machine/machines/xeon-8375c-2s.toml");
    assert_eq!(printed(&["show", &machine]), printed(&["list", "machines", "xeon-8375c-2s"]));
    assert_eq!(document(&["show", &machine])["name"], "xeon-8375c-2s");
}

#[test]
fn figures_are_said_to_be_what_their_file_says() {
    let rows = "provenance,locks,cores,speedup\nemulated,mcs,1,1\nemulated,mcs,4,3.1\n";
    let emulated = file("emulated.csv", rows.as_bytes());
    let emulated = emulated.to_str().expect("plain");
    let text = printed(&["show", emulated]);
    assert!(text.contains("(emulated)") && !text.contains("measured"), "{text}");
    assert_eq!(document(&["show", emulated])["provenance"], "emulated");
    let text = printed(&["forecast", emulated]);
    assert!(text.contains("(emulated, laws fitted)"), "{text}");
    assert!(text.contains("from what was emulated") && !text.contains("measured"), "{text}");
    assert_eq!(document(&["forecast", emulated])["provenance"], "emulated");
    let more = file("emulated-more.csv", (rows.to_owned() + "emulated,mcs,8,4.1\n").as_bytes());
    let more = more.to_str().expect("plain");
    let machine = ["--machine", "core-i7-6700", "--lock", "mcs", "--cores", "8"];
    let output = kilocore(&[&["forecast", more][..], &machine].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("emulated, and taken as if they were measured"), "{said}");
    let unknown = file("dreamt.csv", rows.replace("emulated", "dreamt").as_bytes());
    let unknown = unknown.to_str().expect("plain");
    for command in ["show", "forecast"] {
        refused(&[command, unknown], &[unknown, "line 2, column 1", "'dreamt'", "leave it out"]);
    }
}

#[test]
fn what_an_emulation_wrote_is_shown_as_what_it_is() {
    let stacks = "main thread;cores=1;main;work;[computing] 7\n\
                  main thread;cores=8;main;[in kernel] 100\n\
                  other threads;cores=8;work;[computing] 900\n";
    let stacks = file("emulated-stacks.txt", stacks.as_bytes());
    let stacks = stacks.to_str().expect("plain");
    let text = printed(&["show", stacks]);
    for part in ["on 8 cores (emulated)", "900 ns", "1.00 µs in all", "on 1 core is not shown"] {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
    for part in ["samples", "measured", "main thread", "[computing]"] {
        assert!(!text.contains(part), "'{part}' in: {text}");
    }
    let shown = document(&["show", stacks]);
    assert_eq!(shown["provenance"], "emulated");
    assert_eq!(shown["functions"][0]["function"], "work");
    refused(&["forecast", stacks], &["call stacks of an emulated program", "nothing is forecast"]);
    let broken = file("emulated-stacks-broken.txt", b"main thread;cores=1;[spins] 7\nmain 5\n");
    let broken = broken.to_str().expect("plain");
    refused(&["show", broken], &[broken, "line 2", "remove the line"]);
}

#[test]
fn a_page_of_a_lock_profile_needs_to_know_where_the_time_went() {
    let profile = checkout("data/profiles/rocksdb.json");
    refused(&["show", &profile, "--output", "x.csv"], &["x.csv", ".html"]);
    let page = own("show-waits.html");
    refused(&["show", &profile, "--output", page.to_str().expect("plain")], &["--recorder watch"]);
    assert!(!page.exists(), "nothing is half-written");
}

#[test]
fn an_option_that_does_not_fit_the_file_is_refused_with_both_named() {
    let profile = checkout("data/profiles/rocksdb.json");
    let measured = checkout("docs/guide/examples/kyotocabinet.csv");
    let pages = checkout("data/page-traces/build.pages");
    let samples = checkout("docs/guide/examples/locate/two-cores.script.gz");
    for (words, parts) in [
        (
            &["forecast", &profile, "--pool-policy", "paper"][..],
            ["--pool-policy", "is a lock profile"],
        ),
        (&["forecast", &profile, "--profile", "x"], ["--profile", "is a lock profile"]),
        (&["forecast", &measured, "--all"], ["--all", "is a table of measured throughputs"]),
        (&["forecast", &pages, "--lock", "mcs"], ["--lock", "is a trace of pages"]),
        (&["forecast", &pages, "--output", "x.svg"], ["x.svg", "has no chart"]),
        (&["forecast", &samples], ["a sampled profile", "a lock profile"]),
        (&["show", &profile, "--events"], ["--events", "is a lock profile"]),
        (&["show", &measured, "--output", "x.csv"], ["--output", "measured throughputs"]),
        (&["compare", &samples, &samples, "--least", "3"], ["--least", "is a sampled profile"]),
        (&["compare", &profile, &samples], ["is a lock profile", "is a sampled profile"]),
        (&["compare", &pages, &pages], ["is a trace of pages", "two saved runs"]),
        (&["bench", "--replay", &pages, "--quick"], ["--replay", "--quick"]),
        (&["bench", "getppid", "--pool-policy", "paper"], ["--pool-policy", "--replay"]),
    ] {
        refused(words, &parts);
    }
}

#[test]
fn measured_throughputs_are_forecast_for_the_machine_that_they_are_from() {
    let measured = checkout("docs/guide/examples/kyotocabinet.csv");
    let lock = &["forecast", &measured, "--lock", "mcs"];
    refused(lock, &["kyotocabinet.csv", "--lock", "--machine", "the one of the measurements"]);
    // Without a machine, what was measured speaks for itself.
    let laws = document(&["forecast", &measured]);
    assert_eq!(laws["provenance"], "measured");
    assert_eq!(laws["variants"].as_array().map(Vec::len), Some(3), "{laws:#}");
}

#[test]
fn what_is_nothing_that_is_known_is_refused_with_what_was_looked_for() {
    let other = file("other.txt", b"hello\nworld\n").display().to_string();
    for verb in [&["show"][..], &["forecast"]] {
        let parts = ["other.txt", "a lock profile", "a sampled profile", "a machine file"];
        refused(&[verb, &[&other]].concat(), &parts);
    }
    refused(&["compare", &other, &other], &["other.txt", "a lock profile"]);
    refused(&["show", env!("CARGO_TARGET_TMPDIR")], &["directory"]);
}

#[test]
fn a_trace_of_pages_is_forecast_for_a_machine() {
    let pages = checkout("data/page-traces/build.pages");
    let words =
        ["forecast", &pages, "--pool-policy", "tiered,linux-4.18", "--machine", "core-i7-6700"];
    let forecast = document(&words);
    assert_eq!(forecast["provenance"], "simulated");
    assert_eq!(forecast["points"].as_array().map(Vec::len), Some(2), "{forecast:#}");
}

#[test]
fn a_profile_without_locks_gets_the_verdict_that_the_doctor_gives() {
    let text = std::fs::read_to_string(checkout("data/profiles/rocksdb.json")).expect("a profile");
    let mut profile: Value = serde_json::from_str(&text).expect("JSON");
    for run in profile["runs"].as_array_mut().expect("runs") {
        for process in run["processes"].as_array_mut().expect("processes") {
            process["locks"] = Value::Array(Vec::new());
        }
    }
    let path = file("no-locks.json", profile.to_string().as_bytes()).display().to_string();
    let forecast = document(&["forecast", &path]);
    assert!(forecast["recommendation"]["verdict"].is_string(), "{forecast:#}");
    assert_eq!(forecast["curves"], Value::Array(Vec::new()));
}

#[test]
fn samples_of_one_run_are_recorded_shown_and_compared() {
    let path = own("one.samples");
    let path = path.to_str().expect("an ordinary name");
    let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 3";
    let record =
        ["record", "samples", "--output", path, "--call-graph", "none", "sh", "-c", script];
    let output = kilocore(&record);
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("perf_event") || said.contains("perf") && !Path::new(path).exists() {
        eprintln!("not tested, as nothing can be sampled here: {said}");
        return;
    }
    assert_eq!(output.status.code(), Some(3), "the program's own: {said}");
    assert!(output.stdout.is_empty(), "and so is its output");
    assert!(document(&["show", path])["samples"].as_u64() > Some(10));
    assert!(printed(&["compare", path, path]).contains("measured"));
    refused(&["record", "samples", "--cores", "1,2", "true"], &["--cores", "kilocore locate"]);
}

#[test]
fn each_machine_and_lock_has_a_line_of_its_table() {
    for (what, lists) in
        [("machines", &["machines"][..]), ("locks", &["locks", "read_write_locks"])]
    {
        let (text, listed) = (printed(&["list", what]), document(&["list", what]));
        for entry in lists.iter().flat_map(|list| listed[list].as_array().expect("a list")) {
            let name = entry["name"].as_str().expect("a name");
            assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
}

#[test]
fn policies_and_benchmarks_are_listed_and_shown_in_full() {
    let names = |what: &str| -> Vec<String> {
        let listed = document(&["list", what]);
        let all = listed[what].as_array().expect("a list").iter();
        all.map(|one| one["name"].as_str().expect("a name").to_owned()).collect()
    };
    let policies = names("policies");
    assert!(
        policies.contains(&"lock-aware".to_owned()) && policies.contains(&"confined=N".to_owned())
    );
    for policy in policies.iter().filter(|policy| *policy != "confined=N") {
        assert!(
            printed(&["list", "policies", policy]).contains("kilocore steer --policy"),
            "{policy}"
        );
    }
    for benchmark in names("benchmarks") {
        assert!(
            printed(&["list", "benchmarks", &benchmark]).contains("kilocore bench"),
            "{benchmark}"
        );
    }
}

#[test]
fn a_report_is_written_through_what_is_no_regular_file() {
    let folder = tempfile::tempdir().expect("a folder of the test's own");
    let measured = checkout("docs/guide/examples/kyotocabinet.csv");
    let path = |name: &str| folder.path().join(name).to_str().expect("plain").to_owned();
    // By a FIFO.
    let made = std::process::Command::new("mkfifo").arg(path("pipe.csv")).status();
    assert!(made.expect("it is installed").success());
    let (pipe, fifo) = (path("pipe.csv"), path("pipe.csv"));
    let reader = std::thread::spawn(move || std::fs::read_to_string(fifo).expect("text"));
    printed(&["forecast", &measured, "--output", &pipe]);
    let report = reader.join().expect("it has read");
    // By a link, which stays one.
    std::os::unix::fs::symlink("report.csv", path("link.csv")).expect("there is room");
    printed(&["forecast", &measured, "--output", &path("link.csv")]);
    let is_link = std::fs::symlink_metadata(path("link.csv")).expect("it is there").is_symlink();
    assert!(is_link, "it leads where it led");
    assert_eq!(std::fs::read_to_string(path("report.csv")).expect("it is written"), report);
    assert!(report.lines().count() > 5, "{report}");
    // Into a file that is this process's output, behind the name of which nothing else may come.
    std::os::unix::fs::symlink("/dev/stdout", path("out.csv")).expect("there is room");
    let all = path("all");
    let file = std::fs::File::create(&all).expect("there is room");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_kilocore"))
        .args(["forecast", &measured, "--output", &path("out.csv")])
        .stdout(file)
        .stderr(std::process::Stdio::null())
        .status();
    assert!(status.expect("kilocore runs").success());
    let all = std::fs::read_to_string(all).expect("text");
    let table = printed(&["forecast", &measured]);
    assert_eq!(all, report + &table, "the report, and then the table");
}
