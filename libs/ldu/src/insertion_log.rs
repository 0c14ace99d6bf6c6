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
//! **Whoever looks for objects says so before it enters**, and takes it back after it has left. **An insertion looks
//! after its push whether anybody has said so.** If nobody has, it returns. If somebody has, that thread may not have
//! seen the push; so the insertion enters as the writer, after that thread has left, and applies the log, as it
//! would have done without a log. **Whoever looks, looks at the log first**, after it has entered, and applies it as
//! the writer if it is not empty. Saying so and the look at the log, and the push and the look for those that have
//! said so, are sequentially consistent; so one of the two sees the other.
//!
//! **A removal cancels, or else is made directly.** If the insertion is still pending, a compare-and-swap
//! ends it (`node/insertion.rs`), and nobody has seen the object. Otherwise somebody may have it in hand,
//! and the removal enters as the writer. It need not apply the log: whoever enters next does.
//!
//! **Who only updates need not be waited for.** A removal that is made directly looks for no object, and neither
//! does who applies the log and leaves. So an insertion does not look at the lock. When it did, a thread that found
//! the lock held applied the log, which made others' removals take the lock, which others found held: on 120
//! simulated cores, the log was then no better than the lock (docs/evidence/kernel-path.md).
//!
//! **What was cancelled is swept out without the lock**, and in place: the newest node stays, on which others push, and
//! the links of those behind it are for one thread at a time to change, who sweeps or who applies. So the log is never
//! empty meanwhile, and what stays keeps its place.
//!
//! **Objects are put in in the order in which they were pushed**, as they would be without a log. Linux's walkers rely on
//! that: a child's mapping is visited after its parent's, while `fork` copies entries of page tables from one to the
//! other. A sweep that took the queue and pushed what was pending again put the parent after the child.
//!
//! So a log serves where most objects are taken out again before anybody reads. Of 40,000 insertions of mappings by
//! forks in a Linux 6.12 with this log, 99 % were cancelled (emulated; docs/evidence/linux.md).
//!
//! # Why reads are linearizable
//! An update takes effect when it returns or before: an insertion that returns without the lock has found
//! nobody who looks, so all that look afterwards see it; all else is made under the lock or cancelled, and a
//! node that was cancelled is claimed by nobody. While a thread is inside, the only updates that return
//! are those that cancel. Each of them came before its node was claimed, so the thread does not see the
//! object; and no other update could return in between that it would have to see with it.

use core::ptr::{self, NonNull};

use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform};

use crate::global::{Global, linked};
use crate::log::Released;
use crate::node::{Claimed, Logged, Node, RootId, Update};
use crate::queue::{Fill, Queue};

/// Insertions that are to be made in a structure, beside the lock of the structure.
///
/// Each call is given the lock, always the same one. So the lock may be one that exists already and is
/// used by others. They keep the promises if they enter by [`enter`](Self::enter) or
/// [`acquire`](Self::acquire) in order to read; a writer that only puts objects in or takes its own out, and
/// looks for none, may use the lock as it is.
///
/// The log must not be moved after its first insertion. In memory it begins with a pointer, which is null if
/// the log is empty: for those who [look](Self::is_empty) from another language.
#[repr(C)]
pub struct InsertionLog<P: Platform> {
    queue: Global<P>,
    id: RootId,
    /// How many threads look for objects, or are about to. It lies where the push before each look at it writes.
    looking: P::U32,
    /// 1 while a thread takes nodes from the queue or changes their links, else 0.
    taking: P::U32,
}

/// How an insertion was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inserted {
    /// It is in the log.
    Logged,
    /// A thread looked for objects, or was about to, so the log was applied.
    Held,
    /// It is in the log, which had grown long. So what was cancelled was taken out of it.
    Swept,
    /// The log had grown long, and more than half of its limit was pending. So it was applied.
    Full,
}

/// A log that has fewer nodes is not looked through for what was cancelled, unless its limit is less.
const SHORT: u32 = 64;

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
        Self {
            queue: Global::new(()),
            id: RootId::new(),
            looking: P::U32::new(0),
            taking: P::U32::new(0),
        }
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
    /// holds the lock as the writer. It must not panic and must not use this log or the lock.
    ///
    /// What was cancelled leaves the log when it is about twice as long as what was left the last time, and has 64 nodes
    /// at least. So no more of it stays for long than is pending.
    ///
    /// `limit` bounds what is pending, in nodes. If more than half of it is left then, the log is applied unless a thread is
    /// inside, and if all of it is, after that thread has left. A limit of 4096 is that of [`Limits`](crate::Limits).
    /// With one below 64 what was cancelled leaves as soon as the log has so many nodes.
    ///
    /// This may wait for the threads that are inside, so none of them may call it.
    ///
    /// # Safety
    /// The caller owns the object, which is out, and this log [owns](Self::owns) it. The node stays
    /// alive and in place until it is settled, or until it was given up and came back among the
    /// [`Released`]. `lock` is that of the structure. The log is not dropped before it was
    /// [synchronized](Self::synchronize) after the last insertion.
    #[inline]
    pub unsafe fn insert<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        node: NonNull<Node<P>>,
        limit: u32,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (Inserted, Released<P>) {
        // SAFETY: by the caller's promise.
        let fill = unsafe { self.push(node) };
        if self.somebody_looks() {
            // SAFETY: by the caller's promise, as below.
            return (Inserted::Held, unsafe { self.synchronize(lock, put_in) });
        }
        if self.is_long(fill, limit) {
            // SAFETY: by the caller's promise.
            unsafe { self.shorten(lock, limit, put_in) }
        } else {
            (Inserted::Logged, Released::none())
        }
    }

    /// Logs an insertion, and returns what that says of the log's length.
    ///
    /// # Safety
    /// As for [`insert`](Self::insert), of the node.
    #[inline]
    unsafe fn push(&self, node: NonNull<Node<P>>) -> Fill {
        // SAFETY: the node is alive, as the caller promises.
        match unsafe { node.as_ref() }.log_insertion() {
            Logged::InPlace => Fill::Between,
            // SAFETY: it is in no queue.
            Logged::Queue => unsafe { self.queue.push(node) },
        }
    }

    /// Whether what was cancelled is to leave the log, of whose length a push has learnt this.
    #[inline]
    fn is_long(&self, fill: Fill, limit: u32) -> bool {
        // A sweep looks at each node. If the log has doubled since the last one, that is two nodes for each insertion.
        fill.reaches(limit.min(SHORT).max(self.queue.doubled()))
    }

    /// Makes a log that has grown long shorter, as [`insert`](Self::insert) does: for a caller that has put
    /// objects in by [`insert_inside`](Self::insert_inside), and has left. `limit` and `put_in` are as there.
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[cold]
    pub unsafe fn shorten<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        limit: u32,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (Inserted, Released<P>) {
        let Some((pending, mut released)) = self.sweep() else {
            return (Inserted::Logged, Released::none());
        };
        if pending <= limit / 2 {
            return (Inserted::Swept, released);
        }
        if !lock.try_acquire() {
            if pending < limit {
                return (Inserted::Swept, released);
            }
            // Each insertion would find the log full, and sweep it.
            lock.acquire();
        }
        // SAFETY: acquired just above.
        unsafe { self.apply_and_release(lock, put_in, &mut released) };
        (Inserted::Full, released)
    }

    /// Applies the log and leaves. What the log has let go is added to `released`.
    ///
    /// # Safety
    /// As for [`apply`](Self::apply). The caller has acquired `lock` as the writer.
    unsafe fn apply_and_release<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
        released: &mut Released<P>,
    ) {
        // SAFETY: by the caller's promise.
        let applied = unsafe { self.apply(put_in) };
        // SAFETY: by the caller's promise.
        unsafe { lock.release() };
        applied.free_all(|node| released.add(node));
    }

    /// Lets what was cancelled leave the log without an insertion, for an owner that has just [cancelled](Self::cancel) one.
    /// If each owner calls this, about half of the log is pending at least, but for the newest node; and if nothing is
    /// pending, the log is emptied. Without it, what is gone stays where nobody inserts or looks any more. In the mean, three
    /// nodes are looked at. `put_in` is as for [`insert`](Self::insert).
    ///
    /// Nothing is done while another thread takes nodes, and the log is not emptied while one is inside.
    ///
    /// # Safety
    /// `lock` is that of the structure, and the caller does not hold it.
    #[cold]
    pub unsafe fn clear_cancelled<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        mut put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        let mut released = Released::none();
        self.queue.leave_to_go();
        // Once more, for those that were cancelled during a sweep, whose owners have found this thread at it.
        while self.queue.has_doubled() {
            let Some((pending, swept)) = self.sweep() else { break };
            swept.free_all(|node| released.add(node));
            if pending > 0 {
                continue;
            }
            if lock.try_acquire() {
                // SAFETY: acquired just above.
                unsafe { self.apply_and_release(lock, &mut put_in, &mut released) };
            }
            break;
        }
        released
    }

    /// Whether a thread may be inside, after a push, that looks for objects and has not seen the push. The answer
    /// `false` means that all who look later see it.
    #[inline]
    fn somebody_looks(&self) -> bool {
        if P::SEQUENTIAL_LOADS {
            // Argued: sequentially consistent, as the push before it; see the head of this file. loom knows no schedule
            // in which less is too little.
            self.looking.load(Ordering::SeqCst) != 0
        } else {
            // After this, who says that it looks sees what the caller pushed before.
            self.looking.fetch_add(0, Ordering::AcqRel) != 0
        }
    }

    /// The caller is going to enter, and to look for objects. It does not look before it has entered and then found
    /// the log [empty](Self::is_empty), or applied it: for callers that use the lock in another language, as are all
    /// functions that say so. The others do this themselves.
    #[inline]
    pub fn begin_looking(&self) {
        // Argued: sequentially consistent; see the head of this file. Under loom every exchange is.
        self.looking.fetch_add(1, Ordering::SeqCst);
    }

    /// The caller, who has called [`begin_looking`](Self::begin_looking), has left.
    #[inline]
    pub fn end_looking(&self) {
        // Release: an insertion that sees this, and so waits for nobody, comes after what the caller did inside.
        self.looking.fetch_sub(1, Ordering::Release);
    }

    /// Takes what was cancelled out of the log, without the lock, but for the newest node. Returns how many nodes are
    /// pending. None, and nothing was done, if another thread takes nodes.
    #[cold]
    fn sweep(&self) -> Option<(u32, Released<P>)> {
        // Who applies the log waits for this.
        P::unpreempted(|| {
            // Acquire: what others took before is out of the queue, and the links are as they left them.
            self.taking.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).ok()?;
            let (mut pending, mut released) = (0, Released::none());
            let stays = |node: NonNull<Node<P>>| {
                // SAFETY: it is in the queue, so it lives.
                match unsafe { node.as_ref() }.sweep() {
                    None => {
                        pending += 1;
                        return true;
                    }
                    Some(Claimed::Released) => released.add(node),
                    Some(_) => {}
                }
                false
            };
            // SAFETY: only one thread takes at a time, as `taking` says. A node that was swept is not in use.
            unsafe { self.queue.retain_behind_newest(stays) };
            // SAFETY: it is in the queue, so it lives.
            let newest = self.queue.newest().map(|node| unsafe { node.as_ref() });
            pending += u32::from(newest.is_some_and(Node::is_pending));
            self.end_taking();
            Some((pending, released))
        })
    }

    /// Waits for a thread that takes nodes out. The caller holds the lock, so no more than one waits.
    #[inline]
    fn begin_taking(&self) {
        // Acquire: as in `sweep`.
        while self.taking.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            P::pause(1);
        }
    }

    #[inline]
    fn end_taking(&self) {
        // Release: who takes next finds the links as they were left.
        self.taking.store(0, Ordering::Release);
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
    pub unsafe fn remove<L: RawRwLock<P, Reader = ()>>(
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
    pub unsafe fn insert_directly<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        node: NonNull<Node<P>>,
        mut put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        lock.acquire();
        // SAFETY: acquired above.
        let released = unsafe { self.apply(&mut put_in) };
        // SAFETY: the node is alive, as the caller promises. The log was applied, so it is in no queue.
        unsafe { node.as_ref() }.update_directly(|update| {
            debug_assert_eq!(update, Update::Insert, "it was out");
            put_in(node);
        });
        // SAFETY: acquired above.
        unsafe { lock.release() };
        released
    }

    /// Puts the object in, for a caller that is inside as the writer. It is in the log then, and whoever enters
    /// next finds it. Returns whether the log has grown long. If so, the caller [shortens](Self::shorten) it
    /// when it has left: others wait for the lock meanwhile, and a sweep takes long.
    ///
    /// # Safety
    /// As for [`insert`](Self::insert). The caller is inside as the writer, and looks for no object until it
    /// leaves.
    #[inline]
    #[must_use]
    pub unsafe fn insert_inside(&self, node: NonNull<Node<P>>, limit: u32) -> bool {
        // SAFETY: by the caller's promise.
        let fill = unsafe { self.push(node) };
        self.is_long(fill, limit)
    }

    /// Whether the object's insertion is in the log and was not cancelled. Nobody but the caller changes that, who is
    /// inside as the writer.
    ///
    /// # Safety
    /// The caller owns the object, is inside as the writer, and this log [owns](Self::owns) the object or has never
    /// had it.
    #[inline]
    pub unsafe fn is_pending(&self, node: &Node<P>) -> bool {
        // SAFETY: the caller is the owner.
        node.is_pending() && unsafe { self.owns(node) }
    }

    /// Enters as a reader, which finds every object whose insertion has returned. `put_in` is as for
    /// [`insert`](Self::insert). The caller leaves by [`leave`](Self::leave).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[inline]
    pub unsafe fn enter<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        self.begin_looking();
        lock.acquire_shared();
        if self.is_empty() {
            return Released::none();
        }
        // SAFETY: acquired above.
        unsafe { self.catch_up(lock, put_in) }
    }

    /// Leaves as a reader.
    ///
    /// # Safety
    /// The caller has entered by [`enter`](Self::enter) or [`try_enter`](Self::try_enter), and has not left.
    /// `lock` is that of the structure.
    #[inline]
    pub unsafe fn leave<L: RawRwLock<P, Reader = ()>>(&self, lock: &L) {
        // SAFETY: by the caller's promise.
        unsafe { lock.release_shared(()) };
        self.end_looking();
    }

    /// Does what [`enter`](Self::enter) does if that is possible without waiting for a thread that is
    /// inside. Returns whether it did.
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[inline]
    pub unsafe fn try_enter<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (bool, Released<P>) {
        self.begin_looking();
        if lock.try_acquire_shared().is_none() {
            self.end_looking();
            return (false, Released::none());
        }
        if self.is_empty() {
            return (true, Released::none());
        }
        // SAFETY: acquired above.
        let (inside, released) = unsafe { self.try_catch_up(lock, put_in) };
        if !inside {
            self.end_looking();
        }
        (inside, released)
    }

    /// Applies the log for a reader that has entered by itself, before it reads: for callers that look at
    /// the lock and the log in another language. The lock is left meanwhile. `put_in` is as for
    /// [`insert`](Self::insert).
    ///
    /// # Safety
    /// The caller is inside as a reader. `lock` is that of the structure.
    #[cold]
    pub unsafe fn catch_up<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        // SAFETY: the caller is inside as a reader.
        unsafe { lock.release_shared(()) };
        lock.acquire();
        // SAFETY: acquired above.
        let released = unsafe { self.apply(put_in) };
        // What is pushed from now on finds that somebody looks.
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
    pub unsafe fn try_catch_up<L: RawRwLock<P, Reader = ()>>(
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
    /// [`insert`](Self::insert). The caller leaves by [`release`](Self::release).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    pub unsafe fn acquire<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        self.begin_looking();
        lock.acquire();
        // SAFETY: acquired above.
        unsafe { self.apply(put_in) }
    }

    /// Leaves as the writer.
    ///
    /// # Safety
    /// The caller has entered by [`acquire`](Self::acquire), and has not left. `lock` is that of the structure.
    #[inline]
    pub unsafe fn release<L: RawRwLock<P, Reader = ()>>(&self, lock: &L) {
        // SAFETY: by the caller's promise.
        unsafe { lock.release() };
        self.end_looking();
    }

    /// Applies the log after the threads that are inside have left. `put_in` is as for
    /// [`insert`](Self::insert).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[cold]
    pub unsafe fn synchronize<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> Released<P> {
        lock.acquire();
        // SAFETY: acquired above.
        unsafe {
            let released = self.apply(put_in);
            lock.release();
            released
        }
    }

    /// Applies the log unless a thread is inside, and returns whether it did. `put_in` is as for
    /// [`insert`](Self::insert).
    ///
    /// # Safety
    /// `lock` is that of the structure.
    #[cold]
    pub unsafe fn try_synchronize<L: RawRwLock<P, Reader = ()>>(
        &self,
        lock: &L,
        put_in: impl FnMut(NonNull<Node<P>>),
    ) -> (bool, Released<P>) {
        if !lock.try_acquire() {
            return (false, Released::none());
        }
        // SAFETY: acquired just above.
        unsafe {
            let released = self.apply(put_in);
            lock.release();
            (true, released)
        }
    }

    /// Returns whether the log is empty, for a thread that has said that it [looks](Self::begin_looking) and has entered.
    /// If it is, the thread finds every object whose insertion has returned; if not, it has to
    /// [`apply`](Self::apply) the log.
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
        // None but the lock's holder empties the queue.
        if self.queue.is_empty_in_order() {
            return released;
        }
        self.begin_taking();
        // The list is newest first, and the oldest is put in first; see the head of this file.
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
        // SAFETY: only one thread takes at a time, as `taking` says.
        unsafe { self.queue.take(&mut reverse) };
        self.end_taking();
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
