//! The interface of all schemes that share a structure between threads.

use alloc::vec::Vec;

use kilocore_platform::Platform;

use crate::object::{Attached, Detached, Hook};
use crate::structure::Search;

/// A way to let many threads update one structure: a deferred-update log, a lock around a
/// sequential structure, or a lock-free list.
///
/// A value of this type is what all roots of one machine or program share, for example slots for
/// each core, or epochs. A [`Root`](Self::Root) is one structure. Benchmarks, the case study and
/// the experiments are generic over this trait, so that all schemes do the same work.
///
/// # What an implementation promises
/// Each operation takes effect at some moment between its call and its return. A search sees every
/// operation that returned before the search was called.
pub trait Scheme<P: Platform>: Send + Sync + Sized + 'static {
    /// The part of each object that belongs to the scheme.
    type Hook: Hook<Platform = P>;

    /// What a thread passes to each operation. A value is used by one thread only.
    type Thread;

    /// A structure that is shared in this way.
    ///
    /// Its last user drops the root after all its objects were removed. The root may then still
    /// have to free objects.
    type Root<S: Search>: Send + Sync + 'static;

    /// Returns the name of the scheme, as on the command line.
    fn name() -> &'static str;

    /// Returns what all roots share on a machine with `cores` cores, whose numbers are 0 to
    /// `cores - 1`.
    fn new(cores: u32) -> Self;

    /// Returns what the calling thread has to pass to each operation from now on.
    fn thread(&self) -> Self::Thread;

    /// Shares `structure`, which must be empty.
    fn root<S: Search>(&self, structure: S) -> Self::Root<S>;

    /// Puts an object in.
    ///
    /// # Panics
    /// If the object was in another root and is not settled.
    fn insert<S: Search>(
        &self,
        root: &Self::Root<S>,
        object: Detached<Self::Hook, S::Item>,
        thread: &mut Self::Thread,
    ) -> Attached<Self::Hook, S::Item>;

    /// Puts an object in that belongs beside `near`, which is in. The result is that of
    /// [`insert`](Self::insert), but a scheme that updates the structure at once may be faster. A
    /// scheme that defers the update cannot use `near`, which may be out again by then.
    ///
    /// # Panics
    /// If [`insert`](Self::insert) would panic. A scheme that uses `near` also panics if `near` is
    /// in another root.
    fn insert_near<S: Search>(
        &self,
        root: &Self::Root<S>,
        object: Detached<Self::Hook, S::Item>,
        near: &Attached<Self::Hook, S::Item>,
        thread: &mut Self::Thread,
    ) -> Attached<Self::Hook, S::Item> {
        let _ = near;
        self.insert(root, object, thread)
    }

    /// Puts several objects in, one after another. Other threads may see some of them before the
    /// call returns. If a scheme acquires its lock only once for all objects, this is faster than
    /// many calls of [`insert`](Self::insert).
    ///
    /// # Panics
    /// If [`insert`](Self::insert) would panic for one of the objects.
    fn insert_all<S: Search>(
        &self,
        root: &Self::Root<S>,
        objects: Vec<Detached<Self::Hook, S::Item>>,
        thread: &mut Self::Thread,
    ) -> Vec<Attached<Self::Hook, S::Item>> {
        objects.into_iter().map(|object| self.insert(root, object, thread)).collect()
    }

    /// Takes several objects out, in the way in which [`insert_all`](Self::insert_all) puts them
    /// in.
    ///
    /// # Panics
    /// If [`remove`](Self::remove) would panic for one of the objects.
    fn remove_all<S: Search>(
        &self,
        root: &Self::Root<S>,
        objects: Vec<Attached<Self::Hook, S::Item>>,
        thread: &mut Self::Thread,
    ) -> Vec<Detached<Self::Hook, S::Item>> {
        objects.into_iter().map(|object| self.remove(root, object, thread)).collect()
    }

    /// Takes an object out.
    ///
    /// # Panics
    /// If the object is in another root.
    fn remove<S: Search>(
        &self,
        root: &Self::Root<S>,
        object: Attached<Self::Hook, S::Item>,
        thread: &mut Self::Thread,
    ) -> Detached<Self::Hook, S::Item>;

    /// Frees an object as soon as that is safe. Dropping the object has the same effect, but this
    /// is faster if the scheme needs to know the thread.
    fn release<T: Send + Sync + 'static>(
        &self,
        object: Detached<Self::Hook, T>,
        thread: &mut Self::Thread,
    ) {
        let _ = thread;
        drop(object);
    }

    /// Calls `found` with each item that matches `query`.
    fn search<S: Search>(
        &self,
        root: &Self::Root<S>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        thread: &mut Self::Thread,
    );

    /// Applies all updates that the scheme has deferred.
    fn synchronize<S: Search>(&self, root: &Self::Root<S>, thread: &mut Self::Thread) {
        let _ = (root, thread);
    }
}
