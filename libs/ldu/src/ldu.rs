//! A structure behind a deferred-update log.

use alloc::boxed::Box;
use core::fmt;
use core::ptr::NonNull;

use kilocore_locks::{RawRwLock, Rwsem};
use kilocore_platform::{Platform, SharedCell};

use crate::global::Global;
use crate::log::{Counts, Inside, Limits, Log, Released};
use crate::node::{Node, Update};
use crate::object::{Attached, Detached, Hook, Object};
use crate::policy::{Always, Policy};
use crate::queue::Queue;
use crate::structure::Structure;

/// Turns that those who wait for a root spin before they sleep: some ten microseconds, which a read
/// or a synchronization rarely takes.
pub const TURNS: u32 = 256;

/// A structure of type `S` that many threads update and few read.
///
/// Updates are logged, without a lock, and applied when somebody reads; an insertion and a removal
/// of the same object cancel each other on the way. `Q` is where logs wait: [`Global`], or
/// [`PerCore`](crate::PerCore) if so many cores update this one structure that the head of the
/// global queue limits them. `L` is the lock that readers share.
///
/// `D` says when an update is logged: [`Always`], or [`Adaptive`](crate::Adaptive)ly where that is
/// faster.
///
/// The crate's documentation says when to use it and when not.
pub struct Ldu<P, S, Q = Global<P>, L = Rwsem<P, TURNS>, D = Always>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P>,
    D: Policy<P>,
{
    root: Box<Root<P, S, Q, L, D>>,
}

/// What does not move.
struct Root<P: Platform, S: Structure, Q, L, D> {
    log: Log<P, Q, L, D>,
    structure: P::Cell<S>,
}

// SAFETY: `free` gives the memory back when the node is settled, or leaves that to whoever takes
// the node from its queue; a node that is not queued is not reached from anywhere.
unsafe impl<P: Platform> Hook for Node<P> {
    type Platform = P;

    fn new() -> Self {
        Node::new()
    }

    #[inline]
    unsafe fn dispose<T: Send + Sync + 'static>(object: NonNull<Object<Self, T>>) {
        // SAFETY: the caller owns the object, which is detached, and does not use it again.
        if unsafe { object.as_ref().hook.give_up() } {
            // SAFETY: nobody else can reach it any more.
            unsafe { Object::free(object) };
        }
    }

    #[inline]
    fn is_settled(&self) -> bool {
        Node::is_settled(self)
    }
}

/// Why an operation on an object was refused. It comes back unchanged.
#[derive(Debug)]
pub struct ElsewhereError<T>(pub T);

/// An object that can be put into a structure of `S`, and its tokens.
pub type Out<P, S> = Detached<Node<P>, <S as Structure>::Item>;
/// An object that is in a structure of `S`.
pub type In<P, S> = Attached<Node<P>, <S as Structure>::Item>;
/// The same without a token.
type Raw<P, S> = NonNull<Object<Node<P>, <S as Structure>::Item>>;

impl<P: Platform, S: Structure, L: RawRwLock<P>> Ldu<P, S, Global<P>, L> {
    /// A structure, which is empty, with a queue of its own.
    pub fn new(structure: S) -> Self {
        Self::with(structure, (), Limits::default())
    }
}

impl<P, S, Q, L, D> Ldu<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P>,
    D: Policy<P>,
{
    /// A structure, which is empty, whose queue shares `domain` with those of other roots.
    pub fn with(structure: S, domain: Q::Domain, limits: Limits) -> Self {
        Self {
            root: Box::new(Root {
                log: Log::new(domain, limits),
                structure: P::Cell::new(structure),
            }),
        }
    }

    /// An object around `item`, to be inserted here or elsewhere.
    pub fn object(&self, item: S::Item) -> Out<P, S> {
        Detached::new(item)
    }

    /// Logs that an object is put in.
    ///
    /// A reader that comes after this returns finds it. If the log has grown too long, the caller
    /// applies it, and may wait for readers to leave: so do not call it inside of
    /// [`read`](Self::read) of the same root.
    ///
    /// # Panics
    /// If the object was removed from another root whose log still has to take it out:
    /// [`synchronize`](Self::synchronize) that one first. [`try_insert`](Self::try_insert) does not
    /// panic.
    #[inline]
    pub fn insert(&self, object: Out<P, S>) -> In<P, S> {
        match self.try_insert(object) {
            Ok(attached) => attached,
            Err(_) => elsewhere("inserted"),
        }
    }

    /// As [`insert`](Self::insert).
    ///
    /// # Errors
    /// The object again, if another root's log still has to take it out.
    #[inline]
    pub fn try_insert(&self, object: Out<P, S>) -> Result<In<P, S>, ElsewhereError<Out<P, S>>> {
        self.insert_by(object, Self::update)
    }

    /// Logs that an object is taken out.
    ///
    /// A reader that comes after this returns does not find it. Waits as [`insert`](Self::insert)
    /// does.
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

    /// As [`remove`](Self::remove).
    ///
    /// # Errors
    /// The object again, if it is in another root.
    #[inline]
    pub fn try_remove(&self, object: In<P, S>) -> Result<Out<P, S>, ElsewhereError<In<P, S>>> {
        self.remove_by(object, Self::update)
    }

    /// As [`insert`](Self::insert), but at once, as the writer.
    ///
    /// # Panics
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn insert_directly(&self, object: Out<P, S>) -> In<P, S> {
        match self.insert_by(object, Self::update_directly) {
            Ok(attached) => attached,
            Err(_) => elsewhere("inserted"),
        }
    }

    /// As [`remove`](Self::remove), but at once, as the writer.
    ///
    /// # Panics
    /// As [`remove`](Self::remove).
    #[inline]
    pub fn remove_directly(&self, object: In<P, S>) -> Out<P, S> {
        match self.remove_by(object, Self::update_directly) {
            Ok(detached) => detached,
            Err(_) => elsewhere("removed"),
        }
    }

    /// Shows the structure as it is after every update that returned before this was called.
    ///
    /// Readers share it. Where the log is empty, no exclusive lock is taken; otherwise one of the
    /// readers that find it so applies it for all.
    #[inline]
    pub fn read<R>(&self, show: impl FnOnce(&S) -> R) -> R {
        let root = &*self.root;
        let (inside, released) = root.log.enter(|node, update| root.apply(node, update));
        let inside = Leave { root, inside };
        // SAFETY: whoever is inside shares the structure with readers only.
        let result = root.structure.with(|structure| show(unsafe { &*structure }));
        drop(inside);
        free::<P, S>(released);
        result
    }

    /// Applies the log. Also when nothing is to be read: so that objects are freed.
    pub fn synchronize(&self) {
        let root = &*self.root;
        free::<P, S>(root.log.synchronize(|node, update| root.apply(node, update)));
    }

    /// Applies the log if nobody is inside: for a timer or an idle thread. False if somebody is.
    pub fn flush(&self) -> bool {
        let root = &*self.root;
        let (done, released) = root.log.try_synchronize(|node, update| root.apply(node, update));
        free::<P, S>(released);
        done
    }

    /// What was applied so far.
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
        // SAFETY: the token says that the object is detached and this thread its owner.
        if !unsafe { self.root.log.adopt(object.hook()) } {
            return Err(ElsewhereError(object));
        }
        let object = object.into_raw();
        // SAFETY: the token was given up, so this thread owns the object.
        unsafe { update(self, object) };
        // SAFETY: its only other token went into this function, and it was just inserted.
        Ok(unsafe { Attached::from_raw(object) })
    }

    #[inline]
    fn remove_by(
        &self,
        object: In<P, S>,
        update: unsafe fn(&Self, Raw<P, S>),
    ) -> Result<Out<P, S>, ElsewhereError<In<P, S>>> {
        // SAFETY: the token says that this thread is the object's owner.
        if !unsafe { self.root.log.owns(object.hook()) } {
            return Err(ElsewhereError(object));
        }
        let object = object.into_raw();
        // SAFETY: the token was given up, so this thread owns the object.
        unsafe { update(self, object) };
        // SAFETY: its only other token went into this function, and it was just removed.
        Ok(unsafe { Detached::from_raw(object) })
    }

    /// # Safety
    /// The caller owns the object, and it is this root's.
    #[inline]
    unsafe fn update(&self, object: Raw<P, S>) {
        let root = &*self.root;
        // SAFETY: by the caller's promise. The object stays in place and is only freed when its
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

#[cold]
fn elsewhere(what: &str) -> ! {
    panic!("the object to be {what} is another root's");
}

impl<P, S, Q, L, D> Root<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P>,
    D: Policy<P>,
{
    /// Applies an update. Called with the lock held as the writer.
    #[inline]
    fn apply(&self, node: NonNull<Node<P>>, update: Update) {
        // SAFETY: only objects of this type are logged here, and the node is their first field.
        // The item is alive: its node is not settled.
        let item = unsafe { &node.cast::<Object<Node<P>, S::Item>>().as_ref().item };
        self.structure.with_mut(|structure| {
            let whole = AbortOnUnwind;
            // SAFETY: the writer is alone with the structure.
            let structure = unsafe { &mut *structure };
            match update {
                // SAFETY: the log applies insertions and removals of an object in turn, and the
                // object stays where it is until it was removed.
                Update::Insert => unsafe { structure.insert(item) },
                // SAFETY: as above.
                Update::Remove => unsafe { structure.remove(item) },
            }
            core::mem::forget(whole);
        });
    }
}

impl<P, S, Q, L, D> Drop for Ldu<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P>,
    D: Policy<P>,
{
    /// Applies what was logged, so that removed objects are freed; those that are still inserted
    /// stay with their tokens.
    fn drop(&mut self) {
        self.synchronize();
    }
}

/// A structure that panics half way through an update can neither be read nor mended, so the
/// program ends: by panicking while it panics.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        panic!("the structure behind a log must not panic");
    }
}

/// Leaves as a reader, also if showing the structure panicked.
struct Leave<'a, P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P>,
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
    L: RawRwLock<P>,
    D: Policy<P>,
{
    #[inline]
    fn drop(&mut self) {
        // SAFETY: made right after entering.
        unsafe { self.root.log.leave(self.inside) };
    }
}

/// Frees objects of a root of structures `S`. Not under the lock: dropping an item may run anything.
#[inline]
fn free<P: Platform, S: Structure>(released: Released<P>) {
    released.free_all(|node| {
        // SAFETY: only objects of this type are logged in such a root; it was given up and is out of
        // the structure and the queue.
        unsafe { Object::<Node<P>, S::Item>::free(node.cast()) };
    });
}

impl<P, S, Q, L, D> fmt::Debug for Ldu<P, S, Q, L, D>
where
    P: Platform,
    S: Structure,
    Q: Queue<P>,
    L: RawRwLock<P>,
    D: Policy<P>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ldu").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
