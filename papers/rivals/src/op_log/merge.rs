//! Merges the logs of a root by their stamps.

use core::cmp::Reverse;
use core::mem;

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use kilocore_platform::Platform;

use super::Tuning;
use super::log::Log;
use super::ways::{Caches, Holders};
use crate::request::Request;

/// After a merge, the memory of a log is kept for the next one if it holds at most this many
/// entries.
const MOST_KEPT: usize = 4096;

/// The logs that have to be applied, and empty logs whose memory is used again.
pub(super) struct Merger<P: Platform> {
    logs: Vec<Log<P>>,
    spare: Vec<Log<P>>,
    /// The next entry of each log: its stamp, the index of the log, and the index of the entry in
    /// it.
    next: BinaryHeap<Reverse<(u64, usize, usize)>>,
}

impl<P: Platform> Merger<P> {
    pub(super) fn new() -> Self {
        Self { logs: Vec::new(), spare: Vec::new(), next: BinaryHeap::new() }
    }

    /// Takes all of a root's logs.
    pub(super) fn collect<C: Tuning>(&mut self, caches: &Caches<P>, holders: &Holders<P>) {
        let Self { logs, spare, .. } = self;
        holders.take_all::<C>(
            caches,
            || spare.pop().unwrap_or_else(|| Log::new()),
            |log| logs.push(log),
        );
    }

    /// Calls `apply` with each request in the order of the stamps, and empties the logs.
    pub(super) fn drain<C: Tuning>(&mut self, mut apply: impl FnMut(Request)) {
        if C::MERGES {
            self.merge(&mut apply);
        } else {
            for log in &self.logs {
                (0..).map_while(|index| log.get(index)).for_each(|entry| apply(entry.request));
            }
        }
        for mut log in mem::take(&mut self.logs) {
            log.clear();
            if log.capacity() <= MOST_KEPT {
                self.spare.push(log);
            }
        }
    }

    fn merge(&mut self, apply: &mut impl FnMut(Request)) {
        for (which, log) in self.logs.iter().enumerate() {
            self.next.extend(log.get(0).map(|entry| Reverse((entry.stamp, which, 0))));
        }
        while let Some(mut first) = self.next.peek_mut() {
            let Reverse((_, which, index)) = *first;
            let log = &self.logs[which];
            if let Some(after) = log.get(index + 1) {
                *first = Reverse((after.stamp, which, index + 1));
                drop(first);
            } else {
                alloc::collections::binary_heap::PeekMut::pop(first);
            }
            if let Some(entry) = log.get(index) {
                apply(entry.request);
            }
        }
    }
}
