//! What all ways to share a structure between threads that update it can do.

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
