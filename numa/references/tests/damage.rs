//! Damaged files are refused, and the place is named.

use kilocore_references::{Reader, TracePosition, Wrong};
use proptest::prelude::*;

use crate::made::{many, packed, read, some_events};

#[test]
fn a_trace_that_was_cut_off_says_where_it_ends() {
    let bytes = packed(&many());
    for length in [20, 300, bytes.len() / 2, bytes.len() - 1] {
        let error = read(&bytes[..length]).expect_err("something is missing");
        assert!(matches!(error.what, Wrong::Truncated), "{length}: {error}");
        let TracePosition::Byte(at) = error.position else { panic!("{error}") };
        assert!(at <= length as u64, "{length}: {error}");
    }
    assert!(matches!(read(&bytes[..5]).expect_err("it is short").what, Wrong::NoTrace(_)));
    // What came before is given.
    let cut = &bytes[..bytes.len() - 1];
    let events = Reader::new(cut).expect("its beginning is there").filter(Result::is_ok).count();
    assert_eq!(events, many().len());
}

#[test]
fn other_files_and_other_versions_are_told_apart() {
    assert!(matches!(read(b"KC-PAGES\x01\0\0\0").expect_err("others").what, Wrong::NoTrace(_)));
    let newer = read(b"KC-REFER\x03\0\0\0").expect_err("newer");
    assert!(matches!(newer.what, Wrong::TooNew { version: 3, .. }), "{newer}");
    assert!(newer.to_string().contains("update Kilocore"), "{newer}");
    let mut more = packed(&[]);
    more.push(0);
    assert!(read(&more).expect_err("one byte too much").to_string().contains("more behind"));
}

#[test]
fn a_trace_of_the_first_version_can_be_read() {
    let mut bytes = packed(&many());
    assert_eq!(bytes[8..12], [2, 0, 0, 0]);
    bytes[8] = 1;
    assert_eq!(read(&bytes).expect("it has nothing that is new").0, many());
}

proptest! {
    #[test]
    fn no_byte_can_change(events in some_events(), place: prop::sample::Index, change in 1..=255_u8) {
        let mut bytes = packed(&events);
        let whole = read(&bytes).expect("it was written").0;
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        // A few bits of zstd's headers do not matter. None of the rest does what it should.
        if let Ok((events, _)) = read(&bytes) {
            prop_assert_eq!(events, whole);
        }
    }

    #[test]
    fn no_bytes_bring_it_down(bytes: Vec<u8>) {
        let mut file = b"KC-REFER\x02\0\0\0".to_vec();
        file.extend(&bytes);
        prop_assert!(read(&file).is_err());
        prop_assert!(read(&bytes).is_err());
    }
}
