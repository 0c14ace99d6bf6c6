//! A structure behind a log of insertions, whose removals are prompt.

use alloc::boxed::Box;
use core::fmt;
use core::ptr::NonNull;

use kilocore_locks::{RawRwLock, Rwsem};
use kilocore_platform::{Padded, Platform};

use crate::guarded::{ElsewhereError, Guarded, In, Out, elsewhere, free, insert_by, remove_by};
use crate::insertion_log::{Inserted, InsertionLog, Removed};
use crate::ldu::TURNS;
use crate::log::Limits;
use crate::node::{Node, Update};
use crate::object::Detached;
use crate::structure::Structure;

/// A structure of type `S` that many threads update and few threads read, and from which a removal takes
/// an object at once.
///
/// It differs from [`Ldu`](crate::Ldu) in what has happened when an update returns:
///
/// * After [`remove`](Self::remove), no [`read`](Self::read) that is under way has seen the object, or
///   will. So what the object stands for may be destroyed. Behind an `Ldu`, a read that is under way may
///   still be using it; only the object's own memory is kept.
/// * After [`insert`](Self::insert), every read that is under way finds the object.
///
/// The price is that an update may wait for reads: an insertion if a read is under way, and a removal if
/// the insertion was applied. A removal that comes before a read cancels the insertion in the log and
/// takes no lock. So it is fast where most objects are removed again before anybody reads.
///
/// ```
/// use kilocore_ldu::PromptLdu;
/// use kilocore_ldu::adapters::{Member, Set};
/// use kilocore_ldu::raw::Removed;
/// use kilocore_platform::Native;
///
/// let open: PromptLdu<Native, Set<Native, u64>> = PromptLdu::new(Set::default());
/// let file = open.insert(open.object(Member::new(7)));
/// let (file, how) = open.remove(file);
/// assert_eq!(how, Removed::Cancelled); // nobody has read meanwhile
///
/// let file = open.insert(file);
/// assert_eq!(open.read(|set| set.len()), 1);
/// let (_, how) = open.remove(file);
/// assert_eq!(how, Removed::Directly);
/// ```
pub struct PromptLdu<P, S, L = Rwsem<P, TURNS>>
where
    P: Platform,
    S: Structure,
    L: RawRwLock<P, Reader = ()>,
{
    root: Box<Root<P, S, L>>,
}

/// The part that must not move, because a log must not be moved after its first insertion.
struct Root<P: Platform, S: Structure, L> {
    lock: Padded<L>,
    /// On cache lines of its own, because insertions write it.
    log: Padded<InsertionLog<P>>,
    limit: u32,
    structure: Guarded<P, S>,
}

impl<P: Platform, S: Structure, L: RawRwLock<P, Reader = ()>> PromptLdu<P, S, L> {
    /// Puts `structure`, which must be empty, behind a log.
    pub fn new(structure: S) -> Self {
        Self::with_limit(structure, Limits::default().nodes)
    }

    /// Puts `structure`, which must be empty, behind a log in which so many insertions may be pending, about: see
    /// [`InsertionLog::insert`].
    pub fn with_limit(structure: S, limit: u32) -> Self {
        let (lock, log) = (Padded(L::new()), Padded(InsertionLog::new()));
        Self { root: Box::new(Root { lock, log, limit, structure: Guarded::new(structure) }) }
    }

    /// Returns a new object around `item`. It may be inserted into this root or into another one.
    pub fn object(&self, item: S::Item) -> Out<P, S> {
        Detached::new(item)
    }

    /// Puts an object in. When this has returned, every read that is under way finds the object.
    ///
    /// It may wait for reads that are under way. So do not call this function inside
    /// [`read`](Self::read) of the same root.
    ///
    /// # Panics
    /// If the object was removed from another root and that root's log still refers to it.
    /// [`synchronize`](Self::synchronize) the other root first, or use
    /// [`try_insert`](Self::try_insert), which does not panic.
    #[inline]
    pub fn insert(&self, object: Out<P, S>) -> In<P, S> {
        match self.try_insert(object) {
            Ok((attached, _)) => attached,
            Err(_) => elsewhere("inserted"),
        }
    }

    /// Does what [`insert`](Self::insert) does, but does not panic. Also returns how the insertion was
    /// made.
    ///
    /// # Errors
    /// Returns the object if another root's log still refers to it.
    #[inline]
    #[expect(clippy::type_complexity, reason = "the error gives the object back")]
    pub fn try_insert(
        &self,
        object: Out<P, S>,
    ) -> Result<(In<P, S>, Inserted), ElsewhereError<Out<P, S>>> {
        let root = &*self.root;
        let mut how = Inserted::Logged;
        // SAFETY: the token proves that the object is detached and that this thread owns it.
        let adopted = unsafe { root.log.adopt(object.hook()) };
        let update = |object: NonNull<_>| {
            // SAFETY: this thread owns the object, which was adopted. It stays in place, and it is freed
            // only when its node is settled. Dropping the root synchronizes the log.
            let (inserted, released) = unsafe {
                root.log.insert(&*root.lock, object.cast(), root.limit, |node| root.put_in(node))
            };
            how = inserted;
            free::<P, S>(released);
        };
        // SAFETY: the object is out, and `update` puts it in, as its owner.
        let attached = unsafe { insert_by::<P, S>(adopted, object, update) }?;
        Ok((attached, how))
    }

    /// Takes an object out. When this has returned, no read that is under way has seen the object, or
    /// will. Also returns how the removal was made.
    ///
    /// It may wait for reads that are under way, as [`insert`](Self::insert) may.
    ///
    /// # Panics
    /// If the object is in another root. [`try_remove`](Self::try_remove) does not panic.
    #[inline]
    pub fn remove(&self, object: In<P, S>) -> (Out<P, S>, Removed) {
        match self.try_remove(object) {
            Ok(removed) => removed,
            Err(_) => elsewhere("removed"),
        }
    }

    /// Does what [`remove`](Self::remove) does, but does not panic.
    ///
    /// # Errors
    /// Returns the object if it is in another root.
    #[inline]
    #[expect(clippy::type_complexity, reason = "the error gives the object back")]
    pub fn try_remove(
        &self,
        object: In<P, S>,
    ) -> Result<(Out<P, S>, Removed), ElsewhereError<In<P, S>>> {
        let root = &*self.root;
        let mut how = Removed::Cancelled;
        // SAFETY: the token proves that this thread owns the object.
        let own = unsafe { root.log.owns(object.hook()) };
        let update = |object: NonNull<_>| {
            // SAFETY: this thread owns the object, which is in and belongs to this root.
            how =
                unsafe { root.log.remove(&*root.lock, object.cast(), |node| root.take_out(node)) };
        };
        // SAFETY: the object is in, and `update` takes it out, as its owner.
        let detached = unsafe { remove_by::<P, S>(own, object, update) }?;
        Ok((detached, how))
    }

    /// Puts an object in at once, under the lock, without logging the insertion.
    ///
    /// # Panics
    /// If [`insert`](Self::insert) would panic.
    #[inline]
    pub fn insert_directly(&self, object: Out<P, S>) -> In<P, S> {
        let root = &*self.root;
        // SAFETY: the token proves that the object is detached and that this thread owns it.
        let adopted = unsafe { root.log.adopt(object.hook()) };
        let update = |object: NonNull<_>| {
            // SAFETY: as for an insertion that is logged.
            let released = unsafe {
                root.log.insert_directly(&*root.lock, object.cast(), |node| root.put_in(node))
            };
            free::<P, S>(released);
        };
        // SAFETY: the object is out, and `update` puts it in, as its owner.
        match unsafe { insert_by::<P, S>(adopted, object, update) } {
            Ok(attached) => attached,
            Err(_) => elsewhere("inserted"),
        }
    }

    /// Calls `show` with the structure and returns what `show` returns. The structure contains each
    /// object that is in, all the time until `show` returns.
    ///
    /// Readers share the structure. If the log is empty, no exclusive lock is taken.
    #[inline]
    pub fn read<R>(&self, show: impl FnOnce(&S) -> R) -> R {
        let root = &*self.root;
        // SAFETY: the lock is the root's.
        let released = unsafe { root.log.enter(&*root.lock, |node| root.put_in(node)) };
        let inside = Leave { log: &root.log, lock: &*root.lock };
        // SAFETY: this thread is inside as a reader until `inside` is dropped.
        let result = unsafe { root.structure.show(show) };
        drop(inside);
        free::<P, S>(released);
        result
    }

    /// Applies the log. A caller that does not want to read can use this to free removed objects.
    pub fn synchronize(&self) {
        let root = &*self.root;
        // SAFETY: the lock is the root's.
        free::<P, S>(unsafe { root.log.synchronize(&*root.lock, |node| root.put_in(node)) });
    }

    /// Applies the log unless a thread is inside, and returns whether it did. This is for a timer
    /// or an idle thread, which should not wait.
    pub fn flush(&self) -> bool {
        let root = &*self.root;
        let put_in = |node| root.put_in(node);
        // SAFETY: the lock is the root's.
        let (done, released) = unsafe { root.log.try_synchronize(&*root.lock, put_in) };
        free::<P, S>(released);
        done
    }
}

impl<P: Platform, S: Structure, L> Root<P, S, L> {
    /// Called with the lock held as the writer.
    #[inline]
    fn put_in(&self, node: NonNull<Node<P>>) {
        // SAFETY: only objects of this type are logged here. The log puts an object in after it was taken
        // out, and the object is alive as long as its node was not taken from the queue without a claim.
        unsafe { self.structure.apply(node, Update::Insert) };
    }

    /// Called with the lock held as the writer.
    #[inline]
    fn take_out(&self, node: NonNull<Node<P>>) {
        // SAFETY: as above; the log takes out what was put in, and its owner keeps it alive.
        unsafe { self.structure.apply(node, Update::Remove) };
    }
}

impl<P: Platform, S: Structure, L: RawRwLock<P, Reader = ()>> Drop for PromptLdu<P, S, L> {
    /// Applies the log, so that removed objects are freed. Objects that are still inserted stay in
    /// memory, as their tokens refer to them.
    fn drop(&mut self) {
        self.synchronize();
    }
}

/// Leaves as a reader when it is dropped, so a reader leaves even if its `show` panics.
struct Leave<'a, P: Platform, L: RawRwLock<P, Reader = ()>> {
    log: &'a InsertionLog<P>,
    lock: &'a L,
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>> Drop for Leave<'_, P, L> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a `Leave` is made right after entering.
        unsafe { self.log.leave(self.lock) };
    }
}

impl<P: Platform, S: Structure, L: RawRwLock<P, Reader = ()>> fmt::Debug for PromptLdu<P, S, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptLdu").field("log", &*self.root.log).finish_non_exhaustive()
    }
}
