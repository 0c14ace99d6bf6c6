//! The queue with a part on each core.
//!
//! Each core has a table of slots, and each slot holds nodes of one root at a time. Roots are dealt
//! to the slots in turn, the same on each core; the paper hashes their addresses. A push writes
//! lines that no other core writes, until somebody takes: then each core's slot is visited that the
//! root has marked.
//!
//! # A conflict of two roots in a slot
//! The paper flushes the older root's nodes: it takes that root's lock and applies them (section
//! 2.3.4, figure 2.5). Here they move to the older root's own list instead, a [`Global`] one, by
//! one exchange, and are applied when that root is next read. Nobody waits for the lock of
//! a root that it has nothing to do with, no update ever takes two locks, and none applies
//! another root's operations. With so many roots that slots conflict all the time, as with the
//! roots of anonymous mappings, the per-core form thereby costs little more than the global one,
//! where the paper's loses.
//!
//! # Why a slot has a lock
//! The kernel's version counts on not being preempted between choosing a slot and pushing. In user
//! space a thread may be, and may then run on another core. So whoever uses a slot holds its lock,
//! one exchange that is uncontended while threads stay where they are; the slot is then chosen by
//! the core's number for locality alone. It also makes a root's end safe: a slot names its root
//! only while it holds that root's nodes, and the root's last take waits for the slot's lock, so
//! that whoever moves a chain finds its root alive.
//!
//! A take visits the slots first and the root's own list last: a chain that moves meanwhile is found
//! in the one or the other.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicUsize;

use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, SharedCell};

use crate::global::Global;
use crate::node::Node;
use crate::queue::{Fill, Queue};

/// Slots of a core, as in the paper.
pub const SLOTS: u32 = 1 << 11;

/// Slots that share two cache lines.
const GROUP: usize = 4;

/// Pushes to a slot between two reports of how full it is.
const REPORT: u32 = 64;

/// The slots of all cores.
///
/// Takes 32 bytes for each slot of each core, 64 KiB a core with [`SLOTS`] slots.
pub struct Slots<P: Platform> {
    cores: Box<[Padded<CoreSlots<P>>]>,
    /// One less than each core's slots.
    mask: usize,
    /// How many roots there were. No part of the simulated machine, as it is not of the algorithm.
    roots: AtomicUsize,
}

/// The slots of one core.
type CoreSlots<P> = Box<[Padded<[Slot<P>; GROUP]>]>;

/// Where nodes of one root wait on one core. Natively 32 bytes.
#[repr(C, align(32))]
struct Slot<P: Platform> {
    lock: Ttas<P>,
    /// How many nodes are held. Only used under the lock.
    length: P::U32,
    held: P::Cell<Held<P>>,
}

/// What a slot holds.
struct Held<P: Platform> {
    /// Whose nodes they are. Not to be followed while there are none.
    root: *const PerCore<P>,
    newest: *mut Node<P>,
    oldest: *mut Node<P>,
}

// SAFETY: pointers to nodes and to a root, all of which are shared between threads; when they may
// be followed is said where they are.
unsafe impl<P: Platform> Send for Held<P> {}

/// A queue whose nodes wait on the cores that pushed them.
pub struct PerCore<P: Platform> {
    slots: Arc<Slots<P>>,
    /// Which of them is this root's, on each core.
    slot: usize,
    /// A bit for each core whose slot may hold nodes of this root. Set under the slot's lock,
    /// cleared by whoever takes.
    cores: Box<[Padded<P::U64>]>,
    /// Nodes that had to leave their slot.
    moved: Global<P>,
}

impl<P: Platform> Slots<P> {
    /// Empty slots for cores with numbers below `cores`, `slots` of them each.
    ///
    /// # Panics
    /// If there is no core, or `slots` is not a power of two.
    #[must_use]
    pub fn new(cores: u32, slots: u32) -> Arc<Self> {
        assert!(cores > 0, "a machine has cores");
        assert!(slots.is_power_of_two(), "the number of slots is a power of two");
        let group = |_| Padded(core::array::from_fn(|_| Slot::new()));
        let core = |_| Padded((0..slots.div_ceil(GROUP as u32)).map(group).collect());
        Arc::new(Self {
            cores: (0..cores).map(core).collect(),
            mask: slots as usize - 1,
            roots: AtomicUsize::new(0),
        })
    }

    /// The number of the caller's core. Cores that were not announced share those of others.
    #[inline]
    fn here(&self) -> usize {
        P::cpu().0 as usize % self.cores.len()
    }
}

impl<P: Platform> Slot<P> {
    fn new() -> Self {
        Self { lock: Ttas::new(), length: P::U32::new(0), held: P::Cell::new(Held::empty()) }
    }

    /// Shows what the slot holds, and how much, to `change`, which is alone with it.
    #[inline]
    fn with<R>(&self, change: impl FnOnce(&mut Held<P>, &P::U32) -> R) -> R {
        self.lock.acquire(&mut ());
        // SAFETY: the lock's holder is alone with the slot.
        let result = self.held.with_mut(|held| change(unsafe { &mut *held }, &self.length));
        // SAFETY: acquired above.
        unsafe { self.lock.release(&mut ()) };
        result
    }
}

impl<P: Platform> Held<P> {
    fn empty() -> Self {
        Self { root: ptr::null(), newest: ptr::null_mut(), oldest: ptr::null_mut() }
    }

    /// Moves the `length` nodes that are held to the root whose they are.
    fn move_to_root(&mut self, length: u32) {
        let (Some(newest), Some(oldest)) = (NonNull::new(self.newest), NonNull::new(self.oldest))
        else {
            return;
        };
        // SAFETY: the root has nodes here, so it has marked this core, and its last take visits
        // this slot before the root is gone, for which it waits for the lock that the caller holds.
        let root = unsafe { &*self.root };
        // SAFETY: the nodes are queued here and nowhere else, and linked from newest to oldest.
        unsafe { root.moved.splice(newest, oldest) };
        root.moved.count(length);
        *self = Self::empty();
    }
}

impl<P: Platform> PerCore<P> {
    /// This root's slot on a core.
    #[inline]
    fn slot(&self, core: usize) -> &Slot<P> {
        &self.slots.cores[core][self.slot / GROUP][self.slot % GROUP]
    }

    /// Marks a core whose slot this root has just begun to use. The caller holds the slot's lock.
    #[inline]
    fn mark(&self, core: usize) {
        let word = &self.cores[core / 64];
        let bit = 1 << (core % 64);
        // If a take has cleared the bit, it has emptied the slot since, under its lock, or will
        // do so when it gets it.
        if word.load(Ordering::Relaxed) & bit == 0 {
            // Acquire of the exchange in `take`: a take that did not find this mark does not come
            // to this slot, and who updates after this push must know that it has begun. A take
            // that finds the mark sees the push by the slot's lock.
            word.fetch_or(bit, Ordering::Acquire);
        }
    }

    /// Takes what this root has in the slot of a core.
    fn take_slot(&self, core: usize) -> Option<NonNull<Node<P>>> {
        self.slot(core).with(|held, _| {
            if !ptr::eq(held.root, self) {
                return None;
            }
            let newest = NonNull::new(held.newest);
            *held = Held::empty();
            newest
        })
    }
}

// SAFETY: a node is in one slot or in the list of moved ones. Whatever goes into a slot or leaves
// it does so under the slot's lock; a push marks its core, so that a take that it happened before
// sees the mark or comes after another take that did. Chains only move from a slot to the list,
// which a take empties last.
unsafe impl<P: Platform> Queue<P> for PerCore<P> {
    type Domain = Arc<Slots<P>>;

    fn new(slots: Arc<Slots<P>>) -> Self {
        let words = slots.cores.len().div_ceil(64);
        let slot = slots.roots.fetch_add(1, Ordering::Relaxed) & slots.mask;
        Self {
            slots,
            slot,
            cores: (0..words).map(|_| Padded(P::U64::new(0))).collect(),
            moved: Global::new(()),
        }
    }

    #[inline]
    unsafe fn push(&self, node: NonNull<Node<P>>) -> Fill {
        let core = self.slots.here();
        self.slot(core).with(|held, length| {
            let mut others = length.load(Ordering::Relaxed);
            let begins = held.newest.is_null() || !ptr::eq(held.root, self);
            if begins {
                held.move_to_root(others);
                *held = Held { root: self, newest: ptr::null_mut(), oldest: node.as_ptr() };
                others = 0;
                self.mark(core);
            }
            // SAFETY: the node is the caller's, and in no queue yet.
            unsafe { node.as_ref() }.next.store(held.newest, Ordering::Relaxed);
            held.newest = node.as_ptr();
            length.store(others + 1, Ordering::Relaxed);
            if begins {
                // Where slots conflict, what this root has is there.
                Fill::Nodes(self.moved.length())
            } else if others % REPORT == 0 {
                // What other cores hold is not looked at: they are taken to hold as much.
                Fill::Nodes(others.saturating_mul(self.slots.cores.len() as u32))
            } else {
                Fill::Between
            }
        })
    }

    #[inline]
    fn is_empty(&self) -> bool {
        // Chains move from a slot to the list without clearing the mark, so the order does not
        // matter.
        self.cores.iter().all(|word| word.load(Ordering::Relaxed) == 0) && self.moved.is_empty()
    }

    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>)) {
        for (index, word) in self.cores.iter().enumerate() {
            // Cleared before the slots are visited: a push that finds its slot empty afterwards
            // marks its core again. Release: to pushes whose slot is not visited, see `mark`.
            let mut marked = word.swap(0, Ordering::Release);
            while marked != 0 {
                let core = index * 64 + marked.trailing_zeros() as usize;
                marked &= marked - 1;
                if let Some(newest) = self.take_slot(core) {
                    each(newest);
                }
            }
        }
        // What was moved from a slot before it was visited is seen, as both were under its lock, and
        // what was there still has been taken. Pushes learn of this synchronization by the mark or
        // the slot's lock. So an empty list costs no exchange.
        if !self.moved.is_empty() {
            // SAFETY: by the caller's promise.
            unsafe { self.moved.take(each) };
        }
    }
}

impl<P: Platform> core::fmt::Debug for Slots<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Slots").field("cores", &self.cores.len()).finish_non_exhaustive()
    }
}

impl<P: Platform> core::fmt::Debug for PerCore<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PerCore").field("empty", &self.is_empty()).finish_non_exhaustive()
    }
}
