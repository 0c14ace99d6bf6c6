//! The slots of the twin's cores (section 2.3.4, figure 2.5).
//!
//! Each core has one slot, so any two roots conflict. A slot serves the root that it names, until
//! another root takes it over or that root ends. The thread that takes the slot over applies its
//! nodes while it holds the lock of the root that they belong to.
//!
//! Unlike in the paper, a slot has a lock, because threads move between cores. Another lock is held
//! while a slot is taken over, so that no root ends meanwhile. Locks are acquired in this order:
//! the latter, a root's lock, a slot's lock.

use std::ptr;
use std::sync::Arc;

use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, Ordering, Platform};

use super::paper::{Node, Pitfall, Root, at, link};

/// A slot for each core.
pub struct PaperSlots<P: Platform, E: Pitfall> {
    cores: Vec<Slot<P, E>>,
    /// Held while a slot is taken over, and while a root ends.
    replacing: Ttas<P>,
}

struct Slot<P: Platform, E: Pitfall> {
    lock: Ttas<P>,
    /// The root whose nodes are here. Its lock is held when this changes to another root.
    root: P::Ptr<Root<P, E>>,
    first: P::Ptr<Node<P, E>>,
}

impl<P: Platform, E: Pitfall> Slot<P, E> {
    fn enter(&self) {
        if !E::NO_SLOT_LOCK {
            self.lock.acquire(&mut ());
        }
    }

    fn leave(&self) {
        if !E::NO_SLOT_LOCK {
            // SAFETY: the lock was acquired before.
            unsafe { self.lock.release(&mut ()) };
        }
    }

    /// Returns the root that the slot serves, if it is not `own`.
    fn other(&self, own: *mut Root<P, E>) -> Option<&Root<P, E>> {
        at(self.root.load(Ordering::Acquire)).filter(|&root| !ptr::eq(root, own))
    }

    /// Returns the root for which the first node is logged.
    fn peek(&self) -> Option<*mut Root<P, E>> {
        at(self.first.load(Ordering::Acquire)).map(Node::root)
    }

    fn take(&self) -> *mut Node<P, E> {
        self.first.swap(ptr::null_mut(), Ordering::AcqRel)
    }
}

impl<P: Platform, E: Pitfall> PaperSlots<P, E> {
    pub fn new(cores: u32) -> Arc<Self> {
        let none = || P::Ptr::new(ptr::null_mut());
        let slot =
            |_| Slot { lock: Ttas::new(), root: P::Ptr::new(ptr::null_mut()), first: none() };
        Arc::new(Self { cores: (0..cores).map(slot).collect(), replacing: Ttas::new() })
    }

    /// Puts a node of `root` into the slot of the core on which the caller runs.
    pub fn push(&self, root: &Root<P, E>, node: &Node<P, E>) {
        let slot = &self.cores[P::cpu().0 as usize % self.cores.len()];
        E::migrate();
        let own = ptr::from_ref(root).cast_mut();
        if E::PEEKS && slot.peek().is_some_and(|root| !ptr::eq(root, own)) {
            // This only decides whether to try at once. The result is right in any case.
            self.make_room(slot, own);
        }
        loop {
            slot.enter();
            if slot.other(own).is_none() {
                slot.root.store(own, Ordering::Release);
                link::<P, E>(&slot.first, node);
                return slot.leave();
            }
            slot.leave();
            self.make_room(slot, own);
        }
    }

    /// Applies the nodes of another root in a slot. The slot then serves no root.
    fn make_room(&self, slot: &Slot<P, E>, own: *mut Root<P, E>) {
        self.replacing.acquire(&mut ());
        // The other root does not end meanwhile, and no other thread takes its slot over.
        if let Some(other) = slot.other(own) {
            if !E::DETACHES_OUTSIDE {
                other.lock.acquire(&mut ());
            }
            slot.enter();
            let taken = slot.take();
            slot.root.store(ptr::null_mut(), Ordering::Release);
            slot.leave();
            if E::DETACHES_OUTSIDE {
                other.lock.acquire(&mut ());
            }
            Root::drain(taken, &mut Node::apply);
            // SAFETY: acquired above.
            unsafe { other.lock.release(&mut ()) };
        }
        // SAFETY: acquired above.
        unsafe { self.replacing.release(&mut ()) };
    }

    /// Calls `each` with each core's nodes of `root`, whose lock the caller holds.
    pub fn take(&self, root: &Root<P, E>, each: &mut dyn FnMut(*mut Node<P, E>)) {
        for slot in &self.cores {
            slot.enter();
            let serves = ptr::eq(slot.root.load(Ordering::Acquire), root);
            let first = if serves { slot.take() } else { ptr::null_mut() };
            slot.leave();
            each(first);
        }
    }

    /// Makes all slots stop serving `root`, whose log `drain` applies.
    pub fn forget(&self, root: &Root<P, E>, drain: impl FnOnce()) {
        self.replacing.acquire(&mut ());
        drain();
        for slot in &self.cores {
            slot.enter();
            if ptr::eq(slot.root.load(Ordering::Acquire), root) {
                slot.root.store(ptr::null_mut(), Ordering::Release);
            }
            slot.leave();
        }
        // SAFETY: acquired above.
        unsafe { self.replacing.release(&mut ()) };
    }
}
