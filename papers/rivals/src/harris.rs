//! Harris's lock-free list, ordered or not.
//!
//! To remove a node, a thread first marks the node's link to its successor. From then on the node
//! counts as removed, and nothing can be linked behind it. The thread then unlinks the node. An
//! update that passes a run of marked nodes unlinks the whole run at once (Harris, 'A pragmatic
//! implementation of non-blocking linked-lists', DISC 2001; Michael, 'High performance dynamic
//! lock-free hash tables and list-based sets', SPAA 2002). A thread that loses the race for a link
//! starts again from the head, at once. The papers have no backoff, and if many cores compete for
//! one link, most attempts fail.
//!
//! [`Ordered`] keeps the list in the order of [`Search::rank`]. [`Unordered`] inserts at the head,
//! and a removal searches from there. The authors of the deferred-update log used the latter for
//! their comparison.
//!
//! A search walks the whole list and reports the nodes that are not marked and match. It writes
//! nothing. It is no snapshot: of two updates by other threads during the search, it may see the
//! later one and miss the earlier one. This favours it, because searches of all other schemes here
//! are snapshots.
//!
//! # Memory
//! Readers may walk over a node long after it was removed. So its links must not change before all
//! of these readers have left. This is the case when an epoch is over (crate `crossbeam-epoch`).
//!
//! Kernel structures embed their links. Here too, a node in the object's hook links the object if
//! no reader walks over that node any more, as with every new object. No memory is then allocated.
//! If the object is inserted again sooner, a node from the allocator links it.
//!
//! A removal defers the end of the readers' grace period. Until then the object has a
//! [debt](crate::debts). The object is settled, and can be changed or freed, when all of its grace
//! periods are over. So the item lives as long as a reader may see it, and a thread that does not
//! take part in the scheme may release an object.
//!
//! # In a simulation
//! Pinning an epoch and the lists of deferred functions are not simulated and cost nothing there.
//! This favours this rival. The links and the debts are simulated.
//!
//! # Where it departs from the papers
//! In the papers, a removal is given a key. It looks for the node, marks it and unlinks it. Here a
//! removal is given the object. It marks the node first, and one walk is enough.
//!
//! The thread that unlinks a marked node sets a second bit in the node's link, which will not
//! change any more. When the thread that removes the node finds this bit, it need not walk on to
//! where the node would be. In a list without order, it would have to walk to the end.

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

/// The number of epochs after which everything deferred has run, and one more to be sure.
const EPOCHS: usize = 4;

/// Harris's list in the order `O`.
pub struct Harris<P, O> {
    collector: Collector,
    parts: PhantomData<fn() -> (P, O)>,
}

/// A thread's registration with the epochs of a [`Harris`].
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
    /// The collector whose epochs protect the list.
    collector: Collector,
}

impl<P: Platform, O: Order> Inside<P, O> {
    /// Keeps the nodes that are in the list now from being freed.
    #[inline]
    fn pin(&self, thread: &HarrisThread) -> Guard {
        assert!(*thread.handle.collector() == self.collector, "a thread of another scheme");
        thread.handle.pin()
    }
}

// SAFETY: only objects in the list refer to the body. It is freed only if there are none.
unsafe impl<P: Platform, O: Order> Body for Inside<P, O> {
    fn finish(&mut self) -> bool {
        self.list.is_empty()
    }
}

/// Pays the debt of a removal to its readers.
///
/// # Safety
/// In the removal that this debt is for, `node` must have linked the object, and no reader that
/// could have found it may be left.
unsafe fn grace_is_over<P: Platform, O: Order, T: Send + Sync + 'static>(
    object: NonNull<Object<HarrisHook<P, O>, T>>,
    node: *mut Node<P, O>,
) {
    // SAFETY: the object stays until its last debt is paid, and this debt is not paid yet.
    let hook = unsafe { &object.as_ref().hook };
    // SAFETY: the node is not linked, and no reader is left.
    unsafe { hook.give_back(node) };
    // SAFETY: this is the debt of the removal, and it is paid once. The object is not used after
    // this.
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
        // SAFETY: the object is alive, because only its owner's token frees it.
        let hook = unsafe { &object.as_ref().hook };
        hook.home.set(&*root.body);
        hook.link_by(node);
        // SAFETY: the node is in no list and no reader walks over it. It stays until `remove`
        // defers its end. The guard is held.
        unsafe { root.body.list.insert(node, object.as_ptr().cast(), key) };
        drop(guard);
        // SAFETY: this is the object's only token, and the object was inserted just now.
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
        // SAFETY: `insert` linked this node into this list, and only the object's owner removes it.
        // The guard is held.
        unsafe { root.body.list.remove(node) };
        hook.debts.owe();
        let object: NonNull<Object<_, S::Item>> = object.into_raw();
        // SAFETY: a reader that pins an epoch from now on does not find the node any more. The debt
        // keeps the object alive until it is paid. Both may be used and freed by any thread.
        unsafe { guard.defer_unchecked(move || grace_is_over::<P, O, S::Item>(object, node)) };
        // SAFETY: this is the object's only token, and the object was removed just now.
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
            // SAFETY: `insert` stored a pointer to an object of this type there. The object lives
            // until no reader that saw its node in the list is left.
            let object = unsafe { &*object.cast::<Object<HarrisHook<P, O>, S::Item>>() };
            object.hook.charge(node);
            if S::matches(&object.item, query) {
                found(&object.item);
            }
        }
    }

    /// Tries to end the grace periods. It fails if another thread stays inside an operation
    /// meanwhile.
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
