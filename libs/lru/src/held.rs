//! Locks that are not given back before another one is needed.
//!
//! A batch changes frame after frame. A lock that the next frame needs as well stays held; the paper
//! calls that lazy release, and Linux does it as 'relock'. A thread that needs two locks acquires them
//! in the order of their numbers. So where it holds the later one and needs the earlier one, it gives
//! the later one back first.

use core::marker::PhantomData;

use kilocore_locks::RawLock;
use kilocore_platform::Platform;

use crate::stripes::{LockIndex, Stripes};

/// The locks that a thread holds, at most two. They are released at the end.
pub(crate) struct Held<'a, P: Platform, L: RawLock<P, Thread = ()>> {
    stripes: &'a Stripes<P, L>,
    /// In the order of their numbers.
    locks: [Option<LockIndex>; 2],
    /// A lock is released by the thread that acquired it.
    thread: PhantomData<*const ()>,
}

impl<'a, P: Platform, L: RawLock<P, Thread = ()>> Held<'a, P, L> {
    pub(crate) fn none(stripes: &'a Stripes<P, L>) -> Self {
        Self { stripes, locks: [None; 2], thread: PhantomData }
    }

    /// Holds two locks, or one if they are the same, and no other.
    pub(crate) fn change_to(&mut self, one: LockIndex, other: LockIndex) {
        let (first, second) = (one.min(other), one.max(other));
        let wanted = [Some(first), (first != second).then_some(second)];
        if self.locks == wanted {
            return;
        }
        let needless = |held: LockIndex| !wanted.contains(&Some(held));
        // The earlier one of two must not be acquired while the later one is held.
        let too_late = |held: LockIndex| held == second && !self.locks.contains(&Some(first));
        let back = self.locks.map(|held| held.filter(|held| needless(*held) || too_late(*held)));
        for index in back.into_iter().flatten() {
            self.release(index);
        }
        let kept = self.locks.map(|held| held.filter(|held| !back.contains(&Some(*held))));
        for index in wanted.into_iter().flatten() {
            if !kept.contains(&Some(index)) {
                self.stripes.lock(index).acquire(&mut ());
            }
        }
        self.locks = wanted;
    }

    /// Holds this lock, and perhaps another one that was held before.
    pub(crate) fn include(&mut self, index: LockIndex) {
        if !self.locks.contains(&Some(index)) {
            self.change_to(index, index);
        }
    }

    fn release(&self, index: LockIndex) {
        // SAFETY: this thread acquired it, and releases it once: the callers forget it then.
        unsafe { self.stripes.lock(index).release(&mut ()) };
    }
}

impl<P: Platform, L: RawLock<P, Thread = ()>> Drop for Held<'_, P, L> {
    fn drop(&mut self) {
        for index in self.locks.into_iter().flatten() {
            self.release(index);
        }
    }
}
