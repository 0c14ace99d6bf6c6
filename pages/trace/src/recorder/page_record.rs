//! What a record of the kernel says, taken apart.

use kilocore_linux::perf_events::{Malformed, Record, process, records, word};
use perf_event_open_sys::bindings::{PERF_RECORD_FORK, PERF_RECORD_SAMPLE};

use crate::recorder::places::{Happened, Places};

/// A thread, as the kernel numbers it, and its process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadKey {
    pub(crate) process: i32,
    pub(crate) thread: i32,
}

/// What a record says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageRecord {
    /// By the monotonic clock.
    pub(crate) at: u64,
    pub(crate) cpu: u32,
    pub(crate) what: Fact,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    /// A thread started another.
    Started { parent: ThreadKey, child: ThreadKey },
    /// Something happened to a block.
    Block { who: ThreadKey, happened: Happened, in_interrupt: bool },
}

/// What the records of a buffer say. What is of no use here, such as an allocation that failed, is
/// passed over. Gives how many records of blocks there are, with these.
pub(crate) fn read(
    bytes: &[u8],
    places: &Places,
    mut each: impl FnMut(PageRecord),
) -> Result<u64, Malformed> {
    let mut samples = 0;
    for record in records(bytes) {
        let record = record?;
        samples += u64::from(record.kind == PERF_RECORD_SAMPLE);
        if let Some(seen) = one(record, places) {
            each(seen);
        }
    }
    Ok(samples)
}

fn one(record: Record<'_>, places: &Places) -> Option<PageRecord> {
    let body = record.body;
    let cpu = |at| process(body, at).and_then(|cpu| u32::try_from(cpu).ok());
    match record.kind {
        // Process, thread, time, core, and the length of the raw data that follow.
        PERF_RECORD_SAMPLE => {
            let who = ThreadKey { process: process(body, 0)?, thread: process(body, 4)? };
            let raw = body.get(28..28 + usize::try_from(process(body, 24)?).ok()?)?;
            let (happened, in_interrupt) = places.read(raw)?;
            let what = Fact::Block { who, happened, in_interrupt };
            Some(PageRecord { at: word(body, 8)?, cpu: cpu(16)?, what })
        }
        // Process, its parent, thread, its parent; at the end the same time and core as in samples.
        PERF_RECORD_FORK => {
            let at = |offset| process(body, offset);
            let child = ThreadKey { process: at(0)?, thread: at(8)? };
            let parent = ThreadKey { process: at(4)?, thread: at(12)? };
            let end = body.len().checked_sub(16)?;
            Some(PageRecord {
                at: word(body, end)?,
                cpu: cpu(end + 8)?,
                what: Fact::Started { parent, child },
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use kilocore_linux::perf_events::record;
    use proptest::prelude::*;

    use super::*;
    use crate::recorder::places::Frame;
    use crate::recorder::places::tests::{places, raw};

    fn numbers(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
    }

    #[test]
    fn samples_and_starts_are_read() {
        let raw = raw(655, 0, 9, 2, 0);
        let length = raw.len() as i32;
        let sample = record(
            PERF_RECORD_SAMPLE,
            0,
            &[&numbers(&[5, 6]), &70_u64.to_ne_bytes(), &numbers(&[1, 0, length]), &raw],
        );
        let fork = record(
            PERF_RECORD_FORK,
            0,
            &[&numbers(&[7, 5, 8, 6]), &[0; 8], &[0; 8], &71_u64.to_ne_bytes(), &numbers(&[1, 0])],
        );
        let mut all = Vec::new();
        let samples = read(&[sample, fork].concat(), &places(), |seen| all.push(seen));
        assert_eq!(samples, Ok(1));
        let who = ThreadKey { process: 5, thread: 6 };
        let happened = Happened::Released { frame: Frame(9), order: 2 };
        let block = Fact::Block { who, happened, in_interrupt: false };
        let started = Fact::Started { parent: who, child: ThreadKey { process: 7, thread: 8 } };
        assert_eq!(
            all,
            [
                PageRecord { at: 70, cpu: 1, what: block },
                PageRecord { at: 71, cpu: 1, what: started }
            ]
        );
    }

    proptest! {
        #[test]
        fn no_records_are_too_strange(kind in 0u32..12, body: Vec<u8>) {
            let _ = read(&record(kind, 0, &[&body]), &places(), |_| {});
            let _ = read(&body, &places(), |_| {});
        }
    }
}
