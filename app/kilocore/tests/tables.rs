//! `kilocore forecast` of the tables that people have: each form that the page of the format shows, and
//! what is compared without a machine.

use std::path::Path;

use serde_json::Value;

use crate::common::{file, kilocore};

const PAGE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/formats/measured-throughputs.md");

/// The contents of all fenced blocks of a kind.
fn blocks(kind: &str) -> Vec<String> {
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let fence = format!("```{kind}\n");
    let block = |rest: &str| rest.split("```").next().expect("it is closed").to_owned();
    page.split(&fence).skip(1).map(block).collect()
}

/// What `forecast --json` prints of a table.
#[track_caller]
fn compared(name: &str, table: &str, more: &[&str]) -> Value {
    let path = file(name, table.as_bytes());
    let path = path.to_str().expect("a plain path");
    let output = kilocore(&[&["forecast", path, "--json"], more].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{table}: {message}");
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[track_caller]
fn refused(name: &str, table: &[u8], more: &[&str], parts: &[&str]) {
    let path = file(name, table);
    let path = path.to_str().expect("a plain path");
    let output = kilocore(&[&["forecast", path], more].concat());
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{name}: {message}");
    assert!(output.stdout.is_empty(), "{name} printed {:?}", output.stdout);
    for part in parts {
        assert!(message.contains(part), "{name}: no '{part}' in: {message}");
    }
}

/// The names of a document's variants.
fn names(document: &Value) -> Vec<&str> {
    let variants = document["variants"].as_array().expect("variants");
    variants.iter().map(|variant| variant["variant"].as_str().expect("a name")).collect()
}

#[test]
fn each_form_of_the_page_is_read() {
    let expected: [(&[&str], usize, f64); 10] = [
        (&["throughput"], 4, 100.0),
        (&["pthread", "mcs_spin", "ticket"], 4, 282_388.0),
        (&["mutex", "spinlock", "mcs"], 8, 21.5e6),
        (&["mutex", "mcs"], 4, 21.5),
        (&["std::mutex", "mcs"], 4, 21.5e6),
        (&["Durchsatz"], 2, 1_234_567.5),
        (&["MutexMap", "SyncMap"], 4, 1e9 / 96.2),
        (&["mcs"], 2, 407_770.0),
        (&["throughput"], 2, 5e5),
        (&["throughput"], 2, 1.0 / 40.12),
    ];
    let blocks = blocks("table");
    assert_eq!(blocks.len(), expected.len(), "{blocks:?}");
    for (at, (block, (variants, points, first))) in blocks.iter().zip(expected).enumerate() {
        let document = compared(&format!("form-{at}.txt"), block, &[]);
        assert_eq!(names(&document), variants, "{block}");
        let read = document["points"].as_array().expect("points");
        assert_eq!(read.len(), points, "{block}");
        let throughput = read[0]["throughput"].as_f64().expect("a figure");
        assert!((throughput / first - 1.0).abs() < 1e-9, "{throughput}: {block}");
    }
}

#[test]
fn what_the_page_says_is_refused_is_refused_with_its_place() {
    let blocks = blocks("refused");
    assert_eq!(blocks.len(), 1);
    let parts = ["form-refused.csv: line 2, column 2 (ops/s)", "1234 or 1.234", "write it"];
    refused("form-refused.csv", blocks[0].as_bytes(), &[], &parts);
}

#[test]
fn variants_are_compared_without_a_machine() {
    let table = "threads,mine,theirs\n1,10,8\n2,15,14\n4,12,24\n";
    let document = compared("variants.csv", table, &["--cores", "1,64"]);
    assert_eq!(document["schema"], "kilocore-comparison/1");
    assert_eq!(document["provenance"], "measured");
    let best = document["best"].as_array().expect("the best");
    let best: Vec<&str> = best.iter().filter_map(|on| on["variant"].as_str()).collect();
    assert_eq!(best, ["mine", "mine", "theirs"]);
    let law = &document["variants"][0]["law"];
    assert!(law["sigma"].as_f64().is_some_and(|sigma| sigma >= 0.0), "{law}");
    assert_eq!(law["points"][1]["cores"], 64);

    let path = file("variants.csv", table.as_bytes());
    let path = path.to_str().expect("plain");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let files =
        ["html", "svg", "csv", "md"].map(|ending| folder.join(format!("variants-out.{ending}")));
    let mut words = vec!["forecast", path];
    words.extend(files.iter().flat_map(|file| ["--output", file.to_str().expect("plain")]));
    let output = kilocore(&words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown = String::from_utf8(output.stdout).expect("text");
    for part in ["law on 8", "theirs", "2.00 ×"] {
        assert!(shown.contains(part), "no '{part}' in: {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "{shown}");
    let hint = String::from_utf8_lossy(&output.stderr);
    assert!(hint.contains("--machine") && hint.contains("--lock-of"), "{hint}");
    for file in &files {
        let written = std::fs::read_to_string(file).expect("a report");
        assert!(written.contains("theirs"), "{}", file.display());
    }
    // What it writes is read again.
    let again = std::fs::read_to_string(&files[2]).expect("the rows");
    let again = compared("variants-again.csv", &again, &["--cores", "1,64"]);
    assert_eq!(again["points"], document["points"]);
    assert_eq!(again["variants"], document["variants"]);
}

#[test]
fn a_variant_that_is_said_to_be_a_lock_is_forecast_as_one() {
    let table = "threads,mutex,mcs\n1,10,9\n2,7,8\n4,5,7\n";
    let words = ["--machine", "core-i7-6700", "--cores", "4", "--lock", "mcs,futex"];
    let named = [&words[..], &["--lock-of", "mutex=futex"]].concat();
    let document = compared("lock-of.csv", table, &named);
    let points = document["points"].as_array().expect("points");
    let given: Vec<(&str, f64)> = points
        .iter()
        .map(|p| (p["lock"].as_str().expect("a lock"), p["given"].as_f64().expect("measured")))
        .collect();
    assert_eq!(given, [("mcs", 7.0), ("futex", 5.0)]);
    let unnamed = compared("lock-of.csv", table, &words);
    assert_eq!(unnamed["left_out"][0]["variant"], "mutex", "{unnamed:#}");

    let two = b"threads,throughput\n1,10\n2,7\n4,5\n";
    for (more, parts) in [
        (&["--lock-of", "throughput=mcss"][..], ["`mcs`", "Known are tas"]),
        (&["--lock-of", "throughput"], ["VARIANT=LOCK", "mutex=futex"]),
        (&["--lock-of", "other=mcs"], ["no variant is called 'other'", "throughput"]),
        (&["--lock", "mcs"], ["--lock is for forecasts of locks", "--machine"]),
        (&["--machine", "core-i7-6700", "--seed", "2"], ["--seed", "--lock-of"]),
    ] {
        refused("lock-of-two.csv", two, more, &parts);
    }
}

#[test]
fn bad_tables_are_refused_with_their_place_and_the_mend() {
    let long = format!("threads,ops/s\n1,{}\n", "9".repeat(5000));
    let rows = "1,2\n".repeat(250_000);
    for (name, table, parts) in [
        ("bad-quote.csv", &b"threads,ops/s\n1,\"5\n2,6\n"[..], ["line 2, column 2", "close it"]),
        ("bad-nan.csv", b"threads,ops/s\n1,nan\n2,-3\n", ["line 2, column 2", "not a number"]),
        ("bad-inf.csv", b"threads,ops/s\n1,inf\n2,0\n", ["line 2, column 2", "infinite"]),
        ("bad-minus.csv", b"threads;ns/op\n1;-5\n", ["line 2, column 2", "negative"]),
        ("bad-name.csv", b"lock,nodes,ops/s\nmcs,1,5\n", ["no column threads", "'nodes'"]),
        ("bad-twice.csv", b"threads,ops/s,MB/s\n1,5,6\n", ["'ops/s' and 'MB/s'", "keep one"]),
        ("bad-two.md", b"a|threads\n-|--\n1|2\n\nb|c\n-|--\n", ["line 1 on", "keep one"]),
        ("bad-field.csv", long.as_bytes(), ["line 2, column 2", "shorten it"]),
        ("bad-rows.csv", rows.as_bytes(), ["200000 rows", "keep those"]),
        ("bad-one.csv", b"threads,ops/s\n4,5\n", ["on 4 cores", "two numbers of cores"]),
    ] {
        refused(name, table, &[], &[name, parts[0], parts[1]]);
    }
}
