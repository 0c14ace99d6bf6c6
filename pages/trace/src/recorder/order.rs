//! Puts records of several cores into the order of time.
//!
//! The records of a core are in order. All buffers are emptied one after another, which is a round.
//! What is written between two looks at a core's buffer is older than whatever is written anywhere
//! after the second look. So once a round is over, all that is no newer than the newest of the
//! rounds before is complete.

use crate::recorder::page_record::PageRecord;

/// Records that wait until all older ones have arrived: those of two rounds at most.
#[derive(Debug, Default)]
pub(crate) struct Order {
    waiting: Vec<PageRecord>,
    /// The newest time of all rounds before this one, and of all.
    before: u64,
    newest: u64,
}

impl Order {
    pub(crate) fn take(&mut self, seen: PageRecord) {
        self.newest = self.newest.max(seen.at);
        self.waiting.push(seen);
    }

    /// Ends a round, and gives what is complete, in order.
    pub(crate) fn end_round(&mut self) -> impl Iterator<Item = PageRecord> + '_ {
        let complete = std::mem::replace(&mut self.before, self.newest);
        self.until(complete)
    }

    /// Gives the rest, in order.
    pub(crate) fn finish(&mut self) -> impl Iterator<Item = PageRecord> + '_ {
        self.until(u64::MAX)
    }

    fn until(&mut self, complete: u64) -> impl Iterator<Item = PageRecord> + '_ {
        // The sort is stable, so records of one core with the same time stay in order.
        self.waiting.sort_by_key(|seen| seen.at);
        let count = self.waiting.partition_point(|seen| seen.at <= complete);
        self.waiting.drain(..count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::recorder::page_record::{Fact, ThreadKey};

    fn seen(at: u64, cpu: u32) -> PageRecord {
        let nobody = ThreadKey { process: 0, thread: 0 };
        PageRecord { at, cpu, what: Fact::Started { parent: nobody, child: nobody } }
    }

    proptest! {
        #[test]
        fn records_of_several_cores_come_out_in_order(
            steps in proptest::collection::vec((0u32..3, 0u64..9, prop::option::of(0usize..3)), 0..200),
        ) {
            // Cores write at any time, and their buffers are looked at in turn, at any time.
            let (mut order, mut out, mut all) = (Order::default(), Vec::new(), Vec::new());
            let mut buffers = [const { Vec::new() }; 3];
            let (mut now, mut next) = (0, 0);
            for (cpu, later, look) in steps {
                now += later;
                all.push(now);
                buffers[cpu as usize].push(seen(now, cpu));
                for _ in 0..look.unwrap_or(0) {
                    now += 1;
                    let buffer: &mut Vec<PageRecord> = &mut buffers[next];
                    buffer.drain(..).for_each(|seen| order.take(seen));
                    next = (next + 1) % 3;
                    if next == 0 {
                        out.extend(order.end_round().map(|seen| seen.at));
                    }
                }
            }
            buffers.into_iter().flatten().for_each(|seen| order.take(seen));
            out.extend(order.finish().map(|seen| seen.at));
            prop_assert_eq!(out, all);
        }
    }
}
