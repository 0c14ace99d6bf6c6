//! `kilocore numa advise`: verdicts on a program whose memory lies badly, and what must be refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;

use crate::common::{ended, file, refused};

/// What ships: advice needs the plugin beside the program.
fn kilocore(words: &[&str]) -> Output {
    let program = kilocore_shipped::folder().join("kilocore");
    Command::new(program).args(words).output().expect("kilocore runs")
}

/// The program, compiled.
fn placed() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("placed");
        let built = Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o"])
            .arg(&program)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/numa/placed.c"))
            .status()
            .expect("there is a compiler");
        assert!(built.success());
        path(&program)
    })
}

/// A trace of the program.
fn trace() -> &'static Path {
    static TRACE: OnceLock<PathBuf> = OnceLock::new();
    TRACE.get_or_init(|| {
        let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("placed.refs");
        let words = ["numa", "run", "--policy", "never", "--record", &path(&trace), "--", placed()];
        assert_eq!(kilocore(&words).status.code(), Some(7));
        trace
    })
}

fn path(path: &Path) -> String {
    path.to_str().expect("an ordinary name").to_owned()
}

fn document(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// The rows of anonymous memory that meet a condition, in the order in which they were mapped.
fn rows(document: &Value, meets: impl Fn(&Value) -> bool) -> Vec<&Value> {
    let order = |row: &&Value| {
        let name = row["memory"].as_str().expect("a name").trim_start_matches("anonymous #");
        name.split(',').next().and_then(|order| order.parse::<u64>().ok())
    };
    let rows = document["mappings"].as_array().expect("rows").iter();
    let mut rows: Vec<&Value> =
        rows.filter(|row| row["kind"] == "anonymous" && meets(row)).collect();
    rows.sort_by_key(order);
    rows
}

fn called<'a>(document: &'a Value, end: &str) -> &'a Value {
    let found =
        rows(document, |row| row["memory"].as_str().is_some_and(|name| name.ends_with(end)));
    assert_eq!(found.len(), 1, "{end}: {found:?}");
    found[0]
}

/// The verdicts that the program was made for.
fn are_as_expected(document: &Value) {
    let table = called(document, ", 4 MiB");
    assert_eq!(table["verdict"], "replicate", "{table}");
    assert_eq!((&table["reads"], &table["writes"]), (&2_400_000.into(), &524_288.into()));
    assert_eq!(document["mappings"][0], *table, "it gains most");
    // Each thread reads and writes its own array twice, and the first thread has filled them.
    let own = rows(document, |row| row["writes"] == 3 * 131_072 && row["reads"] == 2 * 131_072);
    let verdicts: Vec<&str> =
        own.iter().map(|row| row["verdict"].as_str().expect("a word")).collect();
    // Threads are dealt to the nodes in turn, and the first of these is the program's second.
    assert_eq!(verdicts, ["move", "leave", "move", "leave"]);
    assert!(own[0]["advice"].as_str().is_some_and(|words| words.contains("node 1")), "{}", own[0]);
    let shared = called(document, ", 2 MiB");
    let verdict = shared["verdict"].as_str().expect("a word");
    assert!(["leave", "interleave"].contains(&verdict), "{shared}");
    let stacks = rows(document, |row| {
        row["writes"].as_u64() >= Some(160_000) && row["reads"].as_u64() <= Some(10_000)
    });
    assert_eq!(stacks.iter().filter(|row| row["touched_bytes"] != 2 << 20).count(), 4);
    for row in stacks {
        assert_eq!(row["verdict"], "leave", "{row}");
    }
}

#[test]
fn a_program_is_told_what_to_do_about_its_memory() {
    let output = kilocore(&["numa", "advise", "--json", "--", placed()]);
    assert_eq!(output.status.code(), Some(7), "the program's own");
    let document = document(&output);
    assert_eq!(document["provenance"], "simulated");
    assert_eq!((&document["machine"], &document["nodes"]), (&"xeon-8375c-2s".into(), &2.into()));
    assert_eq!(document["threads"], 5);
    are_as_expected(&document);
    let sum = |of: &str| -> u64 {
        let rows = document["mappings"].as_array().expect("rows").iter();
        rows.filter_map(|row| row["cycles"][of].as_u64()).sum()
    };
    for of in ["first_touch", "interleaved", "moved", "linux", "replicated", "optimum"] {
        assert_eq!(document["cycles"][of], sum(of), "{of}");
    }
}

#[test]
fn a_trace_is_as_good_as_the_program() {
    let trace = path(trace());
    for machine in ["epyc-7742-2s", "xeon-8375c-2s"] {
        let words = ["numa", "advise", "--machine", machine, "--trace", &trace, "--json"];
        let output = kilocore(&words);
        assert!(output.status.success());
        are_as_expected(&document(&output));
        assert_eq!(kilocore(&words).stdout, output.stdout, "it is the same every time");
    }
}

#[test]
fn people_are_told_what_could_not_be_seen_first() {
    let trace = path(trace());
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("advice.html");
    let rows = page.with_extension("csv");
    let (page_name, rows_name) = (path(&page), path(&rows));
    let files = ["--output", &page_name, "--output", &rows_name];
    let output = kilocore(&[&["numa", "advise", "--trace", &trace][..], &files].concat());
    let text = String::from_utf8(output.stdout).expect("it is text");
    assert!(text.starts_with("Not in these figures: "), "{text}");
    for part in ["replicate it", "move it to node 1", "it is local", "simulated on machine"] {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
    assert!(fs::read_to_string(page).expect("it was written").contains("replicate it"));
    assert!(fs::read_to_string(rows).expect("it was written").starts_with("provenance,machine,"));
}

#[test]
fn bad_input_is_refused() {
    let advise = |words: &[&'static str]| [&["numa", "advise"], words].concat();
    refused(&advise(&["--machine", "no-such", "--", "true"]), &["no-such"]);
    refused(&advise(&["--cpus", "0", "--", "true"]), &["--cpus", "0"]);
    refused(&advise(&["--nodes", "0", "--", "true"]), &["--nodes", "0"]);
    refused(&advise(&["--cpus", "5", "--nodes", "2", "--", "true"]), &["5 processors", "2 nodes"]);
    refused(&advise(&["--machine", "core-i7-6700", "--", "true"]), &["one memory node"]);
    refused(&advise(&["--output", "advice.svg", "--", "true"]), &["no chart"]);
    refused(&advise(&[]), &["COMMAND"]);
    refused(&advise(&["--trace", "no-such.refs"]), &["no-such.refs"]);
    refused(&advise(&["--trace", "x", "--", "true"]), &["cannot be used with"]);
    ended(127, &advise(&["--", "no-such-program"]), &["no-such-program"]);
}

#[test]
fn what_is_no_program_is_refused() {
    kilocore_shipped::folder();
    let text = file("no-program", b"hello");
    fs::set_permissions(&text, PermissionsExt::from_mode(0o755)).expect("it is ours");
    refused(&["numa", "advise", "--", &path(&text)], &["no ELF file"]);
}

#[test]
fn a_trace_that_was_cut_off_is_refused() {
    let whole = fs::read(trace()).expect("it was written");
    for (name, part) in [("half.refs", whole.len() / 2), ("beginning.refs", 20)] {
        let cut = path(&file(name, &whole[..part]));
        refused(&["numa", "advise", "--trace", &cut], &[name, "cut off"]);
    }
    let other = path(&file("other.refs", b"something else"));
    refused(&["numa", "advise", "--trace", &other], &["other.refs", "no trace of references"]);
}
