//! The structure behind a lock.
//!
//! This is the plainest way to share a structure, and the one with which all others are compared.
//! With a mutual-exclusion lock ([`NoSharing`](kilocore_locks::NoSharing)), it is what most
//! programs do. With a read-write semaphore, it is what the stock Linux kernel does for its reverse
//! mappings. An update costs a handover of the lock, whatever the structure is. Searches run in
//! parallel if the lock allows it.
//!
//! The lock and the structure lie on separate cache lines. Objects are freed at once. Two things
//! are done as in Linux: several objects are inserted or removed together under one acquisition,
//! and an object that belongs beside another is inserted there without a search from the top.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use kilocore_ldu::{Attached, Detached, Scheme, Search};
use kilocore_locks::{Mcs, NoSharing, RawRwLock};
use kilocore_platform::Platform;

use crate::anchor::{Anchor, Body};
use crate::contents::Contents;
use crate::guarded::Guarded;
use crate::plain::PlainHook;

/// The name of a scheme whose parts can be exchanged.
pub trait Label: Send + Sync + 'static {
    /// The name, as on the command line.
    const NAME: &'static str;
}

/// Names [`Locked`] with a mutual-exclusion lock.
#[derive(Debug, Clone, Copy)]
pub struct Mutex;

impl Label for Mutex {
    const NAME: &'static str = "mutex";
}

/// Names [`Locked`] with the lock that the stock kernel uses there.
#[derive(Debug, Clone, Copy)]
pub struct Stock;

impl Label for Stock {
    const NAME: &'static str = "stock";
}

/// The structure behind a lock `L`. The scheme is called `N`.
pub struct Locked<P, L = NoSharing<P, Mcs<P>>, N = Mutex> {
    parts: PhantomData<fn(P, L, N)>,
}

/// A root of [`Locked`].
pub struct LockedRoot<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> {
    body: Anchor<P, Inside<P, L, S>>,
}

struct Inside<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> {
    guarded: Guarded<P, L, Contents<S>>,
}

// SAFETY: only objects among the contents refer to the body. It is freed only if there are none.
unsafe impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> Body for Inside<P, L, S> {
    fn finish(&mut self) -> bool {
        self.guarded.write_alone(|contents| contents.is_empty())
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, N: Label> Scheme<P> for Locked<P, L, N> {
    type Hook = PlainHook<P>;
    type Thread = ();
    type Root<S: Search> = LockedRoot<P, L, S>;

    fn name() -> &'static str {
        N::NAME
    }

    fn new(_cores: u32) -> Self {
        Self { parts: PhantomData }
    }

    fn thread(&self) {}

    fn root<S: Search>(&self, structure: S) -> LockedRoot<P, L, S> {
        let guarded = Guarded::new(Contents::new(structure));
        LockedRoot { body: Anchor::new(Inside { guarded }) }
    }

    fn insert<S: Search>(
        &self,
        root: &LockedRoot<P, L, S>,
        object: Detached<PlainHook<P>, S::Item>,
        (): &mut (),
    ) -> Attached<PlainHook<P>, S::Item> {
        object.hook().home.set(&*root.body);
        // SAFETY: this is the object's only token, and the next statement inserts the object. It is
        // attached before that, so that its memory stays if the structure panics.
        let object = unsafe { Attached::from_raw(object.into_raw()) };
        // SAFETY: it was detached, so it is in no structure. Its memory stays until it is removed.
        root.body.guarded.write(|contents| unsafe { contents.insert(&object) });
        object
    }

    fn insert_near<S: Search>(
        &self,
        root: &LockedRoot<P, L, S>,
        object: Detached<PlainHook<P>, S::Item>,
        near: &Attached<PlainHook<P>, S::Item>,
        (): &mut (),
    ) -> Attached<PlainHook<P>, S::Item> {
        near.hook().home.expect(&*root.body);
        object.hook().home.set(&*root.body);
        // SAFETY: this is the object's only token, and the next statement inserts the object.
        let object = unsafe { Attached::from_raw(object.into_raw()) };
        // SAFETY: it was detached, so it is in no structure. Its memory stays until it is removed.
        // The other object is attached to this root, as its hook says, and stays there while it is
        // borrowed.
        root.body.guarded.write(|contents| unsafe { contents.insert_near(&object, near) });
        object
    }

    fn insert_all<S: Search>(
        &self,
        root: &LockedRoot<P, L, S>,
        objects: Vec<Detached<PlainHook<P>, S::Item>>,
        (): &mut (),
    ) -> Vec<Attached<PlainHook<P>, S::Item>> {
        let attach = |object: Detached<PlainHook<P>, S::Item>| {
            object.hook().home.set(&*root.body);
            // SAFETY: this is the object's only token, and the object is inserted below.
            unsafe { Attached::from_raw(object.into_raw()) }
        };
        let objects: Vec<_> = objects.into_iter().map(attach).collect();
        root.body.guarded.write(|contents| {
            for object in &objects {
                // SAFETY: it was detached, so it is in no structure. Its memory stays until it is
                // removed.
                unsafe { contents.insert(object) };
            }
        });
        objects
    }

    fn remove_all<S: Search>(
        &self,
        root: &LockedRoot<P, L, S>,
        objects: Vec<Attached<PlainHook<P>, S::Item>>,
        (): &mut (),
    ) -> Vec<Detached<PlainHook<P>, S::Item>> {
        objects.iter().for_each(|object| object.hook().home.expect(&*root.body));
        root.body.guarded.write(|contents| {
            for object in &objects {
                // SAFETY: it is attached, so it is in a structure, and its hook says that it is in
                // this one.
                unsafe { contents.remove(object) };
            }
        });
        let detach = |object: Attached<PlainHook<P>, S::Item>| {
            // SAFETY: this is the object's only token, and the object was removed just now.
            unsafe { Detached::from_raw(object.into_raw()) }
        };
        objects.into_iter().map(detach).collect()
    }

    fn remove<S: Search>(
        &self,
        root: &LockedRoot<P, L, S>,
        object: Attached<PlainHook<P>, S::Item>,
        (): &mut (),
    ) -> Detached<PlainHook<P>, S::Item> {
        object.hook().home.expect(&*root.body);
        // SAFETY: it is attached, so it is in a structure, and its hook says that it is in this
        // one.
        root.body.guarded.write(|contents| unsafe { contents.remove(&object) });
        // SAFETY: this is the object's only token, and the object was removed just now.
        unsafe { Detached::from_raw(object.into_raw()) }
    }

    fn search<S: Search>(
        &self,
        root: &LockedRoot<P, L, S>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        (): &mut (),
    ) {
        root.body.guarded.read(|contents| contents.structure.search(query, found));
    }
}

impl<P, L, N> fmt::Debug for Locked<P, L, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locked").finish_non_exhaustive()
    }
}

impl<P: Platform, L: RawRwLock<P, Reader = ()>, S: Search> fmt::Debug for LockedRoot<P, L, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LockedRoot").finish_non_exhaustive()
    }
}
