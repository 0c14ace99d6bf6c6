//! What is no trace, or no longer one.

use std::path::Path;

use kilocore_page_trace::{Page, Reader, Trace, write_text};
use proptest::prelude::*;

use crate::made::{many, packed, read, some_events};

/// What comes before the first packet: the kind of file, and the version.
const BEGINNING: usize = 12;

#[track_caller]
fn refused(bytes: &[u8], parts: &[&str]) {
    let error = read(bytes).expect_err("it is no trace");
    for part in parts {
        assert!(error.contains(part), "no '{part}' in: {error}");
    }
}

#[test]
fn what_is_something_else_is_no_trace() {
    for bytes in [&b""[..], b"KC-PAG", b"PERFILE2 and more", &[0; 100]] {
        refused(bytes, &["no trace of pages", "kilocore record pages"]);
    }
    let error = Trace::read(Path::new("/no/such.pages")).expect_err("there is none").to_string();
    assert!(error.starts_with("/no/such.pages: ") && error.contains("exists"), "{error}");
    let error = Trace::read(Path::new("/")).expect_err("a folder").to_string();
    assert!(error.starts_with("/: "), "{error}");
}

#[test]
fn newer_traces_are_told_from_damaged_ones() {
    let mut bytes = packed(&many());
    bytes[8] = 2;
    refused(&bytes, &["at byte 8: ", "version 2", "update Kilocore"]);
    bytes[8] = 0;
    refused(&bytes, &["at byte 8: ", "damaged"]);
}

#[test]
fn a_trace_that_was_cut_off_says_where() {
    let bytes = packed(&many());
    for length in [BEGINNING, BEGINNING + 3, 200, bytes.len() / 2, bytes.len() - 1] {
        refused(&bytes[..length], &["at byte ", "cut off"]);
    }
    refused(&[&bytes[..], b"x"].concat(), &[&format!("at byte {}", bytes.len()), "more after"]);
}

#[test]
fn damage_is_found_by_the_checksum_and_its_packet_is_named() {
    let bytes = packed(&many());
    let header = 12 + u32::from_le_bytes(bytes[20..24].try_into().expect("four")) as usize;
    let mut damaged = bytes.clone();
    damaged[BEGINNING + 20] ^= 1;
    refused(&damaged, &["at byte 12: ", "damaged"]);
    let mut damaged = bytes.clone();
    damaged[BEGINNING + header + 5_000] ^= 1;
    refused(&damaged, &[&format!("at byte {}: ", BEGINNING + header), "damaged"]);
    // A packet that says that it has another number of events.
    let mut damaged = bytes;
    damaged[BEGINNING + header..][..4].copy_from_slice(&7_u32.to_le_bytes());
    refused(&damaged, &["event 1, in the packet at byte", "another number of events"]);
}

#[test]
fn a_packet_cannot_ask_for_memory_that_it_does_not_fill() {
    let mut bytes = packed(&[]);
    bytes.truncate(BEGINNING);
    for size in [1 << 20, u32::MAX] {
        for packed in [100, u32::MAX] {
            let numbers = [1, size, packed].map(u32::to_le_bytes).concat();
            refused(&[&bytes[..], &numbers, b"short"].concat(), &["at byte 12: "]);
        }
    }
}

#[test]
fn text_is_refused_with_its_line() {
    let trace = read(&packed(&[])).expect("it was written");
    let mut header = Vec::new();
    write_text(&mut header, &trace.header, []).expect("there is room");
    let with = |lines: &str| [&header[..], lines.as_bytes()].concat();
    let line = r#"{"at":5,"cpu":0,"thread":1,"allocate":{"page":3,"order":0,"zeroed":true,"movable":true}}"#;
    let twice = format!("{line}\n\n{line}\n");
    refused(&with(&twice), &["line 4: ", "allocates pages that are held"]);
    let unaligned = line.replace(r#""order":0"#, r#""order":1"#);
    refused(&with(&unaligned), &["line 2: ", "multiple of its size"]);
    refused(&with(&line.replace(r#""order":0"#, r#""order":11"#)), &["line 2: ", "at most 10"]);
    refused(&with(&line.replace(":3,", &format!(":{},", Page::MOST))), &["line 2: ", "beyond"]);
    refused(&with(&line.replace(r#""cpu":0"#, r#""cpu":9999999"#)), &["line 2: ", "beyond"]);
    let earlier = r#"{"at":4,"cpu":0,"thread":1,"release":{"page":3,"order":0}}"#;
    refused(&with(&format!("{line}\n{earlier}")), &["line 3: ", "older"]);
    refused(&with("nonsense\n"), &["line 2: column"]);
    refused(&with(&" ".repeat(5_000)), &["line 2: ", "longer"]);
    refused(b"{}", &["line 1: "]);
}

proptest! {
    #[test]
    fn damaged_bytes_are_refused_or_harmless(
        events in some_events(),
        at in any::<prop::sample::Index>(),
        change in 1u8..,
    ) {
        let mut bytes = packed(&events);
        let place = at.index(bytes.len());
        bytes[place] ^= change;
        // Whatever is still read keeps the promises: the reader checks them again.
        if let Ok(trace) = read(&bytes) {
            prop_assert_eq!(trace.events, events);
        }
    }

    #[test]
    fn no_bytes_are_too_strange(bytes: Vec<u8>) {
        let _ = read(&bytes);
        let _ = read(&[b"KC-PAGES\x01\0\0\0", &bytes[..]].concat());
        if let Ok(reader) = Reader::new(&bytes[..]) {
            reader.for_each(drop);
        }
    }
}
