//! `kilocore emulate` and `doctor --emulate`, as somebody types them.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::measured::{compiled, kilocore, run_while};

/// So many threads compute, and add to a sum under a mutex.
pub(crate) const SUMS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long sum;
static long rounds;
static void *add(void *unused) {
    for (long i = 0; i < rounds; i++) {
        for (int think = 0; think < 400; think++) __asm__ volatile("");
        pthread_mutex_lock(&lock);
        for (int hold = 0; hold < 200; hold++) __asm__ volatile("");
        sum++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long threads = atol(argv[1]);
    rounds = atol(argv[2]) / threads;
    pthread_t made[64];
    for (long i = 0; i < threads; i++) pthread_create(&made[i], NULL, add, NULL);
    for (long i = 0; i < threads; i++) pthread_join(made[i], NULL);
    return sum != rounds * threads;
}
"#;

fn run(words: &[&str], program: &Path, arguments: &[&str]) -> Output {
    let mut command = kilocore();
    command.env("KILOCORE_NO_CACHE", "1");
    command.args(words).arg("--").arg(program).args(arguments);
    run_while(command, |_| ())
}

/// The command with a folder for what is kept. Cargo adds the folder that it builds in to those in which programs look
/// for libraries; when somebody builds there, the run would depend on that.
fn keeping(cache: &Path, words: &[&str], program: &Path, arguments: &[&str]) -> Command {
    let mut command = kilocore();
    command.env_remove("LD_LIBRARY_PATH");
    command.env("XDG_CACHE_HOME", cache).env_remove("KILOCORE_NO_CACHE");
    command.args(words).arg("--").arg(program).args(arguments);
    command
}

fn run_keeping(cache: &Path, words: &[&str], program: &Path, arguments: &[&str]) -> Output {
    run_while(keeping(cache, words, program, arguments), |_| ())
}

/// What is said of the points of a document besides their figures, and the points without that and without how long they
/// took here.
fn parted(mut document: Value) -> (Vec<[Value; 2]>, Vec<Value>) {
    let points = document["points"].as_array_mut().expect("points");
    let said = points.iter_mut().map(|point| {
        let point = point.as_object_mut().expect("a point");
        point.remove("host_seconds").expect("it took some time");
        ["known_since", "for_once"].map(|name| point.remove(name).expect("it is said"))
    });
    (said.collect(), points.clone())
}

#[track_caller]
fn document(output: &Output) -> Value {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    serde_json::from_slice(&output.stdout).expect("a document, and nothing else")
}

#[test]
fn a_program_is_emulated_under_each_lock_and_its_lines_are_named() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "sums", SUMS, &["-g"]);
    let words = [
        "emulate",
        "--machine",
        "opteron-6344-4s",
        "--cores",
        "1,12",
        "--lock",
        "mcs,ticket",
        "--json",
    ];
    let told = document(&run(&words, &program, &["{cores}", "2400"]));
    assert_eq!(told["provenance"], "emulated");
    let points = told["points"].as_array().expect("points");
    let of = |point: &Value| {
        (point["locks"].as_str().expect("text").to_owned(), point["cores"].as_u64())
    };
    let all: Vec<_> = points.iter().map(of).collect();
    let expected =
        ["own", "mcs", "ticket"].map(|locks| [1, 12].map(|cores| (locks.to_owned(), Some(cores))));
    assert_eq!(all, expected.concat());
    for point in points {
        let times = ["speedup", "gain"].map(|name| point[name].as_f64().expect("a figure"));
        assert!(times.iter().all(|times| (0.1..12.0).contains(times)), "{point}");
        let runs = point["runs"].as_array().expect("runs");
        let is_shown = |run: &Value| run["end_ns"] == point["end_ns"];
        // On one core it makes one thread besides the first, which waits for it.
        assert!(runs.len() >= 2 && runs.iter().any(is_shown), "{runs:?}");
        let of = |name: &str| point[name].as_f64().expect("a figure");
        assert!((of("gain_least")..=of("gain_most")).contains(&of("gain")), "{point}");
        assert!((of("speedup_least")..=of("speedup_most")).contains(&of("speedup")), "{point}");
    }
    let lines = points[1]["lines"].as_array().expect("lines");
    let lock = lines
        .iter()
        .find(|line| line["data"].as_str().is_some_and(|data| data.contains("lock in sums")));
    assert_eq!(lock.expect("the lock moves")["sharing"], "true", "{lines:?}");
}

/// So many threads compute their part of so much.
const PARTS: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static long rounds;
static void *compute(void *unused) {
    for (long i = 0; i < rounds; i++) __asm__ volatile("");
    return unused;
}
int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long threads = atol(argv[1]);
    rounds = atol(argv[2]) / threads;
    pthread_t made[64];
    for (long i = 0; i < threads; i++) pthread_create(&made[i], NULL, compute, NULL);
    for (long i = 0; i < threads; i++) pthread_join(made[i], NULL);
    return 0;
}
"#;

#[test]
fn the_first_line_says_whether_it_scales_wherever_it_is_shown() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "parts", PARTS, &[]);
    let [page, written, text] =
        ["a.html", "a.json", "a.md"].map(|name| folder.path().join(name).display().to_string());
    let words = ["emulate", "--machine", "opteron-6344-4s", "--cores", "1,4", "--lock", "mcs"];
    let files = ["--output", &page, "--output", &written, "--output", &text];
    let told = run(&[&words[..], &files].concat(), &program, &["{cores}", "20000000"]);
    assert!(told.status.success(), "{told:?}");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    // Each takes a quarter of the time, and to begin takes a little.
    let first = told.lines().next().expect("a line").to_owned();
    assert!(first.starts_with("Scales to 4 cores: 3.") && first.contains("as on 1 ("), "{told}");
    let none = "No lock of the program was replaced: it takes none of pthread's.";
    assert_eq!(told.matches(none).count(), 2, "in the answer and below the gains: {told}");
    let read = |file: &str| std::fs::read_to_string(file).expect("it is written");
    assert!(read(&page).contains(&format!("<h2>{first}</h2>")), "{first}");
    assert!(read(&text).contains(&format!("## {first}")), "{first}");
    let document: Value = serde_json::from_str(&read(&written)).expect("a document");
    assert_eq!(document["answer"][0], *first, "{}", document["answer"]);
    for (index, locks) in ["own", "mcs"].iter().enumerate() {
        let verdict = &document["verdicts"][index];
        assert_eq!((&verdict["locks"], &verdict["verdict"]), (&(*locks).into(), &"scales".into()));
        assert!(verdict["unknown_because"].is_null(), "{verdict}");
    }
    let shown = kilocore().args(["show", &written]).output().expect("it runs");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert_eq!(shown.lines().next(), Some(&*first), "{shown}");
}

#[test]
fn a_program_that_stands_at_its_lock_is_not_said_to_scale() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "sums", SUMS, &[]);
    let words = ["emulate", "--machine", "opteron-6344-4s", "--cores", "1,24", "--lock", "mcs"];
    let output = run(&[&words[..], &["--json"]].concat(), &program, &["{cores}", "4800"]);
    let told = document(&output);
    // A third of it is under the lock.
    let word = told["verdicts"][0]["verdict"].as_str().expect("a word");
    assert!(["flattens", "collapses"].contains(&word), "{}", told["answer"]);
    let answer = told["answer"].as_array().expect("paragraphs");
    let text: Vec<&str> = answer.iter().filter_map(Value::as_str).collect();
    assert!(text.join(" ").contains("mcs") && !text.join(" ").contains("was replaced"), "{text:?}");
    let counts = &told["points"][3]["counts"];
    assert!(counts["lock_calls"].as_u64() >= Some(4_800), "{counts}");
}

#[test]
fn a_part_of_a_program_is_emulated_and_one_that_is_not_there_is_refused() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "sums", SUMS, &[]);
    let part = |from: &str, more: &[&str]| {
        let words = ["emulate", "--machine", "opteron-6344-4s", "--cores", "1,4", "--from", from];
        run(&[&words, more].concat(), &program, &["{cores}", "400"])
    };
    let told = document(&part("threads", &["--until", "threads", "--json"]));
    assert_eq!((told["from"].as_str(), told["until"].as_str()), (Some("threads"), Some("threads")));
    assert!(told["warm_from"].is_null(), "{told}");
    for point in told["points"].as_array().expect("points") {
        let ns = |name: &str| point[name].as_f64().expect("a time");
        assert!(ns("from_ns") > 0.0 && ns("detailed_from_ns") == ns("from_ns"), "{point}");
        let parallel = point["parallel"]["end_ns"].as_f64().expect("a time");
        assert!((parallel / ns("end_ns") - 1.0).abs() < 1e-9, "{point}");
    }
    let text = part("threads", &["--until", "threads"]);
    let text = String::from_utf8_lossy(&text.stdout);
    for words in ["from threads until threads on opteron-6344-4s", "Caches are empty"] {
        assert!(text.contains(words), "{text}");
    }
    assert!(text.contains("What bounds the run on 4 cores"), "{text}");
    let text = part("threads", &["--warm-from", "1000s"]);
    let text = String::from_utf8_lossy(&text.stdout);
    assert!(text.contains("--warm-from 1000s was not reached before that"), "{text}");
    for (from, more, words) in [
        (
            "mian",
            &[][..],
            "did you mean main? If not, the compiler may have put it into its callers",
        ),
        ("main@2", &[], "called it once"),
        ("2 weeks", &[], "200ms or 1.5s"),
        ("main@0", &[], "solve@3"),
        ("main", &["--until", "start"], "nothing ends where it begins"),
        ("main", &["--until", "1ns"], "--until 1ns came before --from main"),
        ("2ms", &["--until", "1ms"], "--until 1ms does not come after --from 2ms"),
        ("1ms", &["--warm-from", "2ms"], "--warm-from 2ms comes after --from 1ms"),
    ] {
        let refused = part(from, more);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{from}: {said}");
        assert!(said.contains(words), "{from}: {said}");
    }
}

#[test]
fn a_document_that_was_written_is_shown_with_the_figures_that_it_has() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "sums", SUMS, &[]);
    let [written, stacks] = ["a.json", "stacks.txt"].map(|name| folder.path().join(name));
    let [written, stacks] = [&written, &stacks].map(|path| path.to_str().expect("plain"));
    let words = ["emulate", "--machine", "opteron-6344-4s", "--cores", "1,4", "--from", "threads"];
    let files = ["--output", written, "--stacks", stacks];
    let told = run(&[&words[..], &files].concat(), &program, &["{cores}", "400"]);
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    let show = |file: &str, more: &[&str]| {
        let output = kilocore().arg("show").arg(file).args(more).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let shown = show(written, &[]);
    assert!(shown.contains("from threads on opteron-6344-4s (emulated)"), "{shown}");
    // What chance decides is not shown again.
    let row = |text: &str| {
        let row = text.lines().find(|line| line.starts_with("4  ")).expect("a row").to_owned();
        row.split_whitespace().take(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row(&shown), row(&told));
    let again: Value = serde_json::from_str(&show(written, &["--json"])).expect("a document");
    let first = std::fs::read_to_string(written).expect("it is there");
    assert_eq!(again, serde_json::from_str::<Value>(&first).expect("a document"));
    let shown = show(stacks, &[]);
    assert!(shown.contains("on 4 cores (emulated)") && shown.contains("add"), "{shown}");
    std::fs::write(written, first.replace("\"end_ns\"", "\"end\"")).expect("there is room");
    let refused = kilocore().args(["show", written]).output().expect("it runs");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains(written) && said.contains("emulate the program anew"), "{said}");
}

#[test]
fn what_becomes_of_standard_input_is_said() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let file = folder.path().join("in");
    std::fs::write(&file, "1\n2\n3\n").expect("there is room");
    let said = |input: Stdio| {
        let mut command = kilocore();
        command.env("XDG_CACHE_HOME", folder.path()).env_remove("KILOCORE_NO_CACHE");
        command.args(["emulate", "--machine", "opteron-6344-4s", "--cores", "1", "--", "cat"]);
        let output = command.stdin(input).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout), text(&output.stderr).contains("2\n3\n"))
    };
    const PIPE: &str = "as a pipe cannot be read again for each run; `< FILE` can";
    let (piped, was_given) = said(Stdio::piped());
    assert!(piped.contains(PIPE) && !was_given, "{piped}");
    let (none, _) = said(Stdio::null());
    assert!(!none.contains(PIPE) && !none.contains("standard input"), "{none}");
    let (given, was_given) = said(File::open(&file).expect("it is there").into());
    assert!(was_given && !given.contains(PIPE), "{given}");
    assert!(given.contains("its standard input is a file; name that file"), "{given}");
}

#[test]
fn what_an_instruction_takes_is_measured_and_said() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "sums", SUMS, &[]);
    let words = [
        "emulate",
        "--machine",
        "opteron-6344-4s",
        "--cores",
        "1",
        "--cycles-per-instruction",
        "measured",
        "--json",
    ];
    let output = run(&words, &program, &["1", "400000"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let cycles = document(&output)["cycles_per_instruction"].as_f64().expect("a figure");
    assert!((0.16..5.0).contains(&cycles), "{cycles}");
    assert!(
        said.contains(&format!("--cycles-per-instruction {cycles} gives these figures again")),
        "{said}"
    );
    let short = run(&words, &program, &["1", "10"]);
    let said = String::from_utf8_lossy(&short.stderr);
    assert_eq!(short.status.code(), Some(2), "{said}");
    assert!(said.contains("too short") && said.contains("20.0 ms at least"), "{said}");
}

#[test]
fn what_was_emulated_before_is_known_and_said() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let cache = folder.path().canonicalize().expect("its path");
    // A few milliseconds later it will not count as changed a moment before.
    let program = compiled(&folder, "sums", SUMS, &[]);
    let words = |cores, options: &[&'static str]| {
        let first = ["emulate", "--machine", "opteron-6344-4s", "--cores", cores];
        [&first[..], options].concat()
    };
    let asked = |cores, options: &[&'static str]| {
        run_keeping(&cache, &words(cores, options), &program, &["{cores}", "2400"])
    };
    let (said, first) = parted(document(&asked("1,6", &["--json"])));
    assert_eq!(said, [[Value::Null, Value::Null], [Value::Null, Value::Null]]);
    let (said, second) = parted(document(&asked("1,6,12", &["--json"])));
    assert!(said[0][0].as_str().is_some_and(|when| when.ends_with('Z')), "{said:?}");
    assert!(said[1][0].is_string() && said[2][0].is_null(), "{said:?}");
    assert_eq!(second[..2], first);
    let told = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let text = told(&asked("1,6,24", &[]));
    assert!(text.contains("known from before, emulated 20"), "{text}");
    assert!(text.contains("Z: on 1, 6 cores\n") && text.contains("--no-cache"), "{text}");
    let text = told(&asked("1,6,24", &[]));
    assert!(text.contains("Z: all\n"), "{text}");
    let text = told(&asked("1,6,24", &["--no-cache"]));
    assert!(!text.contains("known"), "{text}");
    // What one run has told, the first of two tells as well.
    let text = told(&asked("48", &["--seeds", "1"]));
    assert!(text.contains("how much chance matters is not known"), "{text}");
    let text = told(&asked("48", &[]));
    assert!(text.contains("Z: on 48 (1 of 2 runs) cores\n"), "{text}");
    let (said, anew) = parted(document(&asked("1,6", &["--json", "--no-cache"])));
    assert!(said.iter().flatten().all(Value::is_null), "{said:?}");
    assert!(anew == first);
    // Whatever else is in the environment, the program sees.
    let other = [("ANOTHER", "1"), ("QEMU_LD_PREFIX", "/nowhere")];
    for (name, value) in other {
        let again = |_| {
            let mut command =
                keeping(&cache, &words("1", &["--json"]), &program, &["{cores}", "2400"]);
            command.env(name, value);
            let (said, _) = parted(document(&run_while(command, |_| ())));
            said[0][0].is_string()
        };
        // With QEMU told to look elsewhere first, nobody knows what it has found.
        assert_eq!([1, 2].map(again), [false, name == "ANOTHER"], "{name}");
    }
    // As a table for spreadsheets.
    let table = folder.path().join("points.csv");
    let table = table.to_str().expect("plain").to_owned();
    let output = run_keeping(
        &cache,
        &[&words("1", &[])[..], &["--output", &table]].concat(),
        &program,
        &["1", "2400"],
    );
    assert!(output.status.success());
    let rows = std::fs::read_to_string(&table).expect("it is written");
    assert!(rows.lines().next().is_some_and(|head| head.ends_with(",known_since")), "{rows}");
}

#[test]
fn the_doctor_holds_its_forecast_against_the_program_itself() {
    let folder = TempDir::new().expect("a folder of the test's own");
    let program = compiled(&folder, "sums", SUMS, &[]);
    let words = [
        "doctor",
        "--machine",
        "opteron-6344-4s",
        "--cores",
        "1,6,12",
        "--emulate",
        "--json",
        "--budget",
        "0",
    ];
    let output = run(&words, &program, &["{cores}", "200000"]);
    let told = document(&output);
    let points = told["emulated"]["points"].as_array().expect("it was emulated");
    let own: Vec<&Value> = points.iter().filter(|point| point["lock"].is_null()).collect();
    assert_eq!(own.len(), 3, "{points:?}");
    assert!(
        own[2]["speedup"].as_f64().is_some_and(|times| (0.2..12.0).contains(&times)),
        "{own:?}"
    );
    let text = told["recommendation"]["text"].to_string()
        + &told["recommendation"]["headline"].to_string();
    assert!(
        text.contains("on the simulated opteron-6344-4s") && text.contains("(emulated)"),
        "{text}"
    );
}
