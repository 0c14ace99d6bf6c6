//! The list itself.

use core::iter;
use core::ptr;

use kilocore_platform::{Atomic, Ordering, Padded, Platform, SharedCell};

use super::order::Order;

/// In a node's link: the node counts as removed, and its link does not change any more.
const MARKED: usize = 1;
/// In a marked link: the node was taken off the list.
const UNLINKED: usize = 2;
const BITS: usize = MARKED | UNLINKED;

/// Links an object.
pub(super) struct Node<P: Platform, O: Order> {
    /// The next node, and the two bits.
    next: P::Ptr<Node<P, O>>,
    label: P::Cell<Label<O::Key>>,
}

/// What does not change while the node is reachable.
#[derive(Clone, Copy)]
struct Label<K> {
    /// Null in a node that was never linked.
    object: *mut (),
    key: K,
}

// SAFETY: the object is shared between threads, and the list never looks into it.
unsafe impl<K: Send> Send for Label<K> {}

impl<P: Platform, O: Order> Node<P, O> {
    pub(super) fn new() -> Self {
        Self {
            next: P::Ptr::new(ptr::null_mut()),
            label: P::Cell::new(Label { object: ptr::null_mut(), key: O::Key::default() }),
        }
    }

    /// # Safety
    /// The node is reachable, or the caller is its owner; so nobody writes the label.
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
/// All methods want an epoch to be pinned: a node that was reachable since stays where it is.
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
    /// An epoch is pinned. The node is the caller's alone: in no list, and no reader is left who
    /// found it in one.
    pub(super) unsafe fn insert(&self, node: *mut Node<P, O>, object: *mut (), key: O::Key) {
        // SAFETY: the caller's.
        let new = unsafe { &*node };
        // SAFETY: the caller is alone with the node.
        new.label.with_mut(|label| unsafe { *label = Label { object, key } });
        loop {
            let Place { link, node: next } = if O::SORTED {
                // SAFETY: an epoch is pinned; nodes that are passed are reachable.
                unsafe { self.walk(ptr::null_mut(), |node| node.key() >= key) }
            } else {
                Place { link: &*self.head, node: self.head.load(Ordering::Relaxed) }
            };
            new.next.store(next, Ordering::Relaxed);
            // Release shows the node to whoever follows the link.
            if link.compare_exchange(next, node, Ordering::Release, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Takes `node` off the list.
    ///
    /// # Safety
    /// An epoch is pinned. The caller is the only one to remove the node, which is in this list.
    pub(super) unsafe fn remove(&self, node: *mut Node<P, O>) {
        // SAFETY: linked, and only its owner, the caller, has its end deferred.
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
        // SAFETY: the owner's.
        let key = unsafe { victim.key() };
        // SAFETY: an epoch is pinned; nodes that are passed are reachable.
        let passed = |node: &Node<P, O>| unsafe { O::SORTED && node.key() > key };
        // SAFETY: as above.
        unsafe {
            self.walk(node, |node| {
                has(victim.next.load(Ordering::Acquire), UNLINKED) || passed(node)
            })
        };
    }

    /// Walks from the head until `there` accepts a node, or to the end. Takes off what is marked on
    /// the way, and `victim`. Gives that node, which was not marked, and the link that led there.
    ///
    /// A node that was in the list from the beginning to the end of this, and is not behind the one
    /// that was accepted, was passed; if it was marked, it was not in the list at the end.
    ///
    /// # Safety
    /// An epoch is pinned.
    unsafe fn walk(
        &self,
        victim: *mut Node<P, O>,
        mut there: impl FnMut(&Node<P, O>) -> bool,
    ) -> Place<'_, P, O> {
        'from_the_head: loop {
            let mut link = &*self.head;
            // Where the link led, and where we are: marked nodes between the two are to be taken off.
            let mut first = link.load(Ordering::Acquire);
            let mut at = first;
            loop {
                // SAFETY: it was reachable since the epoch was pinned.
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

    /// Takes the run of marked nodes from `first` to before `after` off the list, if `link` still leads
    /// to it and is not marked itself.
    ///
    /// # Safety
    /// An epoch is pinned; the run was found in the list since.
    unsafe fn take_off(
        &self,
        link: &P::Ptr<Node<P, O>>,
        first: *mut Node<P, O>,
        after: *mut Node<P, O>,
    ) -> bool {
        // Release passes on what the marked links showed us.
        if link.compare_exchange(first, after, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            return false;
        }
        let mut at = first;
        while at != after {
            // SAFETY: it was reachable since the epoch was pinned.
            let node = unsafe { &*at };
            let next = node.next.load(Ordering::Relaxed);
            if has(next, MARKED) {
                // Nobody else writes a marked link, and only one takes the node off.
                node.next.store(with(next, UNLINKED), Ordering::Release);
            }
            at = target(next);
        }
        true
    }

    /// The nodes that are in the list, each at some moment while it is walked over, and what they
    /// link.
    ///
    /// # Safety
    /// An epoch is pinned, and stays so as long as the result or anything that came from it is
    /// used.
    pub(super) unsafe fn objects(&self) -> impl Iterator<Item = (*const Node<P, O>, *mut ())> {
        let mut at = self.head.load(Ordering::Acquire);
        iter::from_fn(move || {
            // SAFETY: it was reachable since the epoch was pinned.
            while let Some(node) = unsafe { at.as_ref() } {
                let next = node.next.load(Ordering::Acquire);
                at = target(next);
                if !has(next, MARKED) {
                    // SAFETY: the label is not written while a reader may be here.
                    let object = node.label.with(|label| unsafe { (*label).object });
                    return Some((ptr::from_ref(node), object));
                }
            }
            None
        })
    }
}
