//! The lock-free list.

use core::iter;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform, SharedCell};

use super::order::Order;

/// In a node's link: the node counts as removed, and its link to the next node does not change any
/// more.
const MARKED: usize = 1;
/// In a marked link: the node was unlinked.
const UNLINKED: usize = 2;
const BITS: usize = MARKED | UNLINKED;

/// A node of the list. It links an object.
pub(super) struct Node<P: Platform, O: Order> {
    /// The link to the next node, with the two bits.
    next: P::Ptr<Node<P, O>>,
    label: P::Cell<Label<O::Key>>,
}

/// The part of a node that does not change while the node is reachable.
#[derive(Clone, Copy)]
struct Label<K> {
    /// Null in a node that was never linked.
    object: *mut (),
    key: K,
}

// SAFETY: the object may be shared between threads, and the list never dereferences the pointer.
unsafe impl<K: Send> Send for Label<K> {}

impl<P: Platform, O: Order> Node<P, O> {
    pub(super) fn new() -> Self {
        Self {
            next: P::Ptr::new(ptr::null_mut()),
            label: P::Cell::new(Label { object: ptr::null_mut(), key: O::Key::default() }),
        }
    }

    /// # Safety
    /// The node must be reachable, or the caller must own it. No thread writes the label then.
    #[inline]
    unsafe fn key(&self) -> O::Key {
        // SAFETY: by the caller's promise.
        self.label.with(|label| unsafe { (*label).key })
    }
}

#[inline]
fn has<P: Platform, O: Order>(link: *mut Node<P, O>, bit: usize) -> bool {
    link.addr() & bit != 0
}

/// The node that a link leads to.
#[inline]
fn target<P: Platform, O: Order>(link: *mut Node<P, O>) -> *mut Node<P, O> {
    link.map_addr(|address| address & !BITS)
}

#[inline]
fn with<P: Platform, O: Order>(link: *mut Node<P, O>, bits: usize) -> *mut Node<P, O> {
    link.map_addr(|address| address | bits)
}

/// A list of objects.
///
/// All methods require that an epoch is pinned. A node that was reachable after the epoch was
/// pinned is not freed before it is unpinned.
pub(super) struct List<P: Platform, O: Order> {
    head: Padded<P::Ptr<Node<P, O>>>,
}

/// A link, and the node that it led to.
struct Place<'a, P: Platform, O: Order> {
    link: &'a P::Ptr<Node<P, O>>,
    node: *mut Node<P, O>,
}

impl<P: Platform, O: Order> List<P, O> {
    pub(super) fn new() -> Self {
        Self { head: Padded(P::Ptr::new(ptr::null_mut())) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Links `node` for `object`.
    ///
    /// # Safety
    /// An epoch must be pinned. Only the caller may use the node: it must be in no list, and every
    /// reader that found it in one must have left.
    pub(super) unsafe fn insert(&self, node: *mut Node<P, O>, object: *mut (), key: O::Key) {
        // SAFETY: the node is the caller's.
        let new = unsafe { &*node };
        // SAFETY: only the caller uses the node.
        new.label.with_mut(|label| unsafe { *label = Label { object, key } });
        loop {
            let Place { link, node: next } = if O::SORTED {
                // SAFETY: an epoch is pinned, and nodes that are passed are reachable.
                unsafe { self.walk(ptr::null_mut(), |node| node.key() >= key) }
            } else {
                Place { link: &*self.head, node: self.head.load(Ordering::Relaxed) }
            };
            new.next.store(next, Ordering::Relaxed);
            // Release makes the node's content visible to a thread that follows the link.
            if link.compare_exchange(next, node, Ordering::Release, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Removes `node` from the list.
    ///
    /// # Safety
    /// An epoch must be pinned. The node must be in this list, and only the caller may remove it.
    pub(super) unsafe fn remove(&self, node: *mut Node<P, O>) {
        // SAFETY: the node is linked, and only its owner, the caller, defers its end.
        let victim = unsafe { &*node };
        if O::MARKS {
            let mut next = victim.next.load(Ordering::Relaxed);
            while let Err(now) = victim.next.compare_exchange(
                next,
                with(next, MARKED),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                next = now;
            }
        }
        // SAFETY: the caller owns the node.
        let key = unsafe { victim.key() };
        // SAFETY: an epoch is pinned, and nodes that are passed are reachable.
        let passed = |node: &Node<P, O>| unsafe { O::SORTED && node.key() > key };
        // SAFETY: as above.
        unsafe {
            self.walk(node, |node| {
                has(victim.next.load(Ordering::Acquire), UNLINKED) || passed(node)
            })
        };
    }

    /// Walks from the head until `there` accepts a node, or to the end. On the way it unlinks
    /// marked nodes and `victim`. Returns the accepted node, which was not marked, and the link
    /// that led to it.
    ///
    /// If a node was in the list during the whole walk and does not come after the accepted node,
    /// the walk has passed it. If the node was marked, it is no longer in the list after the walk.
    ///
    /// # Safety
    /// An epoch must be pinned.
    unsafe fn walk(
        &self,
        victim: *mut Node<P, O>,
        mut there: impl FnMut(&Node<P, O>) -> bool,
    ) -> Place<'_, P, O> {
        'from_the_head: loop {
            let mut link = &*self.head;
            // `first` is where the link led, and `at` is where we are. All nodes from `first` to
            // before `at` are marked and have to be unlinked.
            let mut first = link.load(Ordering::Acquire);
            let mut at = first;
            loop {
                // SAFETY: the node was reachable after the epoch was pinned.
                let node = unsafe { at.as_ref() };
                let next = node.map_or(ptr::null_mut(), |node| node.next.load(Ordering::Acquire));
                if has(next, MARKED) || (at == victim && !at.is_null()) {
                    at = target(next);
                    continue;
                }
                // SAFETY: an epoch is pinned, and the run was walked over just now.
                if at != first && !unsafe { self.take_off(link, first, at) } {
                    continue 'from_the_head;
                }
                match node {
                    Some(node) if !there(node) => link = &node.next,
                    _ => return Place { link, node: at },
                }
                (first, at) = (next, next);
            }
        }
    }

    /// Unlinks the run of marked nodes from `first` to before `after`, if `link` still leads to it
    /// and is not marked itself. Returns whether it did.
    ///
    /// # Safety
    /// An epoch must be pinned. The run must have been found in the list after that.
    unsafe fn take_off(
        &self,
        link: &P::Ptr<Node<P, O>>,
        first: *mut Node<P, O>,
        after: *mut Node<P, O>,
    ) -> bool {
        // Release passes on what we saw through the marked links.
        if link.compare_exchange(first, after, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        let mut at = first;
        while at != after {
            // SAFETY: the node was reachable after the epoch was pinned.
            let node = unsafe { &*at };
            let next = node.next.load(Ordering::Relaxed);
            if has(next, MARKED) {
                // No other thread writes a marked link, and only one thread unlinks the node.
                node.next.store(with(next, UNLINKED), Ordering::Release);
            }
            at = target(next);
        }
        true
    }

    /// Iterates over the nodes and the objects that they link. Each node was in the list at some
    /// moment during the walk.
    ///
    /// # Safety
    /// An epoch must be pinned. It must stay pinned while the iterator or anything that came from
    /// it is used.
    pub(super) unsafe fn objects(&self) -> impl Iterator<Item = (*const Node<P, O>, *mut ())> {
        let mut at = self.head.load(Ordering::Acquire);
        iter::from_fn(move || {
            // SAFETY: the node was reachable after the epoch was pinned.
            while let Some(node) = unsafe { at.as_ref() } {
                let next = node.next.load(Ordering::Acquire);
                at = target(next);
                if !has(next, MARKED) {
                    // SAFETY: no thread writes the label while a reader may be here.
                    let object = node.label.with(|label| unsafe { (*label).object });
                    return Some((ptr::from_ref(node), object));
                }
            }
            None
        })
    }
}
