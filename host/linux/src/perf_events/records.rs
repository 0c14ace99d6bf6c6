//! The records that the kernel writes, and a `perf.data` file holds, as bytes.
//!
//! Each begins with eight bytes: its type, flags, and its size with these. The kernel's have the
//! numbers of `enum perf_event_type` in its `perf_event.h`; those from 64 up are perf's own.

use perf_event_open_sys::bindings::{
    PERF_RECORD_LOST, PERF_RECORD_LOST_SAMPLES, PERF_RECORD_SAMPLE,
};

/// What comes before the body of a record.
pub const HEADER: usize = 8;

/// A record that is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// A record of a perf event, as the kernel or `perf` writes it: a header and what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    pub kind: u32,
    pub flags: u16,
    /// All that follows the header.
    pub body: &'a [u8],
}

/// The type, the flags and the size of the record whose header this is.
pub fn header(bytes: [u8; HEADER]) -> Result<(u32, u16, usize), Malformed> {
    let [a, b, c, d, e, f, low, high] = bytes;
    let size = usize::from(u16::from_ne_bytes([low, high]));
    let (kind, flags) = (u32::from_ne_bytes([a, b, c, d]), u16::from_ne_bytes([e, f]));
    if size < HEADER { Err(Malformed) } else { Ok((kind, flags, size)) }
}

/// The records that bytes consist of. An error ends them.
pub fn records(mut bytes: &[u8]) -> impl Iterator<Item = Result<Record<'_>, Malformed>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let next = split(bytes);
        bytes = next.map_or(&[], |(_, rest)| rest);
        Some(next.map(|(record, _)| record))
    })
}

fn split(bytes: &[u8]) -> Result<(Record<'_>, &[u8]), Malformed> {
    let (kind, flags, size) = header(*bytes.first_chunk().ok_or(Malformed)?)?;
    let (record, rest) = bytes.split_at_checked(size).ok_or(Malformed)?;
    Ok((Record { kind, flags, body: &record[HEADER..] }, rest))
}

/// A record of ours. What does not fit into its size, which no name of a file does, is cut off.
pub fn record(kind: u32, flags: u16, parts: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0; HEADER];
    for part in parts {
        bytes.extend_from_slice(part);
    }
    bytes.truncate(usize::from(u16::MAX) - 7);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let size = bytes.len() as u16;
    bytes[..4].copy_from_slice(&kind.to_ne_bytes());
    bytes[4..6].copy_from_slice(&flags.to_ne_bytes());
    bytes[6..8].copy_from_slice(&size.to_ne_bytes());
    bytes
}

/// The eight bytes at an offset, as a number.
pub fn word(bytes: &[u8], offset: usize) -> Option<u64> {
    bytes.get(offset..)?.first_chunk().map(|word| u64::from_ne_bytes(*word))
}

/// The four bytes at an offset, as a process id.
pub fn process(bytes: &[u8], offset: usize) -> Option<i32> {
    bytes.get(offset..)?.first_chunk().map(|word| i32::from_ne_bytes(*word))
}

/// How many samples there are, and how many records were lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    pub samples: u64,
    lost: u64,
    /// Newer kernels count losses for each event; perf writes those at the end, beside the
    /// records of the losses where they happened.
    lost_samples: u64,
}

impl Tally {
    /// Counts a record, if it is a sample or a report of losses. Others change nothing.
    pub fn add(&mut self, record: Record<'_>) {
        match record.kind {
            PERF_RECORD_SAMPLE => self.samples += 1,
            PERF_RECORD_LOST => {
                self.lost = self.lost.saturating_add(word(record.body, 8).unwrap_or(0));
            }
            PERF_RECORD_LOST_SAMPLES => {
                let lost = word(record.body, 0).unwrap_or(0);
                self.lost_samples = self.lost_samples.saturating_add(lost);
            }
            _ => {}
        }
    }

    /// How many records were lost, as far as the records say.
    pub fn lost(self) -> u64 {
        self.lost.max(self.lost_samples)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let lost = record(PERF_RECORD_LOST, 0, &[&1u64.to_ne_bytes(), &7u64.to_ne_bytes()]);
        let sample = record(PERF_RECORD_SAMPLE, 2, &[b"abc"]);
        let bytes = [lost, sample.clone(), sample].concat();
        let mut tally = Tally::default();
        for record in records(&bytes) {
            tally.add(record.unwrap());
        }
        assert_eq!((tally.samples, tally.lost()), (2, 7));
        let last = records(&bytes).last().unwrap().unwrap();
        let body = b"abc\0\0\0\0\0";
        assert_eq!(last, Record { kind: PERF_RECORD_SAMPLE, flags: 2, body });
    }

    #[test]
    fn records_that_end_too_early_are_malformed() {
        let whole = record(PERF_RECORD_SAMPLE, 0, &[b"12345678"]);
        for length in 1..whole.len() {
            assert_eq!(records(&whole[..length]).last(), Some(Err(Malformed)), "{length} bytes");
        }
        assert_eq!(records(&[0; 16]).count(), 1, "a size of 0 ends it");
    }

    proptest! {
        #[test]
        fn any_bytes_come_to_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut tally = Tally::default();
            for record in records(&bytes) {
                record.into_iter().for_each(|record| tally.add(record));
            }
            prop_assert!(tally.samples as usize * HEADER <= bytes.len());
        }

        #[test]
        fn records_of_any_size_are_read_back(body in proptest::collection::vec(any::<u8>(), 0..70_000)) {
            let bytes = record(9, 0, &[&body]);
            let read = records(&bytes).next().unwrap().unwrap();
            let kept = body.len().min(read.body.len());
            prop_assert!(kept == body.len() || bytes.len() > 65_500);
            prop_assert_eq!(&read.body[..kept], &body[..kept]);
        }
    }
}
