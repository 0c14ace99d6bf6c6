//! What a stream tells of the program's locks.

use std::collections::BTreeMap;

use kilocore_references::TracedLock;

/// What a stream has told of the program's locks.
#[derive(Debug, Clone, Default)]
pub(crate) struct LockTally {
    /// The last that was told of each, by its address.
    pub(crate) by_address: BTreeMap<u64, TracedLock>,
    /// How many atomic updates were of words that were not followed, as there were too many; or nothing if
    /// the program did not come to tell.
    pub(crate) updates_not_followed: Option<u64>,
}

impl LockTally {
    pub(crate) fn add(&mut self, lock: TracedLock) {
        self.by_address.insert(lock.address, lock);
    }

    pub(crate) fn end(&mut self, updates_not_followed: u64) {
        self.updates_not_followed = Some(updates_not_followed);
    }
}
