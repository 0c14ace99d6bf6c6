//! The data with its copies, and how readers come to theirs.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::fmt;
use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;

use kilocore_locks::{Adaptive, RawLock};
use kilocore_platform::{Atomic, AtomicInt, CpuId, NodeId, Ordering, Padded, Platform, SharedCell};

use crate::replica::Replica;
use crate::seat::Seat;
use crate::side::{Side, Sides};
use crate::{Nodes, Placement, ReadGuard};

/// Data with a copy on each node of a machine `P`.
///
/// The [head of the crate](crate) explains it. On this machine it is [`Replicated`](crate::Replicated).
///
/// # What is guaranteed
/// Reads and updates are linearizable: they take effect at one moment during the call. So once
/// an update has returned, every read that begins sees it, on any node. If a read has seen it, no read that
/// happens after that one misses it. Whatever happened before an update is visible to whoever sees it.
///
/// A reader never waits, not even for a writer that was stopped in the middle. Writers wait for each other
/// and for readers that came before, and for no others.
///
/// # What does not compile
/// Data may not be taken for data of a shorter life, as an update could then put something into it that is
/// soon gone:
///
/// ```compile_fail
/// # use kilocore_numa::Replicated;
/// fn shorter<'a>(data: &'a Replicated<&'static str>) -> &'a Replicated<&'a str> {
///     data
/// }
/// ```
///
/// A guard does not outlive the data, nor a reference its guard:
///
/// ```compile_fail,E0597
/// # use kilocore_numa::Replicated;
/// let guard = {
///     let data = Replicated::new(1);
///     data.read()
/// };
/// # drop(guard);
/// ```
/// ```compile_fail,E0716
/// # use kilocore_numa::Replicated;
/// let data = Replicated::new(String::new());
/// let text: &str = data.read().as_str();
/// println!("{text}");
/// ```
///
/// What must not be shared, or sent, is not:
///
/// ```compile_fail,E0277
/// # use kilocore_numa::Replicated;
/// # use std::cell::Cell;
/// fn shared<T: Sync>() {}
/// shared::<Replicated<Cell<u8>>>();
/// ```
/// ```compile_fail,E0277
/// # use kilocore_numa::Replicated;
/// # use std::sync::MutexGuard;
/// fn shared<T: Sync>() {}
/// shared::<Replicated<MutexGuard<'static, u8>>>(); // it is `Sync`, but not `Send`
/// ```
pub struct ReplicatedOn<P: Platform, T> {
    pub(crate) head: Padded<Head<P, T>>,
    pub(crate) writers: Padded<Writers<P>>,
    pub(crate) copies: Box<[Replica<T>]>,
}

/// What all readers look at. Only writers change it, a few times with each update.
pub(crate) struct Head<P: Platform, T> {
    /// The sides that readers may read: one of them, or both.
    shown: P::U32,
    /// A place for each core.
    pub(crate) places: Box<[Padded<CoreSlot<P, T>>]>,
}

/// What a reader needs of its core, on one line.
pub(crate) struct CoreSlot<P: Platform, T> {
    pub(crate) seat: Seat<P>,
    /// The side of the copy of this core's node.
    home: Side,
    /// By the side: that copy, and a neighbour that stands in for it.
    copies: [NonNull<UnsafeCell<T>>; 2],
}

/// What writers need of each other.
pub(crate) struct Writers<P: Platform> {
    pub(crate) lock: Adaptive<P>,
    /// Whether the copies that are hidden may differ from each other and from those that are shown, because
    /// somebody has begun to change them. Protected by the lock.
    pub(crate) unfinished: P::Cell<bool>,
}

// SAFETY: it owns its copies, of which one is dropped and changed by whoever has the whole.
unsafe impl<P: Platform, T: Send> Send for ReplicatedOn<P, T> {}
// SAFETY: shared references to a `T` go to readers on several threads, so it has to be `Sync`. A writer on any
// thread gets a mutable reference, and drops a `T` that another thread has made, so it has to be `Send`.
unsafe impl<P: Platform, T: Send + Sync> Sync for ReplicatedOn<P, T> {}

// Nobody sees a copy in which a change has panicked.
impl<P: Platform, T: RefUnwindSafe> RefUnwindSafe for ReplicatedOn<P, T> {}
impl<P: Platform, T: UnwindSafe> UnwindSafe for ReplicatedOn<P, T> {}

impl<P: Platform, T: Clone> ReplicatedOn<P, T> {
    /// Returns data with a copy on each of the nodes, which are clones of `value`. With one node there are two
    /// copies on it.
    #[must_use]
    pub fn on(nodes: &Nodes, value: T) -> Self {
        let distinct = nodes.distinct();
        let one = [distinct[0]; 2];
        let homes: &[NodeId] = if distinct.len() == 1 { &one } else { &distinct };
        let mut copies: Vec<Replica<T>> = Vec::with_capacity(homes.len());
        for &node in homes {
            copies.push(Replica::new(node, nodes.memory, || value.clone()));
        }
        drop(value);
        let place = |node: &NodeId| {
            let number = distinct.binary_search(node).expect("each core's node is among them");
            let copy = |side: Side| copies[side.stand_in(number, copies.len())].pointer();
            let copies = [copy(Side::Even), copy(Side::Odd)];
            Padded(CoreSlot { seat: Seat::new(), home: Side::of(number), copies })
        };
        let places = nodes.of_cores.iter().map(place).collect();
        // The second copy of a single node is read only while the first is changed.
        let shown = if distinct.len() == 1 { Sides::only(Side::Even) } else { Sides::BOTH };
        let writers = Writers { lock: Adaptive::new(), unfinished: P::Cell::new(false) };
        Self {
            head: Padded(Head { shown: P::U32::new(shown.0), places }),
            writers: Padded(writers),
            copies: copies.into_boxed_slice(),
        }
    }

    /// Returns a clone of the value for each copy, made on the copy's node.
    pub(crate) fn clones(&self, value: T) -> Vec<T> {
        let (last, others) = self.copies.split_last().expect("there are two copies at least");
        let mut clones: Vec<T> = Vec::with_capacity(self.copies.len());
        for copy in others {
            clones.push(copy.on_its_node(|| value.clone()));
        }
        clones.push(last.on_its_node(|| value.clone()));
        clones
    }
}

impl<P: Platform, T> ReplicatedOn<P, T> {
    /// Gives access to the copy of the caller's node.
    ///
    /// It never waits, and writes to no cache line but one of the caller's core. While the copy is being changed,
    /// the caller gets that of a neighbouring node. A thread may read while it reads, also within an
    /// [update](Self::update): it then sees what everybody sees at that moment.
    ///
    /// # Panics
    /// If 2^31 guards of one core were not dropped.
    #[inline]
    pub fn read(&self) -> ReadGuard<'_, P, T> {
        let CoreSlot { seat, home, copies } = &**self.place();
        // Relaxed: a guess, which is verified.
        let guess = Sides(self.head.shown.load(Ordering::Relaxed)).nearest(*home);
        let presence = seat.enter(guess, *home, || self.look());
        // SAFETY: the seat has returned it just now. The copies live as long as `self`. Writers change a side
        // only after they have hidden it and nobody is in a seat with it.
        unsafe { ReadGuard::new(copies[presence.side.index()].cast::<T>(), seat, presence) }
    }

    /// Returns the number of copies: one for each node that has cores, and two for a single node.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.copies.len()
    }

    /// Says whether the copies' memory is on their nodes.
    #[must_use]
    pub fn placement(&self) -> Placement {
        if self.copies.iter().all(|copy| !copy.was_to_be_bound()) {
            Placement::Anywhere
        } else if self.copies.iter().all(|copy| copy.bound) {
            Placement::OnNodes
        } else {
            Placement::Refused
        }
    }

    #[inline]
    fn place(&self) -> &Padded<CoreSlot<P, T>> {
        let CpuId(cpu) = P::cpu();
        let places = &self.head.places;
        let cpu = cpu as usize;
        // A core that was not listed shares a place. Divisions are slow, and hardly ever needed.
        places.get(cpu).unwrap_or_else(|| &places[cpu % places.len()])
    }

    /// Returns the sides that are shown. The look comes after all that the caller has done before, and what
    /// writers have done to these sides is visible then.
    #[inline]
    fn look(&self) -> Sides {
        let shown = if P::SEQUENTIAL_LOADS {
            // Sequentially consistent; see the head of `seat.rs`.
            self.head.shown.load(Ordering::SeqCst)
        } else {
            // After this, a writer's exchange shows the writer what the caller did before.
            self.head.shown.fetch_add(0, Ordering::AcqRel)
        };
        Sides(shown)
    }

    /// Returns the sides that are shown, to the writer whose turn it is.
    pub(crate) fn shown_by_writers(&self) -> Sides {
        // Relaxed: only writers change it, and they take turns.
        Sides(self.head.shown.load(Ordering::Relaxed))
    }

    /// Shows these sides to readers that come from now on, and hides the others.
    pub(crate) fn show(&self, sides: Sides) {
        // Argued: sequentially consistent, so that a look at the seats comes after it; see the head of
        // `seat.rs`. It also releases what was done to the copies.
        self.head.shown.swap(sides.0, Ordering::SeqCst);
    }
}

impl<P: Platform, T: fmt::Debug> fmt::Debug for ReplicatedOn<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replicated")
            .field("data", &*self.read())
            .field("copies", &self.copies())
            .field("placement", &self.placement())
            .finish()
    }
}
