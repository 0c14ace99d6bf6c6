//! The queue with a part on each core.
//!
//! Each core has a table of slots, and each slot holds nodes of one root at a time. Each root gets
//! the next slot in turn, and has the same slot number on all cores. (The paper hashes the root's
//! address.) A push writes only cache lines that no other core writes, until a thread takes the
//! queue. A take visits the root's slot on each core that the root has marked.
//!
//! # A conflict of two roots in a slot
//! Two roots conflict when one pushes to a slot that holds nodes of the other. The paper then flushes
//! the older root's nodes: it takes that root's lock and applies them (section 2.3.4, figure 2.5).
//! Here one exchange moves the nodes to the older root's own list, which is a [`Global`] queue. They
//! are applied when that root is next read. So no thread waits for the lock of a root that it does
//! not use, no update takes the locks of two roots, and no update applies another root's operations.
//!
//! With very many roots, for example those of anonymous mappings, slots conflict all the time. The
//! per-core queue then costs little more than the global one, to which the paper's version loses.
//!
//! # Why a slot has a lock
//! The kernel's version relies on not being preempted between choosing a slot and pushing. In user
//! space a thread may be preempted there, and may then run on another core. So each use of a slot
//! holds the slot's lock. Acquiring it is one exchange, which is uncontended while threads stay on
//! their cores. Given the lock, the core's number chooses the slot for locality only.
//!
//! The lock also makes the end of a root safe. A slot names a root only while it holds that root's
//! nodes, and the root's last take waits for the slot's lock. So a thread that moves a chain finds
//! the chain's root alive.
//!
//! A take visits the slots first and the root's own list last. A chain that moves meanwhile is
//! therefore found in a slot or in the list.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::ptr::{self, NonNull};
use core::sync::atomic::AtomicUsize;

use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, AtomicInt, Ordering, Padded, Platform, SharedCell};

use crate::global::Global;
use crate::node::Node;
use crate::queue::{Fill, Queue};

/// Number of slots of a core, as in the paper.
pub const SLOTS: u32 = 1 << 11;

/// Number of slots that share two cache lines.
const GROUP: usize = 4;

/// Number of pushes to a slot between two reports of how full the slot is.
const REPORT: u32 = 64;

/// The slots of all cores.
///
/// Each slot takes 32 bytes, so a core with [`SLOTS`] slots takes 64 KiB.
pub struct Slots<P: Platform> {
    cores: Box<[Padded<CoreSlots<P>>]>,
    /// One less than each core's slots.
    mask: usize,
    /// The number of roots made so far. It is not part of the algorithm, so it is not part of the
    /// simulated machine either.
    roots: AtomicUsize,
}

/// The slots of one core.
type CoreSlots<P> = Box<[Padded<[Slot<P>; GROUP]>]>;

/// The place where nodes of one root wait on one core. A native slot takes 32 bytes.
#[repr(C, align(32))]
struct Slot<P: Platform> {
    lock: Ttas<P>,
    /// How many nodes are held. Only used under the lock.
    length: P::U32,
    held: P::Cell<Held<P>>,
}

/// What a slot holds.
struct Held<P: Platform> {
    /// The root of the nodes. The pointer must not be followed while there are no nodes.
    root: *const PerCore<P>,
    newest: *mut Node<P>,
    oldest: *mut Node<P>,
}

// SAFETY: it contains pointers to nodes and to a root, and both kinds of object are shared between
// threads. Each place that follows one of these pointers argues why it may.
unsafe impl<P: Platform> Send for Held<P> {}

/// A queue whose nodes wait on the cores that pushed them.
pub struct PerCore<P: Platform> {
    slots: Arc<Slots<P>>,
    /// The index of this root's slot, which is the same on each core.
    slot: usize,
    /// A bit for each core whose slot may hold nodes of this root. A push sets the bit under the
    /// slot's lock, and a take clears it.
    cores: Box<[Padded<P::U64>]>,
    /// The nodes that had to leave their slot because another root needed it.
    moved: Global<P>,
}

impl<P: Platform> Slots<P> {
    /// Returns empty slots for the cores with numbers below `cores`: `slots` slots for each core.
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

    /// Returns the index of the caller's core. A core whose number is not below the number given to
    /// [`new`](Self::new) shares the slots of another core.
    #[inline]
    fn here(&self) -> usize {
        P::cpu().0 as usize % self.cores.len()
    }
}

impl<P: Platform> Slot<P> {
    fn new() -> Self {
        Self { lock: Ttas::new(), length: P::U32::new(0), held: P::Cell::new(Held::empty()) }
    }

    /// Calls `change` under the slot's lock, with what the slot holds and the number of nodes.
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

    /// Moves the `length` nodes that the slot holds to the list of their root.
    fn move_to_root(&mut self, length: u32) {
        let (Some(newest), Some(oldest)) = (NonNull::new(self.newest), NonNull::new(self.oldest))
        else {
            return;
        };
        // SAFETY: the root has nodes here, so it has marked this core. Its last take therefore
        // visits this slot before the root is gone, and has to wait for the slot's lock, which the
        // caller holds.
        let root = unsafe { &*self.root };
        // SAFETY: the nodes are queued here and nowhere else, and linked from newest to oldest.
        unsafe { root.moved.splice(newest, oldest) };
        root.moved.count(length);
        *self = Self::empty();
    }
}

impl<P: Platform> PerCore<P> {
    /// Returns this root's slot on a core.
    #[inline]
    fn slot(&self, core: usize) -> &Slot<P> {
        &self.slots.cores[core][self.slot / GROUP][self.slot % GROUP]
    }

    /// Marks a core whose slot this root has just begun to use. The caller holds the slot's lock.
    #[inline]
    fn mark(&self, core: usize) {
        let word = &self.cores[core / 64];
        let bit = 1 << (core % 64);
        // A relaxed load is enough. If a take has cleared the bit, then that take has emptied the
        // slot since, under the slot's lock, or will empty it once it gets the lock.
        if word.load(Ordering::Relaxed) & bit == 0 {
            // Acquire: pairs with the exchange in `take`. A take that did not find this mark does
            // not visit this slot, and an update that starts after this push has returned must know
            // that the take's synchronization has begun. A take that finds the mark sees the push by
            // the slot's lock.
            word.fetch_or(bit, Ordering::Acquire);
        }
    }

    /// Takes the nodes that this root has in its slot on a core, and returns the newest of them.
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

// SAFETY: a node is in one slot or in the list of moved nodes. Nodes enter and leave a slot only
// under the slot's lock. A push marks its core, so a take that the push happened before either sees
// the mark or comes after another take that saw it. Chains move only from a slot to the list, and a
// take empties the list last.
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
                // If slots conflict, most nodes of this root are in its list.
                Fill::Nodes(self.moved.length())
            } else if others % REPORT == 0 {
                // The other cores' slots are not looked at. They are assumed to hold as many nodes.
                Fill::Nodes(others.saturating_mul(self.slots.cores.len() as u32))
            } else {
                Fill::Between
            }
        })
    }

    #[inline]
    fn is_empty(&self) -> bool {
        // A chain moves from a slot to the list without clearing the mark, so the order of these two
        // looks does not matter.
        self.cores.iter().all(|word| word.load(Ordering::Relaxed) == 0) && self.moved.is_empty()
    }

    unsafe fn take(&self, each: &mut dyn FnMut(NonNull<Node<P>>)) {
        for (index, word) in self.cores.iter().enumerate() {
            // The marks are cleared before the slots are visited, so a push that finds its slot empty
            // afterwards marks its core again. Release: for the pushes whose slot this take does not
            // visit, see `mark`.
            let mut marked = word.swap(0, Ordering::Release);
            while marked != 0 {
                let core = index * 64 + marked.trailing_zeros() as usize;
                marked &= marked - 1;
                if let Some(newest) = self.take_slot(core) {
                    each(newest);
                }
            }
        }
        // If a chain was moved from a slot before the visit above, the look at the list sees it,
        // because the move and the visit both held the slot's lock. If the chain was still in the
        // slot, the visit has taken it. Pushes learn of this synchronization by the mark or by the
        // slot's lock. So an empty list needs no exchange.
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
