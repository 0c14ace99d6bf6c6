//! A root without its structure: the lock, the queue, and the protocol that makes reads correct.
//!
//! A [`Log`] is for structures whose objects do not live in an [`Ldu`](crate::Ldu): in a kernel,
//! behind a C interface, or as part of something larger. The caller of a `Log` promises what the
//! types of `Ldu` guarantee.
//!
//! # A read
//! A reader acquires the lock in shared mode and looks at the queue. If the queue is empty, the
//! reader may read at once. It then takes no exclusive lock and shares the structure with other
//! readers. This is the concurrent read that the paper leaves to the future (section 2.7). If the
//! queue is not empty, some thread has to *synchronize*, that is, apply the log as the writer. That
//! thread then downgrades from writer to reader.
//!
//! If many readers find updates in the queue, one of them synchronizes for all. A reader does not
//! need to see an empty queue, which it might never see while others update. It only needs a
//! synchronization that *began after the reader came*. So the reader reads the number of
//! synchronizations that have begun, by a read-modify-write, and it may read the structure once it
//! holds the lock and the number has grown. The read-modify-write makes this sound: a synchronization
//! that counts itself after it acquires from it, and so has seen everything that the reader had
//! seen.
//!
//! # Why reads are linearizable
//! A synchronization first takes a number and then takes the queue. The moment at which it takes its
//! number is the moment at which the reads that it serves take effect:
//!
//! * An update that returned before this moment is in the queue or already applied, because each
//!   earlier synchronization held the lock and has ended. So the reads see this update.
//! * An update that the synchronization applies has read a smaller number, so it was called before
//!   this moment.
//!
//! So if a read sees update B and misses update A, then A had not returned when B was called. A
//! reader that finds the queue empty takes effect when it looks. A direct update applies the log
//! first, so nobody sees a direct update without the updates that were logged before it.
//!
//! One step is subtle. Suppose that update A comes too late for the queue that was taken, and
//! returns, and that update B then starts on another thread. B must read the new number. It does,
//! because A has seen one of three things: the exchange that took the queue, the lock of a slot, or
//! the word of a node that was settled. Each of them was released after the number was written.

use core::ptr::{self, NonNull};

use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform, SharedCell};

use crate::global::linked;
use crate::node::{Epoch, Logged, Node, RootId, Settled, Update};
use crate::policy::{Advice, Kind, Policy};
use crate::queue::{Fill, Queue};

/// The limits from which on an update applies the log, although nobody reads the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The length of the log, in nodes, from which on an update tries to apply the log. It applies
    /// the log if nobody holds the lock. If the log is four times as long, the update waits for the
    /// lock. So the log stays below four times this limit, as nearly as the queue knows its own
    /// length. Each node belongs to one object, so the limit also bounds how many objects wait to
    /// be freed and how long the next reader takes.
    pub nodes: u32,
    /// The age of the log from which on an update applies it, if there is such a limit. Only updates
    /// that learn the queue's length look at the age. This is the paper's periodic flush.
    pub age: Option<Cycles>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 4096, age: None }
    }
}

/// What a root has applied so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Updates that were logged. An update is counted when a synchronization settles its node.
    pub logged: u64,
    /// Updates that reached the structure. The others cancelled each other.
    pub applied: u64,
    /// How often a log was applied.
    pub synchronizations: u64,
}

/// The lock, the queue, and what was applied.
///
/// The log must not be moved after its first update.
pub struct Log<P: Platform, Q, L, D> {
    id: RootId,
    lock: Padded<L>,
    /// The queue is on cache lines of its own, because updates write it and should not disturb the
    /// readers' use of the lock.
    queue: Padded<Q>,
    /// How many synchronizations have begun.
    begun: P::U64,
    /// When the last one began. Written under the lock.
    last: P::U64,
    limits: Limits,
    policy: D,
    /// Used under the lock.
    counts: P::Cell<Counts>,
}

/// What a reader gets when it enters and hands back when it leaves.
#[must_use = "whoever has entered has to leave"]
#[derive(Debug, Clone, Copy)]
pub struct Inside(pub Advice);

/// Objects that are out of the structure, out of the queue, and given up by their owners. The caller
/// has to free them once the lock is released.
#[must_use = "they are to be freed"]
pub struct Released<P: Platform> {
    first: *mut Node<P>,
}

impl<P: Platform, Q: Queue<P>, L: RawRwLock<P, Reader = ()>, D: Policy<P>> Log<P, Q, L, D> {
    /// Returns an empty log. Its queue shares `domain` with the queues of other roots.
    pub fn new(domain: Q::Domain, limits: Limits) -> Self {
        Self {
            id: RootId::new(),
            lock: Padded(L::new()),
            queue: Padded(Q::new(domain)),
            begun: P::U64::new(0),
            limits,
            policy: D::new(),
            last: P::U64::new(P::now().0),
            counts: P::Cell::new(Counts::default()),
        }
    }

    /// Makes a detached object this root's, and returns whether it did. It does not if another
    /// root's log still has the object's node in its queue.
    ///
    /// # Safety
    /// The caller owns the object, and the object is detached. So no other thread calls this or
    /// [`owns`](Self::owns) for the object meanwhile, and no other root takes it for its own.
    ///
    /// Two threads that have references to a node, and do not own the object, would race:
    ///
    /// ```
    /// # use kilocore_ldu::{Always, Global, raw::{Log, Node}};
    /// # use kilocore_locks::CentralRw;
    /// # use kilocore_platform::Native;
    /// # type Root = Log<Native, Global<Native>, CentralRw<Native>, Always>;
    /// let (root, node) = (Root::new((), Default::default()), Node::new());
    /// // SAFETY: nobody else knows of the node.
    /// assert!(unsafe { root.adopt(&node) && root.owns(&node) });
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # use kilocore_ldu::{Always, Global, raw::{Log, Node}};
    /// # use kilocore_locks::CentralRw;
    /// # use kilocore_platform::Native;
    /// # type Root = Log<Native, Global<Native>, CentralRw<Native>, Always>;
    /// let (root, node) = (Root::new((), Default::default()), Node::new());
    /// assert!(root.adopt(&node));
    /// ```
    ///
    /// ```compile_fail,E0133
    /// # use kilocore_ldu::{Always, Global, raw::{Log, Node}};
    /// # use kilocore_locks::CentralRw;
    /// # use kilocore_platform::Native;
    /// # type Root = Log<Native, Global<Native>, CentralRw<Native>, Always>;
    /// let (root, node) = (Root::new((), Default::default()), Node::new());
    /// assert!(!root.owns(&node));
    /// ```
    #[inline]
    pub unsafe fn adopt(&self, node: &Node<P>) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { node.adopt(self.id) }
    }

    /// Returns whether an object was last put into this root.
    ///
    /// # Safety
    /// The caller owns the object.
    #[inline]
    pub unsafe fn owns(&self, node: &Node<P>) -> bool {
        // SAFETY: by the caller's promise.
        unsafe { node.belongs_to(self.id) }
    }

    /// Makes an update: inserts the object if it was out, and removes it if it was in. The policy
    /// says whether the update is logged or made at once.
    ///
    /// `apply` is called for each update that this call applies to the structure. It is called by
    /// one thread at a time, which holds the lock as the writer. For one object, insertions and
    /// removals alternate. `apply` must not panic and must not use this log.
    ///
    /// # Safety
    /// The caller owns the object and this root [owns](Self::owns) it. The node stays alive and in
    /// place until it is settled, or until it was given up and came back among the [`Released`].
    /// From the first update on the log is not moved. It is not dropped before it was
    /// [synchronized](Self::synchronize) after the last update.
    #[inline]
    pub unsafe fn update(
        &self,
        node: NonNull<Node<P>>,
        apply: impl FnMut(NonNull<Node<P>>, Update),
    ) -> Released<P> {
        let mut advice = self.policy.begin(Kind::Update);
        let released = if advice.logs {
            // SAFETY: by the caller's promise.
            unsafe { self.log(node, apply) }
        } else {
            // SAFETY: by the caller's promise.
            unsafe { self.update_at_once(node, apply, &mut advice) }
        };
        self.done(Kind::Update, advice);
        released
    }

    /// Logs an update, and applies the log if it has grown too long or too old.
    ///
    /// # Safety
    /// As for [`update`](Self::update).
    #[inline]
    pub unsafe fn log(
        &self,
        node: NonNull<Node<P>>,
        apply: impl FnMut(NonNull<Node<P>>, Update),
    ) -> Released<P> {
        // The number is read before the update is logged. So an update that has read a
        // synchronization's number, and that the synchronization leaves out, was logged after the
        // synchronization had begun.
        let epoch = Epoch::of(self.begun.load(Ordering::Relaxed));
        // SAFETY: the node is alive, as the caller promises.
        if unsafe { node.as_ref() }.log(epoch) == Logged::InPlace {
            return Released::none();
        }
        // SAFETY: `log` has found it in no queue.
        match unsafe { self.queue.push(node) } {
            Fill::Between => Released::none(),
            Fill::Nodes(length) => self.relieve(length, apply),
        }
    }

    #[cold]
    fn relieve(&self, length: u32, apply: impl FnMut(NonNull<Node<P>>, Update)) -> Released<P> {
        let Limits { nodes: most, age } = self.limits;
        let last = Cycles(self.last.load(Ordering::Relaxed));
        if length < most && age.is_none_or(|age| P::now().since(last) < age) {
            return Released::none();
        }
        if length >= most.saturating_mul(4) {
            self.lock.acquire();
        } else if !self.lock.try_acquire() {
            // A thread is inside: a reader, which may leave soon, or a writer, which is about to
            // apply the log. The next update that learns the log's length tries again.
            return Released::none();
        }
        // SAFETY: acquired above.
        unsafe { self.apply_and_leave(apply) }
    }

    /// Makes an update at once. Applies the updates that were logged before it first.
    ///
    /// # Safety
    /// As for [`update`](Self::update).
    #[inline]
    pub unsafe fn update_directly(
        &self,
        node: NonNull<Node<P>>,
        apply: impl FnMut(NonNull<Node<P>>, Update),
    ) -> Released<P> {
        // SAFETY: by the caller's promise.
        unsafe { self.update_at_once(node, apply, &mut Advice { logs: false, began: None }) }
    }

    /// Does what [`update_directly`](Self::update_directly) does, for an operation to which the
    /// policy gave `advice`.
    ///
    /// # Safety
    /// As for [`update`](Self::update).
    #[inline]
    unsafe fn update_at_once(
        &self,
        node: NonNull<Node<P>>,
        mut apply: impl FnMut(NonNull<Node<P>>, Update),
        advice: &mut Advice,
    ) -> Released<P> {
        self.lock.acquire();
        let released = if self.queue.is_empty() {
            Released::none()
        } else {
            // SAFETY: acquired above.
            unsafe { self.apply_for(advice, &mut apply) }
        };
        // SAFETY: the node is alive, as the caller promises.
        unsafe { node.as_ref() }.update_directly(|update| apply(node, update));
        // SAFETY: acquired above.
        unsafe {
            self.policy.updated();
            self.lock.release();
        }
        released
    }

    /// Enters as a reader, which sees every update that returned before this call. `apply` is as for
    /// [`update`](Self::update). The caller hands the returned [`Inside`] to [`leave`](Self::leave).
    #[inline]
    pub fn enter(&self, apply: impl FnMut(NonNull<Node<P>>, Update)) -> (Inside, Released<P>) {
        let mut advice = self.policy.begin(Kind::Read);
        let released = if self.queue.is_empty() && self.enter_if_empty() {
            Released::none()
        } else {
            self.enter_synchronized(apply, &mut advice)
        };
        (Inside(advice), released)
    }

    /// Enters as a reader if the queue is empty, and returns whether it did.
    ///
    /// Only a look under the lock can tell. To a thread without the lock, the queue also looks empty
    /// while the writer applies the nodes that it has taken, before it puts back those that were
    /// updated meanwhile.
    #[inline]
    fn enter_if_empty(&self) -> bool {
        self.lock.acquire_shared();
        let empty = self.queue.is_empty();
        if !empty {
            // SAFETY: acquired above.
            unsafe { self.lock.release_shared(()) };
        }
        empty
    }

    #[cold]
    fn enter_synchronized(
        &self,
        apply: impl FnMut(NonNull<Node<P>>, Update),
        advice: &mut Advice,
    ) -> Released<P> {
        if self.lock.try_acquire() {
            // SAFETY: acquired just above.
            let released = unsafe { self.apply_for(advice, apply) };
            // SAFETY: as above.
            unsafe { self.lock.downgrade() };
            return released;
        }
        // Another thread is inside. Release: see the module's documentation. Argued: it pairs with
        // the acquire of the synchronization that counts itself next. Without this pair, the exchange
        // with which that synchronization takes the queue could come before a push that this reader
        // has seen. In loom, exchanges take effect in the order in which they are made.
        let came = self.begun.fetch_add(0, Ordering::Release);
        let satisfied = || self.begun.load(Ordering::Relaxed) != came;
        self.lock.acquire_shared();
        if satisfied() {
            return Released::none();
        }
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared(()) };
        self.lock.acquire();
        let released = if satisfied() {
            Released::none()
        } else {
            // SAFETY: acquired above.
            unsafe { self.apply_for(advice, apply) }
        };
        // SAFETY: as above.
        unsafe { self.lock.downgrade() };
        released
    }

    /// Leaves as a reader.
    ///
    /// # Safety
    /// The caller has entered, and `inside` is what it got when it entered.
    #[inline]
    pub unsafe fn leave(&self, inside: Inside) {
        // SAFETY: by the caller's promise.
        unsafe { self.lock.release_shared(()) };
        self.done(Kind::Read, inside.0);
    }

    /// Tells the policy that an operation has ended. If the policy then wants to look at what it has
    /// timed, it does so here, provided that nobody holds the lock.
    #[inline]
    fn done(&self, kind: Kind, advice: Advice) {
        if self.policy.done(kind, advice) && self.lock.try_acquire() {
            // SAFETY: acquired just above.
            unsafe {
                self.policy.look();
                self.lock.release();
            }
        }
    }

    /// Applies the log after the threads that are inside have left. `apply` is as for
    /// [`update`](Self::update).
    pub fn synchronize(&self, apply: impl FnMut(NonNull<Node<P>>, Update)) -> Released<P> {
        self.lock.acquire();
        // SAFETY: acquired above.
        unsafe { self.apply_and_leave(apply) }
    }

    /// Applies the log unless a thread is inside, and returns whether it did. `apply` is as for
    /// [`update`](Self::update).
    pub fn try_synchronize(
        &self,
        apply: impl FnMut(NonNull<Node<P>>, Update),
    ) -> (bool, Released<P>) {
        if !self.lock.try_acquire() {
            return (false, Released::none());
        }
        // SAFETY: acquired above.
        (true, unsafe { self.apply_and_leave(apply) })
    }

    /// Returns what was applied so far.
    pub fn counts(&self) -> Counts {
        self.lock.acquire_shared();
        // SAFETY: this thread is inside as a reader, so no other thread writes the counts.
        let counts = self.counts.with(|counts| unsafe { *counts });
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared(()) };
        counts
    }

    /// Applies every update that was logged so far. If the calling operation is timed and belongs to
    /// a window without logging, the time that this takes is charged to logging instead.
    ///
    /// # Safety
    /// As for [`apply_all`](Self::apply_all).
    unsafe fn apply_for(
        &self,
        advice: &mut Advice,
        apply: impl FnMut(NonNull<Node<P>>, Update),
    ) -> Released<P> {
        let timed = advice.began.filter(|_| !advice.logs).map(|began| (began, P::now()));
        // SAFETY: by the caller's promise.
        let released = unsafe { self.apply_all(apply) };
        if let Some((began, before)) = timed {
            let took = P::now().since(before);
            advice.began = Some(Cycles(began.0 + took.0));
            self.policy.owed(took);
        }
        released
    }

    /// Applies every update that was logged so far, and leaves as the writer.
    ///
    /// # Safety
    /// As for [`apply_all`](Self::apply_all).
    unsafe fn apply_and_leave(&self, apply: impl FnMut(NonNull<Node<P>>, Update)) -> Released<P> {
        // SAFETY: by the caller's promise.
        let released = unsafe { self.apply_all(apply) };
        // SAFETY: as above.
        unsafe { self.lock.release() };
        released
    }

    /// Applies every update that was logged so far.
    ///
    /// # Safety
    /// The caller holds the lock as the writer.
    unsafe fn apply_all(&self, mut apply: impl FnMut(NonNull<Node<P>>, Update)) -> Released<P> {
        // Acquire: see the module's documentation. The exchange that takes the queue releases this
        // count to the threads that push later. Argued: the acquire pairs with the release in
        // `enter_synchronized`.
        let epoch = Epoch::of(self.begun.fetch_add(1, Ordering::Acquire) + 1);
        if self.limits.age.is_some() {
            self.last.store(P::now().0, Ordering::Relaxed);
        }
        let mut released = Released::none();
        let mut counts = Counts { synchronizations: 1, ..Counts::default() };
        let mut again: *mut Node<P> = ptr::null_mut();
        let mut chain = |newest: NonNull<Node<P>>| {
            let mut next = newest.as_ptr();
            while let Some(node) = NonNull::new(next) {
                // SAFETY: it was taken from the queue and is not settled yet, so it lives.
                let at = unsafe { node.as_ref() };
                // The link is read before the node is settled, because a settled node may be queued
                // again or freed.
                next = linked(at);
                let settled = at.settle(epoch, &mut counts.logged, |update| {
                    counts.applied += 1;
                    apply(node, update);
                });
                match settled {
                    Settled::Done => {}
                    Settled::Released => released.add(node),
                    Settled::Again => {
                        at.next.store(again, Ordering::Relaxed);
                        again = node.as_ptr();
                    }
                }
            }
        };
        // SAFETY: only the lock's holder takes the queue, and the caller is the holder.
        unsafe { self.queue.take(&mut chain) };
        while let Some(node) = NonNull::new(again) {
            // SAFETY: it is still marked as queued, so it lives, and it is in no queue.
            again = unsafe { node.as_ref() }.next.load(Ordering::Relaxed);
            // SAFETY: as above.
            unsafe { self.queue.push(node) };
        }
        self.counts.with_mut(|all| {
            // SAFETY: the lock's holder is alone with them.
            let all = unsafe { &mut *all };
            all.logged += counts.logged;
            all.applied += counts.applied;
            all.synchronizations += counts.synchronizations;
        });
        // SAFETY: by the caller's promise.
        unsafe { self.policy.look() };
        released
    }
}

impl<P: Platform> Released<P> {
    /// Returns an empty list.
    #[inline]
    pub(crate) fn none() -> Self {
        Self { first: ptr::null_mut() }
    }

    /// Adds a node that was given up and taken from the queue.
    pub(crate) fn add(&mut self, node: NonNull<Node<P>>) {
        // SAFETY: the node was given up and taken from the queue, so it belongs to the holder of
        // this list.
        unsafe { node.as_ref() }.next.store(self.first, Ordering::Relaxed);
        self.first = node.as_ptr();
    }

    /// Hands each object to `free`, which owns it from then on.
    #[inline]
    pub fn free_all(self, mut free: impl FnMut(NonNull<Node<P>>)) {
        let mut first = self.first;
        while let Some(node) = NonNull::new(first) {
            // SAFETY: as in `add`.
            first = unsafe { node.as_ref() }.next.load(Ordering::Relaxed);
            free(node);
        }
    }
}

impl<P: Platform, Q, L, D> core::fmt::Debug for Log<P, Q, L, D> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Log").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl<P: Platform> core::fmt::Debug for Released<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Released").field("any", &!self.first.is_null()).finish()
    }
}
