//! A structure behind a deferred-update log.

use alloc::boxed::Box;
use core::fmt;
use core::ptr::NonNull;

use kilocore_locks::{RawRwLock, Rwsem};
use kilocore_platform::Platform;

use crate::global::Global;
use crate::guarded::{
    ElsewhereError, Guarded, In, Out, Raw, elsewhere, free, insert_by, remove_by,
};
use crate::log::{Counts, Inside, Limits, Log};
use crate::node::{Node, Update};
use crate::object::{Detached, Hook, Object};
use crate::policy::{Always, Policy};
use crate::queue::Queue;
use crate::structure::Structure;

/// The number of turns that a thread spins for a root's lock before it sleeps. They take some ten
/// microseconds. A read or a synchronization rarely takes as long.
pub const TURNS: u32 = 256;

/// A structure of type `S` that many threads update and few threads read.
///
/// Updates are logged without a lock, and they are applied when somebody reads. An insertion and a
/// removal of the same object cancel each other in the log.
///
/// * `Q` is the queue in which logged updates wait. It is [`Global`] for most roots, and
///   [`PerCore`](crate::PerCore) if so many cores update this one structure that the head of the
///   global queue limits them.
/// * `L` is the lock that readers share.
/// * `D` says when an update is logged: [`Always`], or with [`Adaptive`](crate::Adaptive) only
///   while logging is faster.
///
/// The crate's documentation says when to use it and when not.
pub struct Ldu<P, S, Q = Global<P>, L = Rwsem<P, TURNS>, D = Always>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    root: Box<Root<P, S, Q, L, D>>,
}

/// The part that must not move, because a log must not be moved after its first update.
struct Root<P: Platform, S: Structure, Q, L, D> {
    log: Log<P, Q, L, D>,
    structure: Guarded<P, S>,
}

// SAFETY: `dispose` frees the object at once if its node is settled, and otherwise leaves that to
// the thread that takes the node from its queue. A settled node is in no queue and no update is
// pending for it, so no other thread can reach the object.
unsafe impl<P: Platform> Hook for Node<P> {
    type Platform = P;

    fn new() -> Self {
        Node::new()
    }

    #[inline]
    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: the caller owns the object, which is detached, and does not use it again.
        if unsafe { object.as_ref().hook.give_up() } {
            // SAFETY: no other thread can reach the object any more.
            unsafe { Object::free(object) };
        }
    }

    #[inline]
    fn is_settled(&self) -> bool {
        Node::is_settled(self)
    }
}

impl<P: Platform, S: Structure, L: RawRwLock<P, Reader = ()>> Ldu<P, S, Global<P>, L> {
    /// Puts `structure`, which must be empty, behind a log with a queue of its own.
    pub fn new(structure: S) -> Self {
        Self::with(structure, (), Limits::default())
    }
}

impl<P, S, Q, L, D> Ldu<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    /// Puts `structure`, which must be empty, behind a log. Its queue shares `domain` with the
    /// queues of other roots.
    pub fn with(structure: S, domain: Q::Domain, limits: Limits) -> Self {
        Self {
            root: Box::new(Root {
                log: Log::new(domain, limits),
                structure: Guarded::new(structure),
            }),
        }
    }

    /// Returns a new object around `item`. It may be inserted into this root or into another one.
    pub fn object(&self, item: S::Item) -> Out<P, S> {
        Detached::new(item)
    }

    /// Logs that an object is put in.
    ///
    /// A reader that enters after this has returned finds the object. If the log has grown too
    /// long, this call applies it, and may wait for readers to leave. So do not call this function
    /// inside [`read`](Self::read) of the same root.
    ///
    /// # Panics
    /// If the object was removed from another root and that root's log still has to take it out.
    /// [`synchronize`](Self::synchronize) the other root first, or use
    /// [`try_insert`](Self::try_insert), which does not panic.
    #[inline]
    pub fn insert(&self, object: Out<P, S>) -> In<P, S> {
        match self.try_insert(object) {
            Ok(attached) => attached,
            Err(_) => elsewhere("inserted"),
        }
    }

    /// Does what [`insert`](Self::insert) does, but does not panic.
    ///
    /// # Errors
    /// Returns the object if another root's log still has to take it out.
    #[inline]
    pub fn try_insert(&self, object: Out<P, S>) -> Result<In<P, S>, ElsewhereError<Out<P, S>>> {
        self.insert_by(object, Self::update)
    }

    /// Logs that an object is taken out.
    ///
    /// A reader that enters after this has returned does not find the object. This function may
    /// wait for readers as [`insert`](Self::insert) does.
    ///
    /// # Panics
    /// If the object is in another root. [`try_remove`](Self::try_remove) does not panic.
    #[inline]
    pub fn remove(&self, object: In<P, S>) -> Out<P, S> {
        match self.try_remove(object) {
            Ok(detached) => detached,
            Err(_) => elsewhere("removed"),
        }
    }

    /// Does what [`remove`](Self::remove) does, but does not panic.
    ///
    /// # Errors
    /// Returns the object if it is in another root.
    #[inline]
    pub fn try_remove(&self, object: In<P, S>) -> Result<Out<P, S>, ElsewhereError<In<P, S>>> {
        self.remove_by(object, Self::update)
    }

    /// Inserts an object into the structure at once, under the lock, without logging the insertion.
    ///
    /// # Panics
    /// If [`insert`](Self::insert) would panic.
    #[inline]
    pub fn insert_directly(&self, object: Out<P, S>) -> In<P, S> {
        match self.insert_by(object, Self::update_directly) {
            Ok(attached) => attached,
            Err(_) => elsewhere("inserted"),
        }
    }

    /// Removes an object from the structure at once, under the lock, without logging the removal.
    ///
    /// # Panics
    /// If [`remove`](Self::remove) would panic.
    #[inline]
    pub fn remove_directly(&self, object: In<P, S>) -> Out<P, S> {
        match self.remove_by(object, Self::update_directly) {
            Ok(detached) => detached,
            Err(_) => elsewhere("removed"),
        }
    }

    /// Calls `show` with the structure and returns what `show` returns. The structure contains
    /// every update that returned before this call.
    ///
    /// Readers share the structure. If the log is empty, no exclusive lock is taken. If several
    /// readers find updates in the log, one of them applies the log for all.
    #[inline]
    pub fn read<R>(&self, show: impl FnOnce(&S) -> R) -> R {
        let root = &*self.root;
        let (inside, released) = root.log.enter(|node, update| root.apply(node, update));
        let inside = Leave { root, inside };
        // SAFETY: this thread is inside as a reader until `inside` is dropped.
        let result = unsafe { root.structure.show(show) };
        drop(inside);
        free::<P, S>(released);
        result
    }

    /// Applies the log. A caller that does not want to read can use this to free removed objects.
    pub fn synchronize(&self) {
        let root = &*self.root;
        free::<P, S>(root.log.synchronize(|node, update| root.apply(node, update)));
    }

    /// Applies the log unless a thread is inside, and returns whether it did. This is for a timer
    /// or an idle thread, which should not wait.
    pub fn flush(&self) -> bool {
        let root = &*self.root;
        let (done, released) = root.log.try_synchronize(|node, update| root.apply(node, update));
        free::<P, S>(released);
        done
    }

    /// Returns how many updates were logged and applied so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.root.log.counts()
    }

    #[inline]
    fn insert_by(
        &self,
        object: Out<P, S>,
        update: unsafe fn(&Self, Raw<P, S>),
    ) -> Result<In<P, S>, ElsewhereError<Out<P, S>>> {
        // SAFETY: the token proves that the object is detached and that this thread owns it.
        let adopted = unsafe { self.root.log.adopt(object.hook()) };
        // SAFETY: the object is out, and `update` puts it in, as its owner.
        unsafe { insert_by::<P, S>(adopted, object, |object| update(self, object)) }
    }

    #[inline]
    fn remove_by(
        &self,
        object: In<P, S>,
        update: unsafe fn(&Self, Raw<P, S>),
    ) -> Result<Out<P, S>, ElsewhereError<In<P, S>>> {
        // SAFETY: the token proves that this thread owns the object.
        let own = unsafe { self.root.log.owns(object.hook()) };
        // SAFETY: the object is in, and `update` takes it out, as its owner.
        unsafe { remove_by::<P, S>(own, object, |object| update(self, object)) }
    }

    /// # Safety
    /// The caller owns the object, and the object belongs to this root.
    #[inline]
    unsafe fn update(&self, object: Raw<P, S>) {
        let root = &*self.root;
        // SAFETY: by the caller's promise. The object stays in place, and it is freed only when its
        // node is settled.
        let released = unsafe { root.log.update(object.cast(), |node, u| root.apply(node, u)) };
        free::<P, S>(released);
    }

    /// # Safety
    /// As for [`update`](Self::update).
    #[inline]
    unsafe fn update_directly(&self, object: Raw<P, S>) {
        let root = &*self.root;
        let node = object.cast();
        // SAFETY: by the caller's promise.
        let released = unsafe { root.log.update_directly(node, |node, u| root.apply(node, u)) };
        free::<P, S>(released);
    }
}

impl<P, S, Q, L, D> Root<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    /// Applies an update. Called with the lock held as the writer.
    #[inline]
    fn apply(&self, node: NonNull<Node<P>>, update: Update) {
        // SAFETY: only objects of this type are logged here. An object is alive as long as its node is
        // not settled, and the log applies insertions and removals of one object alternately.
        unsafe { self.structure.apply(node, update) };
    }
}

impl<P, S, Q, L, D> Drop for Ldu<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    /// Applies the log, so that removed objects are freed. Objects that are still inserted stay in
    /// memory, as their tokens refer to them.
    fn drop(&mut self) {
        self.synchronize();
    }
}

/// Leaves as a reader when it is dropped, so a reader leaves even if its `show` panics.
struct Leave<'a, P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    root: &'a Root<P, S, Q, L, D>,
    inside: Inside,
}

impl<P, S, Q, L, D> Drop for Leave<'_, P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a `Leave` is made right after entering, with what the reader got there.
        unsafe { self.root.log.leave(self.inside) };
    }
}

impl<P, S, Q, L, D> fmt::Debug for Ldu<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P, Reader = ()>,
    D: Policy<P>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ldu").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
