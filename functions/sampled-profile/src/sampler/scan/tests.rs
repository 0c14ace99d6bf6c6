use std::io::Cursor;

use perf_event_open_sys::bindings::PERF_RECORD_SAMPLE;
use proptest::prelude::*;

use super::*;
use crate::sampler::own::example;

/// A whole file with records of these types, each with a body of 16 bytes.
fn file(kinds: &[u32]) -> Vec<u8> {
    let record = |kind: &u32| raw::record(*kind, 0, &[&[3; 8], &[1, 0, 0, 0, 0, 0, 0, 0]]);
    example(&kinds.iter().flat_map(record).collect::<Vec<u8>>())
}

fn scanned(bytes: &[u8]) -> Result<Scan, Bad> {
    look_through(BufReader::new(Cursor::new(bytes)))
}

#[test]
fn samples_and_losses_are_counted() {
    let kinds = [PERF_RECORD_SAMPLE, PERF_RECORD_LOST, 68, PERF_RECORD_SAMPLE, PERF_RECORD_LOST];
    let scan = scanned(&file(&kinds)).unwrap();
    assert_eq!((scan.tally.samples, scan.tally.lost()), (2, 2));
    assert_eq!((scan.frequency, scan.kernel), (Some(Hertz(997)), true));
}

#[test]
fn a_file_without_records_was_not_completed() {
    assert!(matches!(scanned(&file(&[])), Err(Bad::Malformed(40, _))));
    assert!(matches!(scanned(b""), Err(Bad::Malformed(0, _))));
    assert!(matches!(scanned(&[0; 200]), Err(Bad::Malformed(0, _))));
}

proptest! {
    #[test]
    fn cut_and_changed_files_are_scanned_or_refused(
        kinds in proptest::collection::vec(prop_oneof![Just(2u32), Just(9), Just(13)], 0..6),
        changes in proptest::collection::vec((0usize..400, any::<u8>()), 0..4),
        length in 0usize..2000,
    ) {
        let mut bytes = file(&kinds);
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(length);
        if let Ok(scan) = scanned(&bytes) {
            prop_assert!(scan.tally.samples <= bytes.len() as u64 / 8);
        }
    }
}
