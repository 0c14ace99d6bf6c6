//! The twin: the paper's own algorithm (section 2.3, figures 2.3 to 2.5). It is correct unless it
//! is told to make an error.
//!
//! Each object has two nodes, one to insert it and one to remove it, and a word `used` with a bit
//! for each node. An update first exchanges the opposite node's mark. If the opposite update is
//! pending, this cancels it. Otherwise the update marks its own node, and queues the node unless
//! its bit of `used` says that it is queued already. The thread that applies the log claims each
//! node's mark, clears its bit, and claims the mark once more.
//!
//! Unlike the shipped log, the twin may show a reader an update without an earlier update of
//! another object. So its histories are not checked. Its errors show in programs that know what a
//! reader must see.

use std::ptr;
use std::sync::Arc;

use kilocore_ldu::Structure;
use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell};

use super::paper_slots::PaperSlots;
use super::{Census, Probe};

/// The error that the twin makes.
pub trait Pitfall: Send + Sync + 'static {
    /// A mark is claimed before the bit is cleared, but not after.
    const NO_SECOND_LOOK: bool = false;
    /// The link to the next node is read when the node may already be queued again.
    const NEXT_READ_LATE: bool = false;
    /// An object is freed when none of its nodes is queued, although a thread may still look at
    /// them.
    const FREES_UNUSED: bool = false;
    /// Marks are claimed first, and their updates are made after the lock was acquired.
    const CLAIMS_OUTSIDE: bool = false;
    /// Nodes that have to leave a slot leave it first, and are applied after the lock was acquired.
    const DETACHES_OUTSIDE: bool = false;
    /// The root that a slot serves is read from the first node of the slot.
    const PEEKS: bool = false;
    /// Slots have no lock, because a thread is assumed to stay on its core.
    const NO_SLOT_LOCK: bool = false;
    /// An object changes its root and leaves its nodes where they are.
    const MOVES_UNDRAINED: bool = false;
    /// Arguments are written after the mark, as in figure 2.3.
    const ARGUMENTS_LATE: bool = false;
    /// A root is freed with its nodes still in slots.
    const ENDS_UNDRAINED: bool = false;
    /// Is called when a thread has chosen a slot. The thread may migrate here.
    fn migrate() {}
}

/// The paper's algorithm without a planted error.
pub struct Sane;
impl Pitfall for Sane {}

/// Returns a reference to memory that may have been freed. The quarantine keeps such memory until
/// the execution ends, and catches every use of an atomic in it.
pub fn at<'a, T>(pointer: *const T) -> Option<&'a T> {
    // SAFETY: all objects and roots come from a box, and are discarded before the box is freed. So
    // the memory stays as it is.
    unsafe { pointer.as_ref() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Insert,
    Remove,
}
use Kind::{Insert, Remove};

impl Kind {
    fn opposite(self) -> Self {
        if self == Insert { Remove } else { Insert }
    }
    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// One of an object's two log nodes.
pub struct Node<P: Platform, E: Pitfall> {
    kind: Kind,
    pub object: *const Object<P, E>,
    /// 1 if the update is pending, otherwise 0.
    mark: P::U32,
    pub next: P::Ptr<Node<P, E>>,
    /// The argument of the update: the object's number.
    argument: P::Cell<usize>,
}

/// A probe with its nodes.
pub struct Object<P: Platform, E: Pitfall> {
    /// A bit for each node that is queued.
    pub used: P::U32,
    pub root: P::Ptr<Root<P, E>>,
    pub nodes: [Node<P, E>; 2],
    pub probe: Probe,
}

/// A root: a lock, a list, and the structure.
pub struct Root<P: Platform, E: Pitfall> {
    pub lock: Ttas<P>,
    /// The global list, if there are no slots.
    pub list: P::Ptr<Node<P, E>>,
    pub slots: Option<Arc<PaperSlots<P, E>>>,
    pub census: P::Cell<Census>,
}

// SAFETY: the pointers are to objects and roots, which threads share.
unsafe impl<P: Platform, E: Pitfall> Send for Object<P, E> {}
// SAFETY: as above. The object's owner writes the argument before it marks the node, and the thread
// that has claimed the mark reads it. If that is violated, the checker's cell reports it.
unsafe impl<P: Platform, E: Pitfall> Sync for Object<P, E> {}

impl<P: Platform, E: Pitfall> Node<P, E> {
    pub fn new(kind: Kind) -> Self {
        Self {
            kind,
            object: ptr::null(),
            mark: P::U32::new(0),
            next: P::Ptr::new(ptr::null_mut()),
            argument: P::Cell::new(usize::MAX),
        }
    }

    fn object(&self) -> &Object<P, E> {
        at(self.object).expect("a node is part of an object")
    }

    /// Returns the root for which the node is logged.
    pub fn root(&self) -> *mut Root<P, E> {
        self.object().root.load(Ordering::Relaxed)
    }

    fn set_argument(&self) {
        let id = self.object().probe.id;
        // SAFETY: the checker's cell reports it if another thread reads the argument.
        self.argument.with_mut(|argument| unsafe { *argument = id });
    }

    /// Returns whether the update was pending. If it was, the caller has to make it.
    fn claim(&self) -> bool {
        self.mark.swap(0, Ordering::AcqRel) == 1
    }

    fn set_used(&self) -> bool {
        let bit = self.kind.bit();
        self.object().used.fetch_or(bit, Ordering::AcqRel) & bit != 0
    }

    fn clear_used(&self) {
        self.object().used.fetch_and(!self.kind.bit(), Ordering::AcqRel);
    }

    /// Makes the update. The caller holds the root's lock.
    pub fn apply(&self) {
        let object = self.object();
        let root = at(self.root()).expect("a logged object has a root");
        // SAFETY: the checker's cell reports it if another thread writes the argument.
        let argument = self.argument.with(|argument| unsafe { *argument });
        assert_eq!(argument, object.probe.id, "an update is made with another's argument");
        root.census.with_mut(|census| {
            // SAFETY: the checker's cell reports it if another thread uses the structure.
            let census = unsafe { &mut *census };
            match self.kind {
                // SAFETY: the probe reports it if it is in already.
                Insert => unsafe { census.insert(&object.probe) },
                // SAFETY: the probe reports it if it is not in.
                Remove => unsafe { census.remove(&object.probe) },
            }
        });
    }
}

impl<P: Platform, E: Pitfall> Object<P, E> {
    /// Writes every word. So for loom, the end of the object conflicts with every use of it, and
    /// loom tries both orders.
    pub fn end(&self) {
        for node in &self.nodes {
            node.mark.swap(0, Ordering::Relaxed);
            node.next.swap(ptr::null_mut(), Ordering::Relaxed);
        }
        self.used.swap(0, Ordering::Relaxed);
        let root = self.root.load(Ordering::Relaxed);
        self.root.swap(root, Ordering::Relaxed);
    }
}

/// Puts a node before the first one of a list.
pub fn link<P: Platform, E: Pitfall>(list: &P::Ptr<Node<P, E>>, node: &Node<P, E>) {
    let new = ptr::from_ref(node).cast_mut();
    let mut first = list.load(Ordering::Relaxed);
    loop {
        node.next.store(first, Ordering::Relaxed);
        match list.compare_exchange(first, new, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => first = now,
        }
    }
}

impl<P: Platform, E: Pitfall> Root<P, E> {
    /// Logs an update of an object that the caller owns (figure 2.3).
    pub fn log(&self, object: &Object<P, E>, kind: Kind) {
        if object.nodes[kind.opposite() as usize].claim() {
            return;
        }
        let node = &object.nodes[kind as usize];
        if !E::ARGUMENTS_LATE {
            node.set_argument();
        }
        // The paper uses a store here. But loom regards a store and an exchange that nothing orders
        // as unordered, even if the exchange has read what was there before the store.
        node.mark.swap(1, Ordering::AcqRel);
        if node.set_used() {
            return;
        }
        if E::ARGUMENTS_LATE {
            node.set_argument();
        }
        match &self.slots {
            None => link::<P, E>(&self.list, node),
            Some(slots) => slots.push(self, node),
        }
    }

    /// Claims the pending updates in a list, and hands their nodes to `make` (figure 2.4).
    pub fn drain(first: *mut Node<P, E>, make: &mut dyn FnMut(&Node<P, E>)) {
        let mut next = first.cast_const();
        while let Some(node) = at(next) {
            // As soon as the bit is cleared, the node may be queued again.
            if !E::NEXT_READ_LATE {
                next = node.next.load(Ordering::Relaxed);
            }
            if node.claim() {
                make(node);
            }
            node.clear_used();
            // An update that set the mark before the bit was cleared has found the bit set, and so
            // has not queued the node.
            if !E::NO_SECOND_LOOK && node.claim() {
                make(node);
            }
            if E::NEXT_READ_LATE {
                next = node.next.load(Ordering::Relaxed);
            }
        }
    }

    /// Claims all pending updates of this root.
    fn drain_all(&self, make: &mut dyn FnMut(&Node<P, E>)) {
        match &self.slots {
            None => Self::drain(self.list.swap(ptr::null_mut(), Ordering::AcqRel), make),
            Some(slots) => slots.take(self, &mut |first| Self::drain(first, make)),
        }
    }

    /// Applies the log, and then calls `then` while the lock is still held.
    pub fn synchronized<R>(&self, then: impl FnOnce() -> R) -> R {
        if E::CLAIMS_OUTSIDE {
            let mut claimed = Vec::new();
            self.drain_all(&mut |node| claimed.push(ptr::from_ref(node)));
            self.lock.acquire(&mut ());
            claimed.into_iter().filter_map(at).for_each(Node::apply);
        } else {
            self.lock.acquire(&mut ());
            self.drain_all(&mut Node::apply);
        }
        let result = then();
        // SAFETY: acquired above.
        unsafe { self.lock.release(&mut ()) };
        result
    }
}
