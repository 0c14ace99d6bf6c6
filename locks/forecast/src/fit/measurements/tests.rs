//! Input that users may supply, good and bad.

use kilocore_figures::Provenance;
use kilocore_locks::LockId;
use proptest::prelude::*;

use super::{InputPlace, MeasuredTable, Measurement, Measurements, ReadError};

fn parse(text: &str) -> Measurements {
    Measurements::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

fn refused(bytes: &[u8], parts: &[&str]) {
    let error = Measurements::parse(bytes).expect_err("refused").to_string();
    for part in parts {
        assert!(error.contains(part), "'{part}' in: {error}");
    }
    assert!(!error.contains('\n'), "one line: {error}");
}

fn point(lock: LockId, alias: Option<&str>, cores: u32, throughput: f64) -> Measurement {
    Measurement { lock, alias: alias.map(ToOwned::to_owned), cores, throughput }
}

#[test]
fn the_plain_case_comes_sorted_and_keeps_the_names_used() {
    let read = parse("lock,cores,throughput\npthread,12,30.5\nmcs,6,2e1\npthread,6,20\n");
    let expected = [
        point(LockId::Mcs, None, 6, 20.0),
        point(LockId::Futex, Some("pthread"), 6, 20.0),
        point(LockId::Futex, Some("pthread"), 12, 30.5),
    ];
    assert_eq!(read.points, expected);
    assert_eq!(read.left_out, []);
}

#[test]
fn what_spreadsheets_write_is_understood() {
    let expected = parse("lock,cores,throughput\nmcs,6,20\nticket,6,10\n");
    for text in [
        "\u{feff}lock,cores,throughput\r\nmcs,6,20\r\nticket,6,10\r\n",
        "cores;throughput;lock\n6;20;mcs\n\n6;10;ticket",
        "Lock\tCores\tThroughput\nmcs\t6\t20\nticket\t6\t10\n",
        "# from last night\n lock , cores , throughput \n mcs , 6 , 20 \n,,\nMCS,6,20.0\n\"ticket\", 6.0 ,1e1",
        "lock,cores,threads,throughput\rmcs,6,6,20\rticket,6,,10\r",
        r#"[{"lock":"mcs","cores":6,"throughput":20},{"lock":"ticket","cores":"6","throughput":"10"}]"#,
        r#"{"points":[{"lock":"mcs","cores":6.0,"throughput_per_s":20,"x":1},{"lock":"ticket","cores":6,"threads":6,"throughput":10.0}]}"#,
    ] {
        let read = parse(text);
        assert_eq!(read.points, expected.points, "{text}");
        assert_eq!(read.left_out, [], "{text}");
    }
}

#[test]
fn where_figures_come_from_is_what_the_input_says() {
    for (text, from) in [
        ("lock,cores,throughput\nmcs,6,20\n", Provenance::Measured),
        (
            "provenance,locks,cores,time_ns,speedup\nemulated,own,1,5,1\nemulated,own,2,3,1.6\n",
            Provenance::Emulated,
        ),
        ("provenance;threads;a;b\npublished;1;5;6\n;2;5;6\n", Provenance::Published),
        (
            r#"{"provenance":"simulated","points":[{"cores":6,"throughput":20}]}"#,
            Provenance::Simulated,
        ),
        (r#"[{"cores":6,"throughput":20,"provenance":"emulated"}]"#, Provenance::Emulated),
        // What was given was measured, and what was forecast beside it was simulated.
        ("lock,cores,throughput,given,provenance\nmcs,6,20,19,simulated\n", Provenance::Measured),
        (
            r#"{"provenance":"simulated","points":[{"cores":6,"throughput":20,"given":19}]}"#,
            Provenance::Measured,
        ),
    ] {
        let table = MeasuredTable::parse(text.as_bytes()).expect(text);
        assert_eq!(table.provenance, from, "{text}");
    }
    let known = "measured, simulated, emulated, published, estimated";
    refused(
        b"lock,cores,throughput,provenance\nmcs,6,20,measured\nmcs,7,20,dreamt\n",
        &["line 3, column 4", "'dreamt'", known, "leave it out"],
    );
    refused(
        b"lock,cores,throughput,provenance\nmcs,6,20,measured\nmcs,7,20,emulated\n",
        &["line 3, column 4", "'emulated' here and 'measured' before", "keep"],
    );
    refused(
        br#"{"provenance":7,"points":[{"cores":6,"throughput":20}]}"#,
        &["column provenance", "'7'", known],
    );
    refused(
        br#"{"points":[{"cores":6,"throughput":20,"provenance":"x"}]}"#,
        &["point 0", "'x'", known],
    );
}

#[test]
fn of_repeats_the_median_is_taken_for_each_name() {
    let read = parse(
        "lock,cores,throughput\nmcs,6,30\nmcs,6,10\nmcs,6,20\nmcs_spin,6,1\nmcs_spin,6,2\nmcs,7,5\n",
    );
    let expected = [
        point(LockId::Mcs, None, 6, 20.0),
        point(LockId::Mcs, None, 7, 5.0),
        point(LockId::Mcs, Some("mcs_spin"), 6, 1.5),
    ];
    assert_eq!(read.points, expected);
}

#[test]
fn fields_that_cannot_be_used_are_named_with_the_reason() {
    let read = parse(
        "lock,cores,throughput,threads\nmcs,6,20,\nmcs,12,-5,\nmcs,12,0,\nmcs,12,,\nmcs,12,fast,\n\
         mcs,12,NaN,\nmcs,12,inf,\nmcs,12,1e999,\nmcs,0,5,\nmcs,1.5,5,\nmcs,-6,5,\n\
         mcs,6,5,12\nmcs,6\nmcs,6,1,5,7\n,6,5,\nmcs,6,5 apples,\nmcs,6,5 ms,\nno-such-lock,6,5,\n",
    );
    assert_eq!(read.points, [point(LockId::Mcs, None, 6, 20.0)]);
    let expected = [
        ("line 3, column 3", "negative"),
        ("line 4, column 3", "zero"),
        ("line 5, column 3", "throughput is absent"),
        ("line 6, column 3", "'fast', not a number"),
        ("line 7, column 3", "not a number"),
        ("line 8, column 3", "infinite"),
        ("line 9, column 3", "infinite"),
        ("line 10, column 2", "whole number from 1"),
        ("line 11, column 2", "whole number from 1"),
        ("line 12, column 2", "whole number from 1"),
        ("line 13, column 4", "12 threads on 6 cores"),
        ("line 14, column 3", "throughput is absent"),
        ("line 15", "put quotes around it"),
        ("line 16, column 1", "lock is absent"),
        ("line 17, column 3", "a unit that is known"),
        ("line 18, column 3", "unit of its column"),
        ("variant no-such-lock", "no counterpart of lock 'no-such-lock'"),
    ];
    assert_eq!(read.left_out.len(), expected.len(), "{:?}", read.left_out);
    for (left_out, (place, why)) in read.left_out.iter().zip(expected) {
        assert_eq!(left_out.place.to_string(), place, "{left_out}");
        assert!(left_out.why.contains(why), "{left_out}");
    }
}

#[test]
fn columns_that_are_not_needed_are_noted_once() {
    let read = parse("program,runs,lock,cores,throughput\na,5,mcs,6,20\na,5,mcs,12,30\n");
    let [noted] = read.left_out.as_slice() else { panic!("{:?}", read.left_out) };
    assert_eq!(noted.to_string(), "columns program, runs: not needed for a fit");
}

#[test]
fn our_own_output_gives_back_what_was_given() {
    let read = parse(
        r#"{"machine":"m","points":[
            {"lock":"mcs","alias":"mcs_spin","cores":6,"throughput":21.5,"low":20,"high":23,"given":20},
            {"lock":"mcs","alias":"mcs_spin","cores":12,"throughput":30.0,"low":1,"high":90,"given":null}]}"#,
    );
    assert_eq!(read.points, [point(LockId::Mcs, Some("mcs_spin"), 6, 20.0)]);
    assert_eq!(read.left_out[0].place, InputPlace::Point(1));
    assert!(read.left_out[0].why.contains("forecast"));
}

#[test]
fn files_that_hold_nothing_usable_are_refused_in_one_line() {
    refused(b"", &["empty"]);
    refused(b" \r\n\n", &["empty"]);
    refused(b"\xef\xbb\xbf", &["empty"]);
    refused(b"\x1f\x8b\x08\x00", &["gzip", "unpack"]);
    refused(b"PK\x03\x04....", &["spreadsheet", "CSV"]);
    refused(b"\xff\xfel\0o\0", &["UTF-16"]);
    refused(b"lock,cores,throughput\nmcs,6,\xff\n", &["UTF-8", "28"]);
    refused(b"lock,cores,throughput\n", &["no row"]);
    refused(b"lock,cores\nmcs,6\n", &["no column throughput", "'lock', 'cores'"]);
    refused(b"mcs,6,20\n", &["no column threads and no column throughput", "'mcs', '6', '20'"]);
    refused(b"lock,cores,cores,throughput\nmcs,6,6,20\n", &["two columns for cores"]);
    refused(
        b"lock,cores,throughput\nmcs,6,nan\nmcs,6,-1\nmcs,0,1\nmcs,6,x\n",
        &["line 2", "line 3", "line 4", "and 1 more"],
    );
    refused(
        b"program,lock,cores,throughput\na,mcs,6,1\nb,mcs,6,2\n",
        &["program", "'a'", "'b'", "rows of one"],
    );
    refused(b"[{\"lock\":\"mcs\",", &["not JSON", "line 1"]);
    refused(b"{\"curves\":[]}", &["curves", "points"]);
    refused(b"{\"points\":7}", &["points is no array"]);
    refused(b"[]", &["no measurement"]);
    refused(b"[1,\"a\"]", &["point 0", "not an object"]);
    refused(b"[{\"lock\":\"mcs\",\"cores\":6}]", &["no column throughput", "'cores', 'lock'"]);
    refused(b"[{\"lock\":\"mcs\",\"cores\":6,\"throughput\":true}]", &["not a number"]);
}

#[test]
fn control_characters_of_foreign_text_do_not_reach_messages() {
    refused(b"\x1b[31mlock,co\x07res\n", &["\u{fffd}"]);
    refused(b"\x1b[31mlock\n", &["\u{fffd}", "separates"]);
    let error = Measurements::parse(b"lock,cores,throughput\n\x1b[2Jx,6,1\n").expect_err("refused");
    assert!(!error.to_string().contains('\x1b'), "{error}");
}

#[test]
fn what_the_machine_cannot_run_is_left_out() {
    let mut read = parse("lock,cores,throughput\nmcs_spin,64,5\nmcs_spin,48,6\n");
    read.leave_out_beyond("opteron", 48).unwrap();
    assert_eq!(read.points, [point(LockId::Mcs, Some("mcs_spin"), 48, 6.0)]);
    assert_eq!(
        read.left_out[0].to_string(),
        "mcs_spin on 64 cores: opteron has 48 hardware threads"
    );
}

fn any_points() -> impl Strategy<Value = Vec<Measurement>> {
    let lock = prop::sample::select(LockId::ALL);
    let throughput = prop::num::f64::POSITIVE | prop::num::f64::SUBNORMAL;
    let one = (lock, any::<bool>(), 1..2000_u32, throughput).prop_map(
        |(lock, alias, cores, throughput)| {
            let alias = lock.info().aliases.first().filter(|_| alias);
            point(lock, alias.copied(), cores, throughput.abs())
        },
    );
    prop::collection::vec(one, 1..40).prop_map(|mut points| {
        points.sort_by_key(|p| (p.lock, p.alias.clone(), p.cores));
        points.dedup_by_key(|p| (p.lock, p.alias.clone(), p.cores));
        points
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>) {
        let _ = Measurements::parse(&bytes);
    }

    #[test]
    fn no_text_under_the_right_names_makes_it_panic(text in "[ -~\r\n\t;\"]{0,200}") {
        let _ = Measurements::parse(format!("lock,cores,throughput\n{text}").as_bytes());
        let _ = MeasuredTable::parse(format!("threads;time;mutex (ms)\n{text}").as_bytes());
        let _ = MeasuredTable::parse(format!("BenchmarkX-2 1 {text} ns/op").as_bytes());
        let _ = MeasuredTable::is_likely(&text);
        let _ = Measurements::parse(format!("[{{\"lock\":{text}").as_bytes());
    }

    #[test]
    fn points_come_back_as_they_were_written(points in any_points()) {
        let mut csv = String::from("throughput,lock,cores\n");
        let mut json = Vec::new();
        for point in &points {
            csv += &format!("{:e},{},{}\n", point.throughput, point.name(), point.cores);
            json.push(serde_json::json!({
                "lock": point.name(), "cores": point.cores, "throughput": point.throughput,
            }));
        }
        let json = serde_json::to_vec(&json).expect("plain values");
        for bytes in [csv.as_bytes(), &json] {
            let read = Measurements::parse(bytes).expect("as written");
            prop_assert_eq!(&read.points, &points);
            prop_assert!(read.left_out.is_empty());
        }
    }
}

#[test]
fn where_nothing_is_left_it_says_what_is_too_large_and_what_could_not_be_read() {
    let refused = |rows: &str| {
        let mut read = parse(&format!("lock,cores,throughput\n{rows}"));
        read.leave_out_beyond("opteron", 48).unwrap_err().to_string()
    };
    let all = refused("mcs,64,1\nmcs,96,2\n");
    assert!(all.contains("all are on more cores") && !all.contains("not be read"), "{all}");
    let some = refused("mcs,64,1\nmcs,x,2\n");
    assert!(some.contains("one could not be read (line 3"), "{some}");
    assert!(!some.contains("all are") && some.contains("48 hardware threads"), "{some}");
    let more = refused("mcs,64,1\nmcs,x,2\nno-such-lock,1,2\n");
    assert!(more.contains("2 could not be read (the first: line 3"), "{more}");
}

/// Variants and their points.
type Read = Vec<(String, Vec<(u32, f64)>)>;

fn table(text: &str) -> Read {
    let read = MeasuredTable::parse(text.as_bytes());
    let read = read.unwrap_or_else(|error| panic!("{text}: {error}"));
    assert!(MeasuredTable::is_likely(&format!("{text}\n")), "known for what it is: {text}");
    let points = |variant: &super::Variant| {
        variant.points.iter().map(|point| (point.cores, point.throughput)).collect()
    };
    read.variants.iter().map(|variant| (variant.name.clone(), points(variant))).collect()
}

fn variant(name: &str, points: &[(u32, f64)]) -> (String, Vec<(u32, f64)>) {
    (name.to_owned(), points.to_vec())
}

#[test]
fn every_separator_and_notation_gives_the_same_figures() {
    let expected = [variant("throughput", &[(1, 1_234_567.5), (2, 2_000_000.0)])];
    for text in [
        "threads,throughput\n1,1234567.5\n2,2e6",
        "threads,throughput\n1,\"1,234,567.5\"\n2,2M",
        "threads;throughput\n1;1234567,5\n2;2000000,0",
        "threads\tthroughput\n1\t1.234.567,5\n2\t2.000.000",
        "threads;throughput\r\n1;1 234 567,5\r\n2;2 000 000\r\n",
        "threads | throughput\n1 | 1'234'567.5\n2 | 2'000'000",
        "| threads | throughput |\n|---:|:---|\n| 1 | **1,234,567.5** |\n| 2 | `2000k` |",
        "threads   throughput\n1         1234567.5\n2         2000000",
        "threads throughput\n1 1234567,5\n2 2M",
        "# threads throughput\n1 1234567.5\n2 2000000",
        "threads,Mops/s\n1,1.2345675\n2,2",
        "\u{feff}\"threads\";\"throughput\"\n\n\"1\";\"1234567,5\"\n\"2\";\"0,002G\"\n",
        "1 1234567.5\n2 2000000",
        "1;1234567,5\n2;2000000",
    ] {
        assert_eq!(table(text), expected, "{text}");
    }
}

#[test]
fn an_ambiguous_figure_is_decided_by_others_or_refused() {
    let one = |text: &str| table(text)[0].1.iter().map(|point| point.1).collect::<Vec<_>>();
    // By figures of the same column.
    assert_eq!(one("threads;ops/s\n1;1,234\n2;2,5"), [1.234, 2.5]);
    assert_eq!(one("threads;ops/s\n1;1,234\n2;1,234,567"), [1234.0, 1_234_567.0]);
    assert_eq!(one("threads;ops/s\n1;1.234\n2;2,5"), [1234.0, 2.5]);
    assert_eq!(one("threads\tops/s\n1\t1.234\n2\t1.234.567"), [1234.0, 1_234_567.0]);
    // By figures of another one.
    assert_eq!(one("threads;ops/s;stddev\n1;1,234;0,5\n2;2,345;0,5"), [1.234, 2.345]);
    assert_eq!(one("threads\tops/s\tstddev\n1\t1,234\t0.5\n2\t2,345\t0.5"), [1234.0, 2345.0]);
    // A point stands before decimals where programs write, and spreadsheets may mean either.
    assert_eq!(one("threads,ops/s\n1,1.234\n2,2.345"), [1.234, 2.345]);
    for text in
        ["threads;ops/s\n1;1,234\n", "threads;ops/s\n1;1.234\n", "threads\tops/s\n1\t1,234\n"]
    {
        refused(
            text.as_bytes(),
            &["line 2, column 2 (ops/s)", "1234 or 1.234", "no other", "write it"],
        );
    }
    refused(b"threads;ops/s\n1;1,234\n2;1,5\n3;1.5", &["line 2, column 2", "in both ways"]);
    // A count has no decimals.
    assert_eq!(table("threads;ops/s\n1.024;5\n")[0].1, [(1024, 5.0)]);
}

#[test]
fn throughputs_follow_from_times() {
    for (names, row, expected) in [
        ("threads;ns/op", "4;50", 2e7),
        ("threads;sec/op", "4;50n \u{b1} 2%", 2e7),
        ("threads;time", "4;0,5", 2.0),
        ("threads;time", "4;500 ms", 2.0),
        ("threads;real", "4;0m0.500s", 2.0),
        ("threads;elapsed (ms)", "4;500", 2.0),
        ("threads;latency (us)", "4;8", 5e5),
        ("threads;score;unit", "4;50;ns/op", 2e7),
    ] {
        let read = table(&format!("{names}\n{row}\n"));
        let (cores, throughput) = read[0].1[0];
        assert_eq!(cores, 4);
        assert!((throughput / expected - 1.0).abs() < 1e-12, "{names}: {throughput}");
        let assumed = MeasuredTable::parse(format!("{names}\n{row}").as_bytes()).unwrap().assumed;
        assert!(assumed.iter().any(|how| how.contains("the throughput is")), "{assumed:?}");
    }
}

#[test]
fn variants_stand_in_columns_or_are_named_by_one() {
    let expected = [variant("mutex", &[(1, 5.0), (2, 4.0)]), variant("mcs", &[(1, 3.0)])];
    for text in [
        "threads,mutex,mcs\n1,5,3\n2,4,-\n",
        "threads,mutex,mcs\n1,5,3\n2,4\n",
        "impl,threads,ops/s\nmutex,1,5\nmutex,2,4\nMCS,1,3\n",
        "threads,what,ops/s\n1,mutex,5\n2,mutex,4\n1,mcs,3\n",
        "| threads | `mutex` (ops/s) | mcs (ops/s) |\n|---|---|---|\n| 1 | 5 | 3 |\n| 2 | 4 | n/a |\n",
    ] {
        assert_eq!(table(text), expected, "{text}");
    }
    let json = br#"[{"variant":"mutex","threads":1,"throughput":5},{"variant":"mutex","cores":2,"throughput":4},{"lock":"mcs","cores":1,"throughput":3}]"#;
    let read = MeasuredTable::parse(json).expect("variants");
    assert_eq!(read.variants[0].name, "mutex");
    assert_eq!(read.variants[1].lock, Some(LockId::Mcs));
}

#[test]
fn a_variant_can_be_said_to_be_a_lock() {
    let text = b"threads,mutex,mcs,other\n1,5,3,9\n2,4,6,9\n";
    let mut read = MeasuredTable::parse(text).expect("variants");
    read.measured_under("mutex", LockId::Futex).expect("there is one of this name");
    let measured = read.measurements().expect("locks");
    let expected = [
        point(LockId::Mcs, None, 1, 3.0),
        point(LockId::Mcs, None, 2, 6.0),
        point(LockId::Futex, Some("mutex"), 1, 5.0),
        point(LockId::Futex, Some("mutex"), 2, 4.0),
    ];
    assert_eq!(measured.points, expected);
    assert_eq!(measured.left_out[0].place, InputPlace::Variant("other".to_owned()));
    let unknown = read.measured_under("mutexx", LockId::Futex).expect_err("no such variant");
    assert!(matches!(&unknown, ReadError::NoVariant { .. }), "{unknown}");
    assert!(unknown.to_string().contains("mutex, mcs, other"), "{unknown}");
    let twice = read.measured_under("other", LockId::Mcs).expect_err("mcs is there");
    assert!(twice.to_string().contains("'mcs' and 'other'"), "{twice}");
}

#[test]
fn what_is_too_large_is_refused_in_words() {
    refused(format!("threads,ops/s\n1,{}\n", "9".repeat(5000)).as_bytes(), &["line 2, column 2"]);
    refused(format!("threads{}\n", ",a".repeat(5000)).as_bytes(), &["line 1", "1000 fields"]);
    refused("1,2\n".repeat(300_000).as_bytes(), &["200000 rows"]);
    let names: String = (0..600).map(|name| format!("v{name},1,5\n")).collect();
    refused(format!("impl,threads,ops/s\n{names}").as_bytes(), &["500 variants"]);
    let digits = format!("threads,ops/s\n1,{}\n", "9".repeat(400));
    refused(digits.as_bytes(), &["line 2, column 2", "infinite"]);
    refused(b"threads,ns/op\n1,1e-320\n", &["too large or too small"]);
}

#[test]
fn what_is_no_table_of_throughputs_is_not_taken_for_one() {
    for text in [
        "main;work;memcpy 12\nmain;work 7\n",
        "threads;lock;mutex 12\nmain;time 7\n",
        "hello\nworld\n",
        "[topology]\ncores = 8\nthreads = 2\n",
        "schema = 1\nclock_ghz.value = 2\n",
        "1\n2\n3\n",
        "0.5 1\n0.6 2\n",
        "java 1234 567.89: cycles:\n\t7f00 main\n",
    ] {
        assert!(!MeasuredTable::is_likely(text), "{text}");
    }
}

#[test]
fn a_table_whose_first_row_is_wrong_is_one_all_the_same() {
    let wrong = "threads,throughput\n1,abc\n2,def\n";
    assert!(MeasuredTable::is_likely(wrong));
    let error = MeasuredTable::parse(wrong.as_bytes()).expect_err("no row can be used").to_string();
    assert!(error.contains("line 2, column 2: throughput is 'abc', not a number"), "{error}");
    assert!(!MeasuredTable::is_likely("a,b\nsome,words\n"));
}
