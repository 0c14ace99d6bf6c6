//! A log of insertions beside a lock that others may use as well. Removals are prompt: when one has
//! returned, nobody has the object in hand any more.
//!
//! # What [`Log`](super::raw::Log) leaves open
//! There, a removal is logged like an insertion. When it returns, no *later* read finds the object, but
//! a read that is under way may still be using it; and a read that is under way when an insertion
//! returns may end without having seen the object. Both are linearizable, and both are too little where
//! what comes after the update relies on it. In Linux's reverse mapping, page tables are freed right
//! after the removal, with a walker in them; and `fork` copies entries of page tables right after the
//! insertion, which the walker then misses in the copy. The paper's contract (section 2) has nothing to
//! say on either; its patch for Linux 4.5 has both holes.
//!
//! # What is promised here
//! * When [`insert`](InsertionLog::insert) has returned, each thread that is inside finds the object.
//! * When [`remove`](InsertionLog::remove) has returned, no thread that is inside has seen the object, or
//!   will.
//!
//! # How
//! **An insertion looks at the lock after its push.** If nobody is inside, it returns. If somebody is,
//! that thread may not have seen the push; so the insertion enters as the writer, after that thread has
//! left, and applies the log, as it would have done without a log. **Whoever enters looks at the log after
//! it has entered**, and applies it as the writer if it is not empty. The push and the look at the lock,
//! and the entering and the look at the log, are sequentially consistent; so one of the two sees the
//! other ([`TellsHeld`]).
//!
//! **A removal cancels, or else is made directly.** If the insertion is still pending, a compare-and-swap
//! ends it (`node/insertion.rs`), and nobody has seen the object. Otherwise somebody may have it in hand,
//! and the removal enters as the writer. It need not apply the log: whoever enters next does.
//!
//! So a log serves where most objects are taken out again before anybody reads, and where insertions
//! mostly find the lock free. Of 60,480 insertions of mappings by forks in a Linux 6.12 with such a log,
//! 79 % were cancelled, and 126 found the lock held (emulated).
//!
//! # Why reads are linearizable
//! An update takes effect when it returns or before: an insertion that returns without the lock has found
//! nobody inside, so all that enter afterwards see it; all else is made under the lock or cancelled, and a
//! node that was cancelled is claimed by nobody. While a thread is inside, the only updates that return
//! are those that cancel. Each of them came before its node was claimed, so the thread does not see the
//! object; and no other update could return in between that it would have to see with it.

use core::ptr::{self, NonNull};

use kilocore_locks::TellsHeld;
use kilocore_platform::{Atomic, Ordering, Platform};

use crate::global::{Global, linked};
use crate::log::Released;
use crate::node::{Claimed, Logged, Node, RootId, Update};
use crate::queue::{Fill, Queue};

/// Insertions that are to be made in a structure, beside the lock of the structure.
///
/// Each call is given the lock, always the same one. So the lock may be one that exists already and is
/// used by others. They keep the promises if they enter by [`enter`](Self::enter) or
/// [`acquire`](Self::acquire) in order to read; a writer that only puts objects in or takes them out, and
/// looks for none, may enter in any way.
///
/// The log must not be moved after its first insertion. In memory it begins with a pointer, which is null if
/// the log is empty: for those who [look](Self::is_empty) from another language.
#[repr(C)]
pub struct InsertionLog<P: Platform> {
    queue: Global<P>,
    id: RootId,
}

/// How an insertion was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is in the log.
    Logged,
    /// A thread was inside, so the log was applied.
    Held,
    /// The log had grown to its limit, so it was applied.
    Full,
}

/// How a removal was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// The insertion was still in the log. The lock was not used.
    Cancelled,
    /// The object was taken out of the structure, under the lock.
    Directly,
}

impl<P: Platform> InsertionLog<P> {
    /// Returns an empty log.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { queue: Global::new(()), id: RootId::new() }
    }

    /// Makes a detached object this log's, and returns whether it did. It does not if the log of another
    /// root still has the object's node in its queue.
    ///
    /// # Safety
    /// The caller owns the object, and the object is detached.
    #[inline]
    pub unsafe fn adopt(&self, node: &Node<P>) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { node.adopt(self.id) }
    }

    /// Returns whether an object was last put into this log's structure.
    ///
    /// # Safety
    /// The caller owns the object.
    #[inline]
    pub unsafe fn owns(&self, node: &Node<P>) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { node.belongs_to(self.id) }
    }

    /// Puts the object in. When this has returned, each thread that is inside finds the object.
    ///
    /// `put_in` is called for each object that this call puts into the structure, by the thread that
    /// holds the lock as the writer. It must not panic and must not use this log or the lock. If the log
    /// is about as long as `limit`, in nodes, it is applied unless a thread is inside; a limit of 4096 is
    /// that of [`Limits`](crate::Limits).
    ///
    /// This may wait for the threads that are inside, so none of them may call it.
    ///
    /// # Safety
    /// The caller owns the object, which is out, and this log [owns](Self::owns) it. The node stays
    /// alive and in place until it is settled, or until it was given up and came back among the
    /// [`Released`]. `lock` is that of the structure. The log is not dropped before it was
    /// [synchronized](Self::synchronize) after the last insertion.
    #[inline]
    pub unsafe fn insert<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        node: NonNull<Node<P>>,
        limit: u32,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (Inserted, Released<P>) {
        // SAFETY: the node is alive, as the caller promises.
        let fill = match unsafe { node.as_ref() }.log_insertion() {
            Logged::InPlace => Fill::Between,
            // SAFETY: it is in no queue.
            Logged::Queue => unsafe { self.queue.push(node) },
        };
        if lock.is_held() {
            // SAFETY: by the caller's promise, as below.
            return (Inserted::Held, unsafe { self.synchronize(lock, put_in) });
        }
        if matches!(fill, Fill::Nodes(length) if length >= limit) {
            // SAFETY: as above.
            let (applied, released) = unsafe { self.try_synchronize(lock, put_in) };
            if applied {
                return (Inserted::Full, released);
            }
        }
        (Inserted::Logged, Released::none())
    }

    /// Takes the object out if its insertion is still in the log, and returns whether it did. If it did
    /// not, the object is in the structure, or a thread that is inside is putting it there. The caller
    /// then enters as the writer and takes the object out, as [`remove`](Self::remove) does for those that
    /// have no more to do under the lock than that.
    ///
    /// # Safety
    /// As for [`remove`](Self::remove).
    #[inline]
    pub unsafe fn cancel(&self, node: &Node<P>) -> bool {
        // SAFETY: the caller is the owner.
        let own = unsafe { self.owns(node) };
        debug_assert!(own || node.is_settled(), "another log has the object");
        node.cancel_insertion()
    }

    /// Takes the object out. When this has returned, no thread that is inside has seen the object, or
    /// will, and the caller may do with the object what it likes. Its node may still be in the queue,
    /// until it [is settled](Node::is_settled).
    ///
    /// `take_out` is called if the object has to be taken out of the structure, with the lock held as
    /// the writer. It must not panic and must not use this log or the lock.
    ///
    /// This may wait for the threads that are inside, so none of them may call it.
    ///
    /// # Safety
    /// The caller owns the object, which is in, and this log [owns](Self::owns) it. `lock` is that of the
    /// structure.
    #[inline]
    pub unsafe fn remove<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        node: NonNull<Node<P>>,
        take_out: impl FnOnce(NonNull<Node<P>>),
    ) -> Removed {
        // SAFETY: the node is alive, as the caller promises.
        if unsafe { self.cancel(node.as_ref()) } {
            return Removed::Cancelled;
        }
        lock.acquire();
        // SAFETY: as above. The node was claimed by a thread that has left since, so the object is in
        // and its node is in no queue.
        unsafe { node.as_ref() }.update_directly(|update| {
            debug_assert_eq!(update, Update::Remove, "it was claimed");
            take_out(node);
        });
        // SAFETY: acquired above.
        unsafe { lock.release() };
        Removed::Directly
    }

    /// Puts the object in at once, under the lock, after those that were logged before. The arguments
    /// are those of [`insert`](Self::insert).
    ///
    /// # Safety
    /// As for [`insert`](Self::insert).
    pub unsafe fn insert_directly<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        node: NonNull<Node<P>>,
        mut put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        // SAFETY: by the caller's promise.
        let released = unsafe { self.acquire(lock, &mut put_in) };
        // SAFETY: the node is alive, as the caller promises. The log was applied, so it is in no queue.
        unsafe { node.as_ref() }.update_directly(|update| {
            debug_assert_eq!(update, Update::Insert, "it was out");
            put_in(node);
        });
        // SAFETY: acquired above.
        unsafe { lock.release() };
        released
    }

    /// Enters as a reader, which finds every object whose insertion has returned. `put_in` is as for
    /// [`insert`](Self::insert). The caller leaves by [`release_shared`](kilocore_locks::RawRwLock::release_shared).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[inline]
    pub unsafe fn enter<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        lock.acquire_shared();
        if self.is_empty() {
            return Released::none();
        }
        // SAFETY: acquired above.
        unsafe { self.catch_up(lock, put_in) }
    }

    /// Does what [`enter`](Self::enter) does if that is possible without waiting for a thread that is
    /// inside. Returns whether it did.
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[inline]
    pub unsafe fn try_enter<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (bool, Released<P>) {
        if lock.try_acquire_shared().is_none() {
            return (false, Released::none());
        }
        if self.is_empty() {
            return (true, Released::none());
        }
        // SAFETY: acquired above.
        unsafe { self.try_catch_up(lock, put_in) }
    }

    /// Applies the log for a reader that has entered by itself, before it reads: for callers that look at
    /// the lock and the log in another language. The lock is left meanwhile. `put_in` is as for
    /// [`insert`](Self::insert).
    ///
    /// # Safety
    /// The caller is inside as a reader. `lock` is that of the structure.
    #[cold]
    pub unsafe fn catch_up<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        // SAFETY: the caller is inside as a reader.
        unsafe { lock.release_shared(()) };
        // SAFETY: by the caller's promise.
        let released = unsafe { self.acquire(lock, put_in) };
        // What is pushed from now on finds the lock held.
        // SAFETY: acquired above.
        unsafe { lock.downgrade() };
        released
    }

    /// Does what [`catch_up`](Self::catch_up) does if that is possible without waiting for a thread that
    /// is inside. Returns whether it did; if not, the caller is not inside any more.
    ///
    /// # Safety
    /// The caller is inside as a reader. `lock` is that of the structure.
    #[cold]
    pub unsafe fn try_catch_up<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (bool, Released<P>) {
        // SAFETY: the caller is inside as a reader.
        unsafe { lock.release_shared(()) };
        if !lock.try_acquire() {
            return (false, Released::none());
        }
        // SAFETY: acquired just above.
        let released = unsafe { self.apply(put_in) };
        // SAFETY: as above.
        unsafe { lock.downgrade() };
        (true, released)
    }

    /// Enters as the writer, which finds every object whose insertion has returned. `put_in` is as for
    /// [`insert`](Self::insert). The caller leaves by [`release`](kilocore_locks::RawRwLock::release).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    pub unsafe fn acquire<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        lock.acquire();
        // SAFETY: acquired above.
        unsafe { self.apply(put_in) }
    }

    /// Applies the log after the threads that are inside have left. `put_in` is as for
    /// [`insert`](Self::insert).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[cold]
    pub unsafe fn synchronize<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        // SAFETY: by the caller's promise.
        let released = unsafe { self.acquire(lock, put_in) };
        // SAFETY: acquired above.
        unsafe { lock.release() };
        released
    }

    /// Applies the log unless a thread is inside, and returns whether it did. `put_in` is as for
    /// [`insert`](Self::insert).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[cold]
    pub unsafe fn try_synchronize<L: TellsHeld<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (bool, Released<P>) {
        if !lock.try_acquire() {
            return (false, Released::none());
        }
        // SAFETY: acquired just above.
        let released = unsafe { self.apply(put_in) };
        // SAFETY: as above.
        unsafe { lock.release() };
        (true, released)
    }

    /// Returns whether the log is empty. A thread that has entered in another way than by this log's
    /// functions calls this after it has entered. If the log is empty, the thread finds every object
    /// whose insertion has returned; if not, it has to [`apply`](Self::apply) the log.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty_in_order()
    }

    /// Applies the log. `put_in` is as for [`insert`](Self::insert).
    ///
    /// # Safety
    /// The caller holds the lock of the structure as the writer.
    pub unsafe fn apply(&self, mut put_in: impl FnMut(NonNull<Node<P>>)) -> Released<P> {
        let mut released = Released::none();
        if self.queue.is_empty_in_order() {
            return released;
        }
        // The list is newest first, and objects are put in in the order in which they were pushed, as they
        // would be without a log.
        let mut oldest: *mut Node<P> = ptr::null_mut();
        let mut reverse = |newest: NonNull<Node<P>>| {
            let mut next = newest.as_ptr();
            while let Some(node) = NonNull::new(next) {
                // SAFETY: it was taken from the queue and not claimed yet, so it lives, and the link is
                // this thread's.
                let at = unsafe { node.as_ref() };
                next = linked(at);
                at.next.store(oldest, Ordering::Relaxed);
                oldest = node.as_ptr();
            }
        };
        // SAFETY: only the lock's holder takes the queue, and the caller is the holder.
        unsafe { self.queue.take(&mut reverse) };
        while let Some(node) = NonNull::new(oldest) {
            // SAFETY: as above.
            let at = unsafe { node.as_ref() };
            // The link is read before the node is claimed: a node that is out of the queue may be
            // queued again or freed.
            oldest = at.next.load(Ordering::Relaxed);
            match at.claim() {
                Claimed::Insert => put_in(node),
                Claimed::Nothing => {}
                Claimed::Released => released.add(node),
            }
        }
        released
    }
}

impl<P: Platform> core::fmt::Debug for InsertionLog<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("InsertionLog").field("empty", &self.is_empty()).finish()
    }
}
