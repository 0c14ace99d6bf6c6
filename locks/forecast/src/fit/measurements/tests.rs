//! Input that users may supply, good and bad.

use kilocore_locks::LockId;
use proptest::prelude::*;

use super::{InputPlace, Measurement, Measurements};

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
fn rows_that_cannot_be_used_are_named_with_the_reason() {
    let read = parse(
        "lock,cores,throughput,threads\nmcs,6,20,\nmcs,12,-5,\nmcs,12,0,\nmcs,12,,\nmcs,12,fast,\n\
         mcs,12,NaN,\nmcs,12,inf,\nmcs,12,1e999,\nmcs,0,5,\nmcs,1.5,5,\nmcs,-6,5,\nno-such-lock,6,5,\n\
         mcs,6,5,12\nmcs,6\nmcs,6,1,5,7\n,6,5,\n",
    );
    assert_eq!(read.points, [point(LockId::Mcs, None, 6, 20.0)]);
    let expected = [
        (3, "negative"),
        (4, "zero"),
        (5, "throughput is absent"),
        (6, "'fast', not a number"),
        (7, "not a number"),
        (8, "infinite"),
        (9, "infinite"),
        (10, "whole number from 1"),
        (11, "whole number from 1"),
        (12, "whole number from 1"),
        (13, "no counterpart of lock 'no-such-lock'"),
        (14, "12 threads on 6 cores"),
        (15, "throughput is absent"),
        (16, "decimal comma"),
        (17, "lock is absent"),
    ];
    assert_eq!(read.left_out.len(), expected.len(), "{:?}", read.left_out);
    for (left_out, (line, why)) in read.left_out.iter().zip(expected) {
        assert_eq!(left_out.place, InputPlace::Line(line), "{left_out}");
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
    refused(b"mcs,6,20\n", &["no column lock", "'mcs', '6', '20'"]);
    refused(b"lock,cores,cores,throughput\nmcs,6,6,20\n", &["two columns for cores"]);
    refused(
        b"lock,cores,throughput\nno-such-lock,6,1\nmcs,6,-1\nmcs,0,1\nmcs,6,x\n",
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
