//! The log node that each object carries, and its state word.
//!
//! # The idea
//! Insertions and removals of one object alternate. So one bit is enough to say whether an update is
//! pending, that is, whether the object is somewhere else than its owner wants it. Each update flips
//! the bit, so a pair of updates cancels. The thread that applies the log compares the bit with
//! where the object is. One word holds this state, and one compare-and-swap changes it:
//!
//! | bits | meaning | changed by |
//! | --- | --- | --- |
//! | `QUEUED` | the node is in a queue, or about to be | set by the owner, cleared under the root's lock |
//! | `PRESENT` | the object is in the structure | whoever holds the root's lock |
//! | `RELEASED` | the owner has given the object up | the owner, as the last thing that it does |
//! | `EARLIER` | an odd number of updates from before `epoch` is pending | the owner flips it, the lock's holder clears it |
//! | `LATEST` | an odd number of updates of `epoch` is pending | as `EARLIER` |
//! | `updates` | how many updates are pending, those that cancelled each other included | as `EARLIER`; stops counting at 65,535 |
//! | `epoch` | how many synchronizations had begun at the last update | the owner |
//!
//! A node that is not queued has no pending update. A queued node with no pending update is a
//! "garbage log" (the paper's term); the object's next update uses it again.
//!
//! # Epochs
//! A synchronization takes the queue and then looks at one node after the other. Updates go on
//! meanwhile. Suppose that the synchronization has passed node A, and that a thread then updates A
//! and afterwards updates B, which the synchronization has not reached yet. If it applied the update
//! of B, the reader would see B's update without A's earlier one: a state that never existed. So
//! synchronizations are numbered. Each update notes the number of the last synchronization that had
//! begun, and a synchronization leaves out the updates that were made after it began.
//!
//! # Where it departs from the paper
//! In the paper (section 2.3) each object has two nodes. Each node has a mark, and a word has a bit
//! for each node. An update exchanges the opposite node's mark and, unless the two updates cancel,
//! tests and sets a bit. The thread that applies a node claims the mark, clears the bit and claims
//! the mark once more, since an update in between would otherwise be lost.
//!
//! Here an update of a queued node is one compare-and-swap. Applying a node ends with a
//! compare-and-swap that fails if anything has changed meanwhile. So there is no window in which an
//! update can be lost. A node that this compare-and-swap has taken out is not touched again, so its
//! owner may free it at once. The paper has no epochs, and its reads can see states that never
//! existed.

mod insertion;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell};

pub(crate) use self::insertion::Claimed;

/// The node is in a queue, or its owner is about to put it there.
const QUEUED: u64 = 1;
/// The object is in the structure.
const PRESENT: u64 = 1 << 1;
/// The owner has given the object up.
const RELEASED: u64 = 1 << 2;
/// The number of pending updates from before the epoch, modulo two.
const EARLIER: u64 = 1 << 3;
/// The number of pending updates of the epoch, modulo two.
const LATEST: u64 = 1 << 4;
/// The number of pending updates, including those that cancelled each other.
const UPDATES_SHIFT: u32 = 8;
const UPDATES_MOST: u64 = 0xffff;
/// The bits from here on are the epoch.
const EPOCH_SHIFT: u32 = 24;

/// How many synchronizations of a root have begun, modulo 2^40.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Epoch(u64);

impl Epoch {
    /// Returns the epoch in which `begun` synchronizations have begun.
    #[inline]
    pub(crate) fn of(begun: u64) -> Self {
        Self(begun & (u64::MAX >> EPOCH_SHIFT))
    }
}

/// Identifies a root among all roots that ever existed in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct RootId(u64);

impl RootId {
    /// The root of a node that never was in a root.
    const NONE: Self = Self(0);

    /// Returns a number that no other root has.
    ///
    /// The root's address would not do as its number: a later root may have the same address. The
    /// counter is not part of the algorithm, so it is not part of the simulated machine either.
    pub(crate) fn new() -> Self {
        static LAST: core::sync::atomic::AtomicU64 =
            core::sync::atomic::AtomicU64::new(RootId::NONE.0);
        Self(LAST.fetch_add(1, core::sync::atomic::Ordering::Relaxed) + 1)
    }
}

/// The log node that an object embeds. A native node takes 24 bytes, and if all of them are zero, it is that
/// of an object that never was in a structure.
///
/// The owner of an object is the thread that has the object's token; an object has at most one owner
/// at a time. Only the owner makes updates. Every thread that has a reference to the node may call
/// its safe methods, which only ask.
#[repr(C, align(8))]
pub struct Node<P: Platform> {
    state: P::U64,
    /// The next node in the queue. The link belongs to the owner until the node is queued, and then
    /// to the thread that takes the queue.
    pub(crate) next: P::Ptr<Node<P>>,
    /// The root that the object was last put into.
    root: P::Cell<RootId>,
}

/// What to do to the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Put the object in.
    Insert,
    /// Take the object out.
    Remove,
}

/// What an update leaves to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Logged {
    /// Nothing: the node was queued already.
    InPlace,
    /// The node must be put into the queue.
    Queue,
}

/// What became of a node that was taken from a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    /// The node is out of the queue. The caller must not touch it any more.
    Done,
    /// The owner has given the object up, so the caller has to free it.
    Released,
    /// The node was updated after the synchronization began. The caller has to queue it again.
    Again,
}

impl<P: Platform> Node<P> {
    /// The node of an object that never was in a structure.
    #[must_use]
    pub fn new() -> Self {
        Self {
            state: P::U64::new(0),
            next: P::Ptr::new(core::ptr::null_mut()),
            root: P::Cell::new(RootId::NONE),
        }
    }

    /// Whether nothing is pending for the object and nobody but the owner will touch its node.
    ///
    /// The load is an acquire: if it returns true, the owner sees everything that others did to the
    /// object.
    #[inline]
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.state.load(Ordering::Acquire) & QUEUED == 0
    }

    /// Whether the object is inserted, as its owner sees it.
    #[inline]
    #[must_use]
    pub fn is_attached(&self) -> bool {
        wanted(self.state.load(Ordering::Relaxed))
    }

    /// Makes a detached object that of `root`, and returns whether it did. It does not if another
    /// root still has the object's node in its queue.
    ///
    /// # Safety
    /// The caller owns the object, which is detached.
    #[inline]
    pub(crate) unsafe fn adopt(&self, root: RootId) -> bool {
        // SAFETY: the caller is the owner.
        if unsafe { self.belongs_to(root) } {
            return true;
        }
        let free = self.is_settled();
        if free {
            // SAFETY: only the owner, which the caller is, reads or writes it.
            self.root.with_mut(|own| unsafe { *own = root });
        }
        free
    }

    /// Returns whether the object was last put into `root`.
    ///
    /// # Safety
    /// The caller owns the object.
    #[inline]
    pub(crate) unsafe fn belongs_to(&self, root: RootId) -> bool {
        // SAFETY: only the owner, which the caller is, reads or writes it.
        self.root.with(|own| unsafe { *own }) == root
    }

    /// Logs one update: the object is to be put in if it was out, and taken out if it was in. The
    /// caller must have read `epoch` before this call.
    ///
    /// If the node is queued, this is one compare-and-swap, which cancels an opposite pending update
    /// or uses a garbage log again. If the node is not queued, this is a store. The thread that
    /// applies the update sees what the owner did before it.
    #[inline]
    pub(crate) fn log(&self, epoch: Epoch) -> Logged {
        // Acquire: the thread that last applied this node has read its link, and the owner is about
        // to write the link again. Argued: without the acquire, that read could see the value that
        // is written now. loom never shows a load a value that is stored later.
        let mut seen = self.state.load(Ordering::Acquire);
        // Only the owner queues a node. So a node that the owner sees out of the queue stays out.
        while seen & QUEUED != 0 {
            let new = with_update(seen, epoch);
            // Release: the thread that applies the update must see the object. Acquire: if a
            // synchronization left the word as it was read here, that synchronization has begun.
            // Argued: an update that starts after this one returns must read that synchronization's
            // number, as after a push (`Global::splice`). The item has not changed since the node
            // was queued; but the release also shows everything else that the owner did since, as
            // the crate's documentation promises.
            let changed =
                self.state.compare_exchange_weak(seen, new, Ordering::AcqRel, Ordering::Acquire);
            match changed {
                Ok(_) => return Logged::InPlace,
                Err(now) => seen = now,
            }
        }
        // Relaxed: other threads see this store only after the node is queued. The push publishes it.
        let new = with_update(seen & PRESENT | QUEUED, epoch);
        self.state.store(new, Ordering::Relaxed);
        Logged::Queue
    }

    /// Gives a detached object up. Returns true if the caller has to free the object now. If it
    /// returns false, a later call for the object's root returns the object among those that it has
    /// [`Released`](crate::raw::Released).
    ///
    /// # Safety
    /// The caller owns the object, the object is detached, and this call ends the ownership: from
    /// now on the thread that is told to free the object may do so at any moment.
    ///
    /// To have a token does not amount to this promise, since the token's holder uses the object
    /// until the token ends. So safe code must not be able to give an object up while its token
    /// exists:
    ///
    /// ```
    /// # use kilocore_ldu::{Ldu, adapters::{Member, Set}};
    /// # use kilocore_platform::Native;
    /// let root: Ldu<Native, Set<Native, u64>> = Ldu::new(Set::default());
    /// let out = root.remove(root.insert(root.object(Member::new(7))));
    /// let settled = out.hook().is_settled();
    /// root.synchronize();
    /// assert_eq!(out.value, 7);
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # use kilocore_ldu::{Ldu, adapters::{Member, Set}};
    /// # use kilocore_platform::Native;
    /// let root: Ldu<Native, Set<Native, u64>> = Ldu::new(Set::default());
    /// let out = root.remove(root.insert(root.object(Member::new(7))));
    /// let settled = out.hook().give_up();
    /// root.synchronize();
    /// assert_eq!(out.value, 7); // would be read after it was freed
    /// ```
    #[inline]
    pub unsafe fn give_up(&self) -> bool {
        if self.is_settled() {
            return true;
        }
        // Release: what the owner did to the object must happen before another thread frees it.
        // Acquire: what the threads that applied its updates did must happen before the caller
        // frees it.
        self.state.fetch_or(RELEASED, Ordering::AcqRel) & QUEUED == 0
    }

    /// Makes an update at once. The caller is the owner, holds the root's lock and has applied
    /// the log. So no update is pending and the node is in no queue.
    #[inline]
    pub(crate) fn update_directly(&self, apply: impl FnOnce(Update)) {
        // Relaxed: only the owner and the lock's holder change the word, and the caller is both. So
        // the word does not change meanwhile.
        let seen = self.state.load(Ordering::Relaxed);
        debug_assert!(seen & QUEUED == 0, "the log was applied");
        let present = seen & PRESENT == 0;
        apply(Update::towards(present));
        // Relaxed: the next owner is ordered after this store by what handed the object over to it,
        // and so is the thread that applies an update which that owner logs.
        self.state.store(present_bit(present), Ordering::Relaxed);
    }

    /// Brings the object to where its owner wanted it when synchronization number `epoch` began.
    /// Adds the number of updates that this takes care of to `updates`.
    ///
    /// The caller holds the root's lock and has taken the node from a queue. It has also read the
    /// node's link, because the node may be gone after [`Settled::Done`].
    #[inline]
    pub(crate) fn settle(
        &self,
        epoch: Epoch,
        updates: &mut u64,
        mut apply: impl FnMut(Update),
    ) -> Settled {
        // Acquire, here and below: this thread must see what the owner wrote to the object before
        // the update.
        let mut seen = self.state.load(Ordering::Acquire);
        let mut present = seen & PRESENT != 0;
        loop {
            // The updates that this synchronization must not see yet.
            let later = if epoch_of(seen) == epoch { seen & LATEST } else { 0 };
            let due = wanted(seen) != (later != 0);
            if due != present {
                apply(Update::towards(due));
                present = due;
            }
            let (new, settled) = if later != 0 {
                let kept = seen & (QUEUED | RELEASED | LATEST);
                (kept | 1 << UPDATES_SHIFT | epoch.0 << EPOCH_SHIFT, Settled::Again)
            } else if seen & RELEASED != 0 {
                *updates += updates_of(seen);
                // The owner has given the object up, so no other thread can change the word.
                return Settled::Released;
            } else {
                (0, Settled::Done)
            };
            // Release: the owner may free the object once it sees this word, and everything above
            // must have happened by then. The exchange fails if the owner has updated the object or
            // given it up since the word was read.
            // Acquire. Argued: once the count of updates has stopped at its largest value, a pair of
            // updates leaves the word as it was, and the exchange succeeds although the pair came
            // after the read above. The structure's readers must see what the owner did before the
            // pair. No run under loom is long enough for the count to stop.
            let new = new | present_bit(present);
            let left = self.state.compare_exchange(seen, new, Ordering::AcqRel, Ordering::Acquire);
            match left {
                Ok(_) => {
                    *updates += updates_of(seen) - updates_of(new);
                    return settled;
                }
                Err(now) => seen = now,
            }
        }
    }
}

impl<P: Platform> Default for Node<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Platform> core::fmt::Debug for Node<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("Node")
            .field("queued", &(state & QUEUED != 0))
            .field("present", &(state & PRESENT != 0))
            .field("wanted", &wanted(state))
            .field("released", &(state & RELEASED != 0))
            .finish_non_exhaustive()
    }
}

impl Update {
    #[inline]
    fn towards(present: bool) -> Self {
        if present { Self::Insert } else { Self::Remove }
    }
}

/// Whether the owner wants the object in the structure.
#[inline]
fn wanted(state: u64) -> bool {
    (state & (PRESENT | EARLIER | LATEST)).count_ones() % 2 == 1
}

/// Returns the word as it is after one more update.
#[inline]
fn with_update(state: u64, epoch: Epoch) -> u64 {
    let updates = (updates_of(state) + 1).min(UPDATES_MOST);
    let pending = if epoch_of(state) == epoch {
        state & (EARLIER | LATEST) ^ LATEST
    } else {
        // The updates that were the latest are from an earlier epoch now.
        let earlier = state & EARLIER != 0;
        let latest = state & LATEST != 0;
        LATEST | if earlier != latest { EARLIER } else { 0 }
    };
    state & (QUEUED | PRESENT | RELEASED)
        | pending
        | updates << UPDATES_SHIFT
        | epoch.0 << EPOCH_SHIFT
}

#[inline]
fn epoch_of(state: u64) -> Epoch {
    Epoch(state >> EPOCH_SHIFT)
}

#[inline]
fn updates_of(state: u64) -> u64 {
    state >> UPDATES_SHIFT & UPDATES_MOST
}

#[inline]
fn present_bit(present: bool) -> u64 {
    if present { PRESENT } else { 0 }
}
