//! `kilocore record references` and `kilocore forecast` of that: verdicts on a program whose memory lies
//! badly, and what must be refused.

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

/// Compiles one of the programs.
fn compiled(source: &str, name: &str, more: &[&str]) -> String {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let built = Command::new(if source.ends_with(".c") { "cc" } else { "c++" })
        .args(["-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"])
        .args(more)
        .arg("-o")
        .arg(&program)
        .arg(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/numa")).join(source))
        .status()
        .expect("there is a compiler");
    assert!(built.success());
    path(&program)
}

/// The path of the program `placed.c`, compiled once.
fn placed() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("placed.c", "placed", &[]))
}

/// A trace of the program.
fn trace() -> &'static Path {
    static TRACE: OnceLock<PathBuf> = OnceLock::new();
    TRACE.get_or_init(|| {
        let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("placed.refs");
        let output = recorded(&trace, &[], &[placed()]);
        assert_eq!(output.status.code(), Some(7), "the program's own");
        trace
    })
}

/// What a program did while its references were recorded.
fn recorded(trace: &Path, options: &[&str], program: &[&str]) -> Output {
    let file = path(trace);
    kilocore(&[&["record", "references", "--output", &file], options, &["--"], program].concat())
}

/// The advice to a program that is recorded into a file of this name.
fn advice(name: &str, options: &[&str], program: &str) -> Value {
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    assert_eq!(recorded(&trace, options, &[program]).status.code().unwrap_or(-1) & !7, 0);
    forecast(&trace)
}

/// The advice from a trace.
fn forecast(trace: &Path) -> Value {
    document(&kilocore(&["forecast", &path(trace), "--machine", "xeon-8375c-2s", "--json"]))
}

fn path(path: &Path) -> String {
    path.to_str().expect("an ordinary name").to_owned()
}

fn document(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {errors}"))
}

/// The row whose name begins so.
fn called<'a>(document: &'a Value, start: &str) -> &'a Value {
    let rows = document["mappings"].as_array().expect("rows");
    let is = |row: &&Value| row["memory"].as_str().is_some_and(|name| name.starts_with(start));
    let found: Vec<&Value> = rows.iter().filter(is).collect();
    assert_eq!(found.len(), 1, "{start}: {found:?} of {rows:?}");
    found[0]
}

/// The row that was allocated by a function, by way of another one.
fn allocated<'a>(document: &'a Value, inner: &str, outer: &str) -> &'a Value {
    let is = |row: &&Value| {
        let function = |at: usize| &row["site"][at]["function"];
        row["kind"] == "allocated" && function(0) == inner && function(1) == outer
    };
    let rows = document["mappings"].as_array().expect("rows");
    let found: Vec<&Value> = rows.iter().filter(is).collect();
    assert_eq!(found.len(), 1, "{inner} via {outer}: {found:?} of {rows:?}");
    found[0]
}

/// The verdicts that the program was made for.
fn are_as_expected(document: &Value) {
    let table = allocated(document, "fresh", "make_table");
    assert_eq!(table["verdict"], "replicate", "{table}");
    assert_eq!((&table["mappings"], &table["largest_bytes"]), (&1.into(), &(4 << 20).into()));
    assert_eq!((&table["reads"], &table["writes"]), (&2_400_000.into(), &524_288.into()));
    assert_eq!(document["mappings"][0], *table, "it gains most");
    // Each thread reads and writes its own array twice, and the first thread has filled them. Two of them
    // are on the other node.
    let own = allocated(document, "fresh", "make_own");
    assert_eq!((&own["mappings"], &own["verdict"]), (&4.into(), &"move".into()), "{own}");
    let sizes = (&own["smallest_bytes"], &own["largest_bytes"]);
    assert_eq!(sizes, (&(1 << 20).into(), &((1 << 20) + 3 * 65536).into()));
    assert_eq!(own["reads"], 4 * 2 * 131_072);
    assert_eq!(own["writes"], 4 * 3 * 131_072);
    assert!(own["advice"].as_str().is_some_and(|words| words.contains("each page")), "{own}");
    let shared = allocated(document, "fresh", "make_shared");
    let verdict = shared["verdict"].as_str().expect("a word");
    assert!(["leave", "interleave"].contains(&verdict), "{shared}");
    let stacks = called(document, "stacks of threads from main (placed.c:");
    assert_eq!((&stacks["mappings"], &stacks["verdict"]), (&4.into(), &"leave".into()), "{stacks}");
    assert!(stacks["writes"].as_u64() >= Some(4 * 160_000), "{stacks}");
}

#[test]
fn a_program_is_told_what_to_do_about_its_memory() {
    let document = forecast(trace());
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
fn advice_is_for_a_machine_and_the_same_every_time() {
    let trace = path(trace());
    for machine in ["epyc-7742-2s", "xeon-8375c-2s"] {
        let words = ["forecast", "--machine", machine, &trace, "--json"];
        let output = kilocore(&words);
        assert!(output.status.success());
        are_as_expected(&document(&output));
        assert_eq!(kilocore(&words).stdout, output.stdout, "it is the same every time");
    }
}

#[test]
fn blocks_in_the_heap_have_rows_by_the_functions_that_allocate_them() {
    let program = compiled("shelves.cpp", "shelves", &[]);
    let native = Command::new(&program).output().expect("it runs");
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shelves.refs");
    let output = recorded(&trace, &[], &[&program]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout, native.stdout, "the program's own output");
    let document = forecast(&trace);
    let shelves = called(&document, "shop::Shelf::Shelf (shelves.cpp:");
    assert_eq!((&shelves["mappings"], &shelves["kind"]), (&8.into(), &"allocated".into()));
    assert_eq!(
        (&shelves["smallest_bytes"], &shelves["largest_bytes"]),
        (&96_000.into(), &96_000.into())
    );
    assert_eq!(shelves["verdict"], "replicate", "{shelves}");
    // References are known by page. At the edges of a block they may be of its neighbours.
    let reads = shelves["reads"].as_u64().expect("a number");
    assert!((7_000_000..=7_700_000).contains(&reads), "4 · 20 · 8 · 12,000: {shelves}");
    let weights = called(&document, "shop::weigh (shelves.cpp:");
    assert_eq!((&weights["mappings"], &weights["mapped_at_end"]), (&100.into(), &false.into()));
    assert_eq!((&weights["threads"], &weights["nodes"]), (&1.into(), &1.into()), "{weights}");
    assert_eq!(called(&document, "[heap], the rest")["kind"], "heap");
    let large = advice("shelves-large.refs", &["--smallest-block", "50000"], &program);
    assert_eq!(called(&large, "shop::Shelf::Shelf (shelves.cpp:")["mappings"], 8);
    let is_small = |row: &Value| row["memory"].as_str().is_some_and(|it| it.contains("weigh"));
    assert!(!large["mappings"].as_array().expect("rows").iter().any(is_small));
}

#[test]
fn what_a_static_program_maps_has_places_and_its_heap_has_none() {
    let program = compiled("placed.c", "placed-static", &["-static"]);
    let document = advice("placed-static.refs", &[], &program);
    are_as_expected(&document);
    let unseen = document["not_covered"].as_array().expect("words");
    let is_static = |what: &Value| what.as_str().is_some_and(|it| it.contains("linked statically"));
    assert!(unseen.iter().any(is_static), "{unseen:?}");
}

#[test]
fn programs_of_debians_do_what_they_do_and_name_their_files() {
    let input: String = (0..20_000_u64)
        .map(|line| format!("{:016x} {line}\n", line.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
        .collect();
    let input_path = path(&file("unsorted", input.as_bytes()));
    for words in
        [&["sort", "--parallel=4", &input_path][..], &["xz", "-T4", "-2", "-c", &input_path]]
    {
        let native = Command::new(words[0]).args(&words[1..]).output().expect("it is installed");
        let json = input_path.clone() + ".json";
        let trace = PathBuf::from(input_path.clone() + ".refs");
        let output = recorded(&trace, &[], words);
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout == native.stdout, "{words:?} prints something else");
        assert!(kilocore(&["forecast", &path(&trace), "--output", &json]).status.success());
        let text = fs::read_to_string(&json).expect("it was written");
        let document: Value = serde_json::from_str(&text).expect("a document");
        let rows = document["mappings"].as_array().expect("rows").iter();
        let modules: Vec<&str> = rows.filter_map(|row| row["site"][0]["module"].as_str()).collect();
        let own = if words[0] == "xz" { "liblzma" } else { "sort" };
        assert!(modules.iter().any(|module| module.contains(own)), "{modules:?}");
    }
}

#[test]
fn people_are_told_what_could_not_be_seen_first() {
    let trace = path(trace());
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("advice.html");
    let rows = page.with_extension("csv");
    let (page_name, rows_name) = (path(&page), path(&rows));
    let files = ["--output", &page_name, "--output", &rows_name];
    let output = kilocore(&[&["forecast", &trace][..], &files].concat());
    let text = String::from_utf8(output.stdout).expect("it is text");
    assert!(text.starts_with("Not in these figures: "), "{text}");
    for part in [
        "via make_table (placed.c:",
        "replicate it",
        "move its pages",
        "it is local",
        "simulated on machine",
    ] {
        assert!(text.contains(part), "no '{part}' in: {text}");
    }
    let page = fs::read_to_string(page).expect("it was written");
    assert!(page.contains("replicate it") && page.contains("via make_table (placed.c:"));
    assert!(fs::read_to_string(rows).expect("it was written").starts_with("provenance,machine,"));
}

#[test]
fn bad_input_is_refused() {
    let trace = path(trace());
    let advise = |words: &[&str], parts: &[&str]| {
        refused(&[&["forecast", &trace], words].concat(), parts);
    };
    advise(&["--machine", "no-such"], &["no-such"]);
    advise(&["--cpus", "0"], &["--cpus", "0"]);
    advise(&["--nodes", "0"], &["--nodes", "0"]);
    advise(&["--cpus", "5", "--nodes", "2"], &["5 processors", "2 nodes"]);
    advise(&["--machine", "core-i7-6700"], &["one memory node"]);
    advise(&["--output", "advice.svg"], &["no chart"]);
    advise(&["--lock", "mcs"], &["--lock", "a lock profile", "a trace of references"]);
    refused(&["forecast", "no-such.refs"], &["no-such.refs"]);
    let record = |words: &[&'static str]| [&["record", "references"], words].concat();
    refused(&record(&[]), &["COMMAND"]);
    refused(&record(&["--smallest-block", "0", "--", "true"]), &["--smallest-block", "0"]);
    refused(&record(&["--output", "/nowhere/x.refs", "--", "true"]), &["/nowhere"]);
    ended(127, &record(&["--", "no-such-program"]), &["no-such-program"]);
}

#[test]
fn what_is_no_program_is_refused() {
    kilocore_shipped::folder();
    let text = file("no-program", b"hello");
    fs::set_permissions(&text, PermissionsExt::from_mode(0o755)).expect("it is ours");
    let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-program.refs");
    let words = ["record", "references", "--output", &path(&trace), "--", &path(&text)];
    refused(&words, &["no ELF file"]);
    assert!(!trace.exists(), "nothing is half-written");
}

#[test]
fn a_trace_that_was_cut_off_is_refused() {
    let whole = fs::read(trace()).expect("it was written");
    for (name, part) in [("half.refs", whole.len() / 2), ("beginning.refs", 20)] {
        let cut = path(&file(name, &whole[..part]));
        refused(&["forecast", &cut], &[name, "cut off"]);
    }
    let other = path(&file("other.refs", b"something else"));
    refused(&["forecast", &other], &["other.refs", "a trace of references"]);
}
