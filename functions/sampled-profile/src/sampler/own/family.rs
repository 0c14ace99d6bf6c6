//! Selects the program's records from those of everything that happens on the cores.
//!
//! An event that watches a whole core takes samples of all programs. A process counts if it
//! executes the program, or if a process that counts has started it in any way. Deciding this needs
//! the records in order of time, and records of different cores are in this order only after
//! sorting.

use std::collections::HashSet;

use perf_event_open_sys::bindings::{
    PERF_RECORD_COMM, PERF_RECORD_EXIT, PERF_RECORD_FORK, PERF_RECORD_MISC_COMM_EXEC,
    PERF_RECORD_MMAP, PERF_RECORD_MMAP2, PERF_RECORD_SAMPLE,
};

use super::attribute::TIME_IN_SAMPLE;
use kilocore_linux::perf_events::{self as raw, HEADER, Malformed, Record};

/// The processes that count.
#[derive(Debug)]
pub(crate) struct Family {
    root: i32,
    /// Empty until the program is executed.
    members: HashSet<i32>,
}

impl Family {
    /// Begins when the process `root` executes the program.
    pub(crate) fn of(root: libc::pid_t) -> Self {
        Self { root, members: HashSet::new() }
    }

    /// Whether a record counts, if records come in the order of their times. Those of no process,
    /// such as losses, do.
    pub(crate) fn admits(&mut self, record: Record<'_>) -> bool {
        let at = |offset| raw::process(record.body, offset).unwrap_or(-1);
        match record.kind {
            PERF_RECORD_SAMPLE => self.members.contains(&at(8)),
            PERF_RECORD_COMM => {
                let executes = u32::from(record.flags) & PERF_RECORD_MISC_COMM_EXEC != 0;
                if executes && at(0) == self.root {
                    self.members.insert(self.root);
                }
                self.members.contains(&at(0))
            }
            PERF_RECORD_FORK => {
                let (process, parent) = (at(0), at(4));
                if self.members.contains(&parent) {
                    self.members.insert(process);
                } else {
                    // The process has ended, and a new process has got its id.
                    self.members.remove(&process);
                }
                self.members.contains(&process)
            }
            PERF_RECORD_EXIT | PERF_RECORD_MMAP | PERF_RECORD_MMAP2 => {
                self.members.contains(&at(0))
            }
            _ => true,
        }
    }
}

/// Records that wait until all older records have arrived.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// Time, place and length of each.
    index: Vec<(u64, usize, usize)>,
    bytes: Vec<u8>,
    /// The newest time of all rounds before this one, and of all.
    before: u64,
    newest: u64,
}

impl Order {
    /// Takes what was in a buffer.
    pub(crate) fn take(&mut self, records: &[u8]) -> Result<(), Malformed> {
        let mut place = self.bytes.len();
        self.bytes.extend_from_slice(records);
        for record in raw::records(records) {
            let record = record?;
            let time = time(record);
            self.newest = self.newest.max(time);
            let length = HEADER + record.body.len();
            self.index.push((time, place, length));
            place += length;
        }
        Ok(())
    }

    /// Ends a round, in which each buffer was emptied once: what is no newer than the newest of
    /// the rounds before is complete, and handed out in order.
    pub(crate) fn end_round(&mut self, each: impl FnMut(&[u8])) {
        let complete = self.before;
        self.before = self.newest;
        self.hand_out(complete, each);
    }

    /// Hands out the rest.
    pub(crate) fn finish(&mut self, each: impl FnMut(&[u8])) {
        self.hand_out(u64::MAX, each);
    }

    fn hand_out(&mut self, complete: u64, mut each: impl FnMut(&[u8])) {
        self.index.sort_by_key(|(time, ..)| *time);
        let count = self.index.partition_point(|(time, ..)| *time <= complete);
        for (_, place, length) in self.index.drain(..count) {
            each(&self.bytes[place..place + length]);
        }
        let mut kept = Vec::new();
        for (_, place, length) in &mut self.index {
            let record = &self.bytes[*place..*place + *length];
            *place = kept.len();
            kept.extend_from_slice(record);
        }
        self.bytes = kept;
    }
}

/// A record's time: a sample's is near its beginning, and that of others near their end.
fn time(record: Record<'_>) -> u64 {
    let offset = match record.kind {
        PERF_RECORD_SAMPLE => Some(TIME_IN_SAMPLE),
        _ => record.body.len().checked_sub(16),
    };
    offset.and_then(|offset| raw::word(record.body, offset)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use kilocore_linux::perf_events::{record, records};

    fn pair(process: i32, other: i32) -> Vec<u8> {
        [process.to_ne_bytes(), other.to_ne_bytes()].concat()
    }

    fn sample(process: i32, time: u64) -> Vec<u8> {
        record(PERF_RECORD_SAMPLE, 0, &[&[0; 8], &pair(process, process), &time.to_ne_bytes()])
    }

    fn fork(process: i32, parent: i32) -> Vec<u8> {
        record(PERF_RECORD_FORK, 0, &[&pair(process, parent), &[0; 32]])
    }

    fn executes(process: i32) -> Vec<u8> {
        let flags = PERF_RECORD_MISC_COMM_EXEC as u16;
        record(PERF_RECORD_COMM, flags, &[&pair(process, process), &[0; 32]])
    }

    fn admitted(family: &mut Family, bytes: &[u8]) -> bool {
        family.admits(records(bytes).next().unwrap().unwrap())
    }

    #[test]
    fn the_family_is_the_program_and_its_descendants() {
        let mut family = Family::of(5);
        assert!(!admitted(&mut family, &sample(5, 0)), "before it is executed");
        assert!(!admitted(&mut family, &executes(6)));
        assert!(admitted(&mut family, &executes(5)));
        assert!(admitted(&mut family, &sample(5, 0)));
        assert!(!admitted(&mut family, &sample(7, 0)));
        assert!(admitted(&mut family, &fork(7, 5)) && admitted(&mut family, &fork(8, 7)));
        assert!(admitted(&mut family, &sample(8, 0)));
        assert!(!admitted(&mut family, &fork(9, 6)) && !admitted(&mut family, &sample(9, 0)));
        assert!(!admitted(&mut family, &fork(8, 6)), "another has its id now");
        assert!(!admitted(&mut family, &sample(8, 0)));
        assert!(admitted(&mut family, &record(2, 0, &[&[0; 40]])), "losses are everybody's");
    }

    proptest! {
        #[test]
        fn no_records_are_too_strange(
            bodies in proptest::collection::vec((0u32..12, proptest::collection::vec(0u8..3, 0..40)), 0..9),
        ) {
            let bytes: Vec<u8> =
                bodies.iter().flat_map(|(kind, body)| record(*kind, 1 << 13, &[body])).collect();
            let (mut family, mut order, mut out) = (Family::of(0x0101_0101), Order::default(), 0);
            order.take(&bytes).unwrap();
            order.finish(|record| {
                admitted(&mut family, record);
                out += record.len();
            });
            prop_assert_eq!(out, bytes.len());
        }

        #[test]
        fn records_of_several_cores_come_out_in_order(
            rounds in proptest::collection::vec(proptest::collection::vec((0usize..3, 1u64..9), 0..8), 1..6),
        ) {
            // What is written between two looks at a core's buffer is older than what is written
            // after the second look at any: so here each round is older than the next.
            let (mut order, mut out) = (Order::default(), Vec::new());
            let (mut now, mut all) = (0, Vec::new());
            for round in rounds {
                let mut buffers = [const { Vec::new() }; 3];
                for (core, later) in round {
                    now += later;
                    all.push(now);
                    buffers[core].extend(sample(core as i32, now));
                }
                for buffer in buffers {
                    order.take(&buffer).unwrap();
                }
                order.end_round(|record| out.push(super::time(records(record).next().unwrap().unwrap())));
            }
            order.finish(|record| out.push(super::time(records(record).next().unwrap().unwrap())));
            prop_assert_eq!(out, all);
        }
    }
}
