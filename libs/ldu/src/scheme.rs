//! What all ways to share a structure between threads that update it can do.

use alloc::vec::Vec;

use kilocore_platform::Platform;

use crate::object::{Attached, Detached, Hook};
use crate::structure::Search;

/// A way to let many threads update a structure that is made for one: deferred-update logs, locks
/// around it, lists that need none.
///
/// A value of the type is what all roots of one machine or program share (slots for each core,
/// epochs); a [`Root`](Self::Root) is one structure. Benchmarks, the case study and the
/// experiments are generic over this trait, so that all schemes do the same work.
///
/// # What an implementation promises
/// Each operation takes effect at some moment between its call and its return; a search sees the
/// effect of all that returned before it was called.
pub trait Scheme<P: Platform>: Send + Sync + Sized + 'static {
    /// What it keeps in each object.
    type Hook: Hook<Platform = P>;

    /// What a thread brings along. Stays with its thread.
    type Thread;

    /// A structure shared in this way.
    ///
    /// A root is dropped by its last user when all its objects were removed; then it may still
    /// have work to do, for objects that it frees.
    type Root<S: Search>: Send + Sync + 'static;

    /// What it is called, as on the command line.
    fn name() -> &'static str;

    /// What all roots share, for a machine with `cores` cores whose numbers are below that.
    fn new(cores: u32) -> Self;

    /// What the calling thread needs from now on.
    fn thread(&self) -> Self::Thread;

    /// A structure to be shared; it is empty.
    fn root<S: Search>(&self, structure: S) -> Self::Root<S>;

    /// Puts an object in.
    ///
    /// # Panics
    /// If the object is not settled and was in another root.
    fn insert<S: Search>(
        &self,
        root: &Self::Root<S>,
        object: Detached<Self::Hook, S::Item>,
        thread: &mut Self::Thread,
    ) -> Attached<Self::Hook, S::Item>;

    /// Puts an object in that belongs beside `near`, which is in: as [`insert`](Self::insert), and
    /// better where a scheme updates the structure at once. One that defers the update cannot use
    /// `near`, which may be out again by then.
    ///
    /// # Panics
    /// As [`insert`](Self::insert); and, where the scheme looks at `near`, if that is in another root.
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

    /// Puts several objects in, one after another; others may see some of them already. Better than
    /// so many calls of [`insert`](Self::insert) where a scheme takes a lock only once for all.
    ///
    /// # Panics
    /// As [`insert`](Self::insert).
    fn insert_all<S: Search>(
        &self,
        root: &Self::Root<S>,
        objects: Vec<Detached<Self::Hook, S::Item>>,
        thread: &mut Self::Thread,
    ) -> Vec<Attached<Self::Hook, S::Item>> {
        objects.into_iter().map(|object| self.insert(root, object, thread)).collect()
    }

    /// Takes several objects out, as [`insert_all`](Self::insert_all) puts them in.
    ///
    /// # Panics
    /// As [`remove`](Self::remove).
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

    /// Gives an object's memory back when that is safe. As dropping it, and better where the
    /// scheme needs to know the thread.
    fn release<T: Send + Sync + 'static>(
        &self,
        object: Detached<Self::Hook, T>,
        thread: &mut Self::Thread,
    ) {
        let _ = thread;
        drop(object);
    }

    /// Shows the items that answer `query`.
    fn search<S: Search>(
        &self,
        root: &Self::Root<S>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        thread: &mut Self::Thread,
    );

    /// Brings everything that was deferred to the structure.
    fn synchronize<S: Search>(&self, root: &Self::Root<S>, thread: &mut Self::Thread) {
        let _ = (root, thread);
    }
}
