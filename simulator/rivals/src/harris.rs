//! Harris's lock-free list, ordered or not.
//!
//! A removal first marks the node's link to its successor, by which the node counts as removed and
//! nothing can be linked behind it any more, and then takes it off the list; whoever passes marked
//! nodes on an update takes the run of them off at once (Harris, 'A pragmatic implementation of
//! non-blocking linked-lists', DISC 2001; Michael, 'High performance dynamic lock-free hash tables
//! and list-based sets', SPAA 2002). Who loses a race for a link starts again from the head, at
//! once: the papers have no backoff, and with many cores at one link most attempts are in vain.
//! [`Ordered`] keeps the list in the order
//! of [`Search::rank`]; [`Unordered`] inserts at the head, as the authors of the deferred-update log
//! did for their comparison, and a removal searches from there.
//!
//! A search walks the whole list and shows what is not marked and matches. It writes nothing. It
//! is no snapshot: of two updates by others during the search it may see the later and miss the
//! earlier one. All other schemes here give snapshots, so that favours this one.
//!
//! # Memory
//! Readers may walk over a node long after it was removed. So its links must not change until all of
//! them have left, by when an epoch is over (crate `crossbeam-epoch`). Kernel structures embed their
//! links, and so does this: an object that nobody walks over any more, a new one above all, is
//! linked by a node in its hook, and no memory is allocated. If it is inserted again sooner, it is
//! linked by a node from the allocator. A removal defers the end of the readers' grace period, which
//! is a [debt](crate::debts) of the object: it is settled, and can be changed or freed, when all of
//! its grace periods are over. So the item lives as long as somebody may see it, and an object may be
//! given back by a thread that has no part in the scheme.
//!
//! # In a simulation
//! Pinning an epoch, and the lists of what is deferred, are not simulated and cost nothing there:
//! that favours this rival. The links are simulated, and so are the debts.
//!
//! # Where it departs from the papers
//! Theirs is given a key and looks for the node, marks it and takes it off. This is given the
//! object: it marks first, and one walk does.
//!
//! Whoever takes a marked node off sets a second bit in its link, which will not change any more. The
//! thread that removes the node finds it and need not walk on to the place where the node is not;
//! in a list without order that would be the end.

mod hook;
mod list;
mod order;

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use crossbeam_epoch::{Collector, Guard, LocalHandle};
use kilocore_ldu::{Attached, Detached, Object, Scheme, Search};
use kilocore_platform::Platform;

pub use self::hook::HarrisHook;
use self::list::{List, Node};
pub use self::order::{Order, Ordered, Unordered};
use crate::anchor::{Anchor, Body};

/// Epochs that it takes until what was deferred last is done, and one to be sure.
const EPOCHS: usize = 4;

/// Harris's list in the order `O`.
pub struct Harris<P, O> {
    collector: Collector,
    parts: PhantomData<fn() -> (P, O)>,
}

/// A thread's part in the epochs of a [`Harris`].
pub struct HarrisThread {
    handle: LocalHandle,
}

/// A root of [`Harris`].
pub struct HarrisRoot<P: Platform, O: Order, S: Search> {
    body: Anchor<P, Inside<P, O>>,
    structure: PhantomData<fn() -> S>,
}

struct Inside<P: Platform, O: Order> {
    list: List<P, O>,
    /// Whose epochs protect the list.
    collector: Collector,
}

impl<P: Platform, O: Order> Inside<P, O> {
    /// Keeps what is in the list now from being freed.
    #[inline]
    fn pin(&self, thread: &HarrisThread) -> Guard {
        assert!(*thread.handle.collector() == self.collector, "a thread of another scheme");
        thread.handle.pin()
    }
}

// SAFETY: objects refer to the body while they are in its list, and nothing else does.
unsafe impl<P: Platform, O: Order> Body for Inside<P, O> {
    fn finish(&mut self) -> bool {
        self.list.is_empty()
    }
}

/// What a removed object owes to readers is paid.
///
/// # Safety
/// `node` linked the object in the removal that this debt is for, and no reader that could have
/// found it is left.
unsafe fn grace_is_over<P: Platform, O: Order, T: Send + Sync + 'static>(
    object: NonNull<Object<HarrisHook<P, O>, T>>,
    node: *mut Node<P, O>,
) {
    // SAFETY: the object stays until its last debt is paid, of which one is this.
    let hook = unsafe { &object.as_ref().hook };
    // SAFETY: it is not linked and no reader is left.
    unsafe { hook.give_back(node) };
    // SAFETY: the debt of the removal, paid once; the object is not used after this.
    unsafe { hook.debts.pay(object) };
}

impl<P: Platform, O: Order> Scheme<P> for Harris<P, O> {
    type Hook = HarrisHook<P, O>;
    type Thread = HarrisThread;
    type Root<S: Search> = HarrisRoot<P, O, S>;

    fn name() -> &'static str {
        O::NAME
    }

    fn new(_cores: u32) -> Self {
        Self { collector: Collector::new(), parts: PhantomData }
    }

    fn thread(&self) -> HarrisThread {
        HarrisThread { handle: self.collector.register() }
    }

    fn root<S: Search>(&self, _structure: S) -> HarrisRoot<P, O, S> {
        let body = Inside { list: List::new(), collector: self.collector.clone() };
        HarrisRoot { body: Anchor::new(body), structure: PhantomData }
    }

    fn insert<S: Search>(
        &self,
        root: &HarrisRoot<P, O, S>,
        object: Detached<HarrisHook<P, O>, S::Item>,
        thread: &mut HarrisThread,
    ) -> Attached<HarrisHook<P, O>, S::Item> {
        let guard = root.body.pin(thread);
        let key = O::key::<P, S>(&object);
        let object: NonNull<Object<HarrisHook<P, O>, S::Item>> = object.into_raw();
        let node = HarrisHook::free_node(object);
        // SAFETY: alive, as nothing but its owner's token frees it.
        let hook = unsafe { &object.as_ref().hook };
        hook.home.set(&*root.body);
        hook.link_by(node);
        // SAFETY: the node is in no list, no reader walks over it, and it stays until `remove`
        // defers its end. The guard is held.
        unsafe { root.body.list.insert(node, object.as_ptr().cast(), key) };
        drop(guard);
        // SAFETY: its only token, inserted just now.
        unsafe { Attached::from_raw(object) }
    }

    fn remove<S: Search>(
        &self,
        root: &HarrisRoot<P, O, S>,
        object: Attached<HarrisHook<P, O>, S::Item>,
        thread: &mut HarrisThread,
    ) -> Detached<HarrisHook<P, O>, S::Item> {
        let guard = root.body.pin(thread);
        let hook = object.hook();
        hook.home.expect(&*root.body);
        let node = hook.node();
        // SAFETY: the node that `insert` linked into this list, which only the object's owner
        // removes. The guard is held.
        unsafe { root.body.list.remove(node) };
        hook.debts.owe();
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        // SAFETY: nobody finds the node any more who pins an epoch from now on; the debt keeps the
        // object until it is paid; both may be used and freed by any thread.
        unsafe { guard.defer_unchecked(move || grace_is_over::<P, O, S::Item>(object, node)) };
        // SAFETY: its only token, removed just now.
        unsafe { Detached::from_raw(object) }
    }

    fn search<S: Search>(
        &self,
        root: &HarrisRoot<P, O, S>,
        query: &S::Query,
        found: &mut dyn FnMut(&S::Item),
        thread: &mut HarrisThread,
    ) {
        let _guard = root.body.pin(thread);
        // SAFETY: the guard is held.
        let objects = unsafe { root.body.list.objects() };
        for (node, object) in objects {
            // SAFETY: `insert` put a pointer to such an object there, and the object lives until
            // no reader is left that saw its node in the list.
            let object = unsafe { &*object.cast::<Object<HarrisHook<P, O>, S::Item>>() };
            object.hook.charge(node);
            if S::matches(&object.item, query) {
                found(&object.item);
            }
        }
    }

    /// Ends grace periods, unless a thread is inside an operation meanwhile.
    fn synchronize<S: Search>(&self, root: &HarrisRoot<P, O, S>, thread: &mut HarrisThread) {
        for _ in 0..EPOCHS {
            root.body.pin(thread).flush();
        }
    }
}

impl<P, O> fmt::Debug for Harris<P, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harris").field("collector", &self.collector).finish()
    }
}

impl fmt::Debug for HarrisThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HarrisThread").field("handle", &self.handle).finish()
    }
}

impl<P: Platform, O: Order, S: Search> fmt::Debug for HarrisRoot<P, O, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HarrisRoot").finish_non_exhaustive()
    }
}
