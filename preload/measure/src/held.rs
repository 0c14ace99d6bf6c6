//! The locks that a thread holds, and the time inside them that is not theirs.

use crate::object::Object;
use crate::recorder::Recorder;
use crate::thread::{HELD, Held};

impl Recorder {
    /// The lock that the thread took last of those it holds.
    #[inline(always)]
    pub(crate) fn innermost(self) -> Option<Held> {
        Some(self.thread.held.get(self.thread.depth.get().checked_sub(1)?)?.get())
    }

    /// Whether the thread holds the lock at `address`, as far as it is known.
    pub(crate) fn is_holding(self, address: usize) -> bool {
        let held = &self.thread.held[..self.thread.depth.get().min(HELD)];
        held.iter().any(|held| held.get().object == address)
    }

    /// Whether the thread held the lock already, which is then noted. An entry of a lock that
    /// cannot be taken twice is outdated (another thread released it) and removed.
    #[inline(always)]
    pub(crate) fn is_held_again<O: Object>(self, object: O) -> bool {
        let address = object.address();
        let held = &self.thread.held[..self.thread.depth.get().min(HELD)];
        let Some(index) = held.iter().position(|held| held.get().object == address) else {
            return false;
        };
        if !object.is_recursive() {
            self.remove(index);
            return false;
        }
        let entry = held[index].get();
        held[index].set(Held { again: entry.again + 1, ..entry });
        true
    }

    /// Adds to the locks held, forgetting the oldest one if there are too many.
    #[inline(always)]
    pub(crate) fn push(self, entry: Held) {
        if self.thread.depth.get() >= HELD {
            self.remove(0);
        }
        let depth = self.thread.depth.get();
        self.thread.held[depth % HELD].set(entry);
        self.thread.depth.set(depth + 1);
    }

    /// Takes an entry out of the locks held.
    #[inline(always)]
    pub(crate) fn remove(self, index: usize) {
        let held = &self.thread.held;
        let depth = self.thread.depth.get().min(HELD);
        for below in index + 1..depth {
            held[below - 1].set(held[below].get());
        }
        self.thread.depth.set(depth - 1);
    }

    /// Before the entry at `index` goes while a later one stays: what the later one took so far
    /// counts as inside the earlier one, and from now on as inside the one below.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_over(self, index: usize, now: u64) {
        let held = &self.thread.held;
        let (entry, later) = (held[index].get(), held[index + 1].get());
        let inside = now.saturating_sub(later.request);
        held[index].set(Held { inner: entry.inner + inside, ..entry });
        held[index + 1].set(Held { request: now, ..later });
    }

    /// Leaves a wait that ended without the lock out of what it interrupted.
    pub(crate) fn discount(self, waited: u64) {
        match self.thread.depth.get().checked_sub(1).and_then(|top| self.thread.held.get(top)) {
            Some(cell) => {
                let held = cell.get();
                cell.set(Held { inner: held.inner + waited, ..held });
            }
            None if self.thread.last_release.get() != 0 => {
                self.thread.last_release.set(self.thread.last_release.get() + waited);
            }
            None => {}
        }
    }
}
