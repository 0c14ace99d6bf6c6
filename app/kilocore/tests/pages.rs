//! `kilocore record pages` and `kilocore show` of a trace.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::common::{ended, file, kilocore, refused};

/// The user `nobody`.
const USER: u32 = 65534;

fn traces() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/page-traces");
    let files = fs::read_dir(folder).expect("it is there").map(|file| file.expect("a file").path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "pages")).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("it is text")
}

fn shown(words: &[&str], path: &Path) -> String {
    let path = path.to_str().expect("an ordinary name");
    let output = kilocore(&[&["show"], words, &[path]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn number(document: &Value, pointer: &str) -> u64 {
    document.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer}"))
}

#[test]
fn the_traces_that_are_kept_are_whole_and_make_sense() {
    let traces = traces();
    assert!(traces.len() >= 4, "{traces:?}");
    for path in traces {
        let size = path.metadata().expect("a file").len();
        let document: Value = serde_json::from_str(&shown(&["--json"], &path)).expect("JSON");
        let of = |pointer| number(&document, pointer);
        let (events, allocated) = (of("/summary/events"), of("/summary/allocated"));
        assert_eq!(events, of("/trace/contents/events"));
        assert!(events > 50_000 && size < 4 * events, "{}: {size} bytes", path.display());
        assert!(of("/trace/about/unseen/lost") < 100, "{}", path.display());
        assert!(of("/summary/zeroed") * 10 > allocated * 4, "{}", path.display());
        let text = document.to_string();
        let home = ["/home/", "/root/", env!("CARGO_MANIFEST_DIR")];
        assert!(!home.iter().any(|home| text.contains(home)), "it names folders of ours");
    }
}

#[test]
fn a_trace_is_summarized_for_people_and_printed_as_text_that_is_read_again() {
    let path = traces().pop().expect("there are some");
    let table = shown(&[], &path);
    for part in ["Measured ", "Not covered: ", "filled with zeroes", "Pages held over time"] {
        assert!(table.contains(part), "no '{part}' in: {table}");
    }
    let events = shown(&["--events"], &path);
    let again = file("pages-again.jsonl", events.as_bytes());
    assert_eq!(shown(&["--json"], &again), shown(&["--json"], &path));
}

#[test]
fn what_is_no_trace_is_refused_with_its_place() {
    let show = |path: &Path, parts: &[&str]| {
        refused(&["show", path.to_str().expect("an ordinary name")], parts);
    };
    let whole = fs::read(traces().pop().expect("there are some")).expect("it is there");
    show(&file("pages-cut", &whole[..whole.len() / 2]), &["pages-cut: at byte ", "cut off"]);
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    show(&file("pages-damaged", &damaged), &["pages-damaged: at byte ", "record again"]);
    let mut newer = whole;
    newer[8] = 9;
    show(&file("pages-newer", &newer), &["pages-newer: at byte 8: ", "version 9", "update"]);
    show(&file("pages-other", b"something else"), &["pages-other", "a trace of pages"]);
    show(Path::new("/no/such.pages"), &["/no/such.pages: ", "exists"]);
    refused(&["show", "--json", "--events", "x"], &["--events"]);
}

#[test]
fn what_cannot_be_recorded_is_refused_before_anything_runs() {
    ended(127, &["record", "pages", "no-such-program-anywhere"], &["no-such-program-anywhere"]);
    refused(&["record", "pages", "-o", "/no/such/x", "true"], &["/no/such/x", "choose a folder"]);
    refused(&["record", "pages", "--limit-events", "0", "true"], &["0"]);
    refused(&["record", "pages", "--duration", "0", "true"], &["give seconds above 0"]);
    refused(&["record", "pages"], &["<COMMAND>"]);
}

/// Runs `kilocore record pages` with this trace, as this user.
fn record(path: &Path, user: Option<u32>, words: &[&str]) -> Output {
    let mut command = match user {
        // Where the program itself is may be closed to others, so a copy is run.
        Some(_) => Command::new(path.with_file_name("kilocore")),
        None => Command::new(env!("CARGO_BIN_EXE_kilocore")),
    };
    command.args(["record", "pages", "--output"]).arg(path).args(words);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    command.output().expect("kilocore runs")
}

#[test]
fn the_program_keeps_its_output_and_its_exit_status() {
    let folder = tempfile::tempdir().expect("there is room");
    let path = folder.path().join("x.pages");
    let words = ["--", "sh", "-c", "echo to output; echo to error >&2; exit 5"];
    let output = record(&path, None, &words);
    let error = text(&output.stderr);
    if output.status.code() == Some(2) {
        println!("not tested: {error}");
        return;
    }
    assert_eq!(output.status.code(), Some(5), "{error}");
    assert_eq!(text(&output.stdout), "to output\n");
    assert!(error.contains("to error\n") && error.contains("recording written to"), "{error}");
    assert!(shown(&[], &path).contains("sh -c"));
}

#[test]
fn an_ordinary_user_is_told_what_is_missing_and_nothing_runs() {
    // SAFETY: takes no argument.
    if unsafe { libc::geteuid() } != 0 {
        println!("not tested: only root can become an ordinary user");
        return;
    }
    let folder = tempfile::tempdir().expect("there is room");
    let open = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
    };
    open(folder.path());
    let program = folder.path().join("kilocore");
    kilocore_shipped::copy_to_run(Path::new(env!("CARGO_BIN_EXE_kilocore")), &program);
    open(&program);
    let path = folder.path().join("x.pages");
    let output = record(&path, Some(USER), &["--", "echo", "it ran"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty() && !path.exists(), "{error}");
    assert!(error.contains("tracepoints") && error.contains("as root"), "{error}");
}

const TRACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/page-traces/build.pages");

#[test]
fn what_cannot_be_replayed_is_refused() {
    let refused = |words: &[&str], parts: &[&str]| {
        refused(&[&["bench", "--replay"], words].concat(), parts);
    };
    refused(&[TRACE, "--pool-policy", "best"], &["there is no policy", "linux-4.18", "tiered"]);
    refused(&[TRACE, "--used-before-release", "2"], &["from 0 to 1"]);
    refused(&[TRACE, "--other-pages", "nan"], &["from 0 to 1000"]);
    refused(&["/nonexistent.pages"], &["/nonexistent.pages"]);
}

fn document(words: &[&str]) -> Value {
    let output = kilocore(words);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON document")
}

#[test]
fn a_trace_is_forecast_on_a_machine() {
    let words = ["forecast", TRACE, "--pool-policy", "linux-6.12", "--json"];
    let simulated = document(&[&words[..], &["--machine", "core-i7-6700"]].concat());
    assert_eq!(simulated["provenance"], "simulated");
    assert_eq!(simulated["machine"], "core-i7-6700");
    assert_eq!(simulated["points"].as_array().map(Vec::len), Some(1));
    assert!(simulated["command"][0].as_str().is_some_and(|program| !program.is_empty()));
}

#[test]
fn a_trace_is_measured_here() {
    let words = ["bench", "--replay", TRACE, "--repeats", "1", "--json"];
    let measured = document(&words);
    assert_eq!(measured["provenance"], "measured");
    let points = measured["points"].as_array().expect("points");
    assert_eq!(points.len(), 5, "every policy");
    for point in points {
        assert!(point["initialization"]["mean"].as_f64().is_some_and(|mean| mean > 0.0));
        assert_eq!(point["initialization_means_cycles"].as_array().map(Vec::len), Some(1));
    }
    assert_eq!(points[0]["over_baseline"], 1.0, "the baseline comes first");
}
