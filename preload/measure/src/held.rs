//! The locks that a thread holds, and the time during a hold that does not belong to that hold.

use crate::object::Object;
use crate::recorder::Recorder;
use crate::thread::{HELD, Held};

impl Recorder {
    /// Returns the lock that the thread took last of those that it holds.
    #[inline(always)]
    pub(crate) fn innermost(self) -> Option<Held> {
        Some(self.thread.held.get(self.thread.depth.get().checked_sub(1)?)?.get())
    }

    /// Returns whether the thread holds the lock at `address`, as far as the recorder knows.
    pub(crate) fn is_holding(self, address: usize) -> bool {
        let held = &self.thread.held[..self.thread.depth.get().min(HELD)];
        held.iter().any(|held| held.get().object == address)
    }

    /// Returns whether the thread already held the lock, and notes that it has taken it again. If
    /// the lock is not recursive, the entry is out of date, because another thread has released the
    /// lock. Such an entry is removed.
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

    /// Adds an entry to the locks that are held. If there are too many, the oldest is forgotten.
    #[inline(always)]
    pub(crate) fn push(self, entry: Held) {
        if self.thread.depth.get() >= HELD {
            self.remove(0);
        }
        let depth = self.thread.depth.get();
        self.thread.held[depth % HELD].set(entry);
        self.thread.depth.set(depth + 1);
    }

    /// Removes an entry from the locks that are held.
    #[inline(always)]
    pub(crate) fn remove(self, index: usize) {
        let held = &self.thread.held;
        let depth = self.thread.depth.get().min(HELD);
        for below in index + 1..depth {
            held[below - 1].set(held[below].get());
        }
        self.thread.depth.set(depth - 1);
    }

    /// Is called before the entry at `index` is removed while a later entry stays. The time that
    /// the later lock took so far was inside the earlier one. From now on, its time is inside the
    /// lock that was taken before the earlier one.
    #[cold]
    #[inline(never)]
    pub(crate) fn hand_over(self, index: usize, now: u64) {
        let held = &self.thread.held;
        let (entry, later) = (held[index].get(), held[index + 1].get());
        let inside = now.saturating_sub(later.request);
        held[index].set(Held { inner: entry.inner + inside, ..entry });
        held[index + 1].set(Held { request: now, ..later });
    }

    /// Excludes `waited` cycles from the hold or the think time in which they have passed.
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
