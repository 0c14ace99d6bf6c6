//! What a recording counts of each lock until now, without names and histograms: for those who read it
//! again and again while the program runs.
//!
//! Each count is a word of its own that only grows. Counts that are read at one moment need not fit together:
//! a lock may have been acquired whose wait is not counted yet.

use std::mem::offset_of;

use kilocore_lock_recording::{
    ContentionBlock, FileHeader, Histogram as RawHistogram, LockBlock, SHARDS, ShardBlock, UnitId,
    family, kind,
};

use crate::Family;
use crate::recording::Recording;

/// What is counted of a lock so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockCounts {
    /// Where in the recording. A lock that is made later may use the place of one that was destroyed, and
    /// goes on counting there.
    pub block: UnitId,
    /// The lock's address; `None` if all locks of a place in the code are counted together.
    pub address: Option<u64>,
    /// What kind of lock it is.
    pub family: Family,
    /// How often it was acquired, for reading and for writing.
    pub acquired: u64,
    /// How long threads waited that got it then, in cycles of the time-stamp counter.
    pub waited_cycles: u64,
    /// How many threads wait now.
    pub waiters: u32,
}

impl Recording {
    /// Returns what is counted of each lock so far.
    #[must_use]
    pub fn lock_counts(&self) -> Vec<LockCounts> {
        self.of_kind(kind::LOCK).filter_map(|unit| self.counts_of(unit)).collect()
    }

    /// How often the process has taken a lock so far. `None` if that is not known of all its locks.
    #[must_use]
    pub fn sections(&self) -> Option<u64> {
        let not_recorded = self.header(offset_of!(FileHeader, locks_not_recorded));
        if not_recorded > 0 || self.lack().is_some() {
            return None;
        }
        // Not simply of all shards: the recorder takes a lock of its own to see what that costs.
        let locks = self.lock_counts();
        Some(locks.iter().fold(0, |sum: u64, lock| sum.saturating_add(lock.acquired)))
    }

    fn counts_of(&self, unit: UnitId) -> Option<LockCounts> {
        let family = Family::of(self.word(unit, offset_of!(LockBlock, family)))?;
        let address = self.long(unit, offset_of!(LockBlock, address));
        let mut counts = LockCounts {
            block: unit,
            address: Some(address).filter(|address| *address != 0),
            family,
            acquired: 0,
            waited_cycles: 0,
            waiters: self.word(unit, offset_of!(LockBlock, waiters)),
        };
        for index in 0..2 * SHARDS {
            let shard = self.word(unit, offset_of!(LockBlock, shards) + index * 4);
            if self.blocks.get(&shard) == Some(&kind::SHARD) {
                for count in [offset_of!(ShardBlock, same_core), offset_of!(ShardBlock, other_core)]
                {
                    counts.acquired = counts.acquired.saturating_add(self.long(shard, count));
                }
            }
        }
        for mode in 0..2 {
            let waits = self.word(unit, offset_of!(LockBlock, contention) + mode * 4);
            if self.blocks.get(&waits) == Some(&kind::CONTENTION) {
                let sum = offset_of!(ContentionBlock, wait) + offset_of!(RawHistogram, sum);
                counts.waited_cycles = counts.waited_cycles.saturating_add(self.long(waits, sum));
            }
        }
        Some(counts)
    }
}

impl Family {
    /// The family that a recording names by a number.
    pub(crate) fn of(number: u32) -> Option<Self> {
        match number {
            family::MUTEX => Some(Self::Mutex),
            family::READ_WRITE => Some(Self::ReadWrite),
            family::SPIN => Some(Self::Spin),
            _ => None,
        }
    }
}
