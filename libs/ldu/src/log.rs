//! A root without its structure: the lock, the queue, and how the two make reads right.
//!
//! For structures whose objects are somewhere else than [`Ldu`](crate::Ldu) has them: in a kernel,
//! behind a C interface, or part of something larger. What the types of `Ldu` guarantee, the caller
//! of a [`Log`] promises.
//!
//! # A read
//! A reader that finds the queue empty, inside of the lock, is in: it takes no exclusive lock and
//! shares the structure with others, which is the concurrent read that the paper leaves to the future
//! (section 2.7). Otherwise somebody must synchronize, that is, apply the log as
//! the writer; whoever does so turns from the writer into a reader.
//!
//! Of many readers that find the queue full, one synchronizes for all: a reader need not see an
//! empty queue, which it might never do while others update, but a synchronization that *began
//! after it came*. It takes the number of those that have begun, with a read-modify-write, and is
//! satisfied when it is inside and the number has grown. The read-modify-write is what makes this
//! sound: the synchronization that counts itself after it has, by that, seen all that the reader has
//! seen.
//!
//! # Why reads are linearizable
//! A synchronization numbers itself and then takes the queue; that beginning is the moment at which
//! the reads that it serves take effect. An update that returned before is in the queue, and is
//! applied: whatever synchronization came before has ended, as it held the lock. An update that is
//! applied has read a smaller number, so it was called before. So no update that a read sees was
//! called after one returned that the read does not see. A reader that finds the queue empty takes
//! effect at that look. Direct updates apply the log first, so that nobody sees one of them without
//! what was logged before.
//!
//! The one subtle step: an update that comes too late for the taken queue, and returns, is followed
//! by another on another thread; that one must read the new number. The first has seen the
//! exchange that took the queue, or the lock of a slot, or the word of a node that was settled, each
//! of which is released after the number was written.

use core::ptr::{self, NonNull};

use kilocore_locks::RawRwLock;
use kilocore_platform::{Atomic, AtomicInt, Cycles, Ordering, Padded, Platform, SharedCell};

use crate::global::linked;
use crate::node::{Epoch, Logged, Node, RootId, Settled, Update};
use crate::policy::{Advice, Kind, Policy};
use crate::queue::{Fill, Queue};

/// When a log that nobody reads is applied all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Nodes from which on an update applies the log if nobody is inside. At four times as many it
    /// waits until it can, so that the log stays below that, as nearly as the queue knows its
    /// length. Each node is one object, so that what this bounds is how many objects wait for
    /// being freed, and how long the next reader takes.
    pub nodes: u32,
    /// Time from which on a log is applied by the next update that looks, if any: the paper's
    /// periodic flush.
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
    /// Updates that were logged, counted when their node is next looked at.
    pub logged: u64,
    /// Updates that reached the structure. The others cancelled each other.
    pub applied: u64,
    /// How often a log was applied.
    pub synchronizations: u64,
}

/// The lock, the queue, and what was applied.
///
/// It is not moved once something was logged.
pub struct Log<P: Platform, Q, L, D> {
    id: RootId,
    lock: Padded<L>,
    /// On lines of its own: updates write it, and readers should find the lock undisturbed.
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

/// What a reader brings back when it leaves.
#[must_use = "whoever has entered has to leave"]
#[derive(Debug, Clone, Copy)]
pub struct Inside(pub Advice);

/// Objects that are out of the structure, out of the queue, and given up: to be freed, once the
/// lock is released.
#[must_use = "they are to be freed"]
pub struct Released<P: Platform> {
    first: *mut Node<P>,
}

impl<P: Platform, Q: Queue<P>, L: RawRwLock<P>, D: Policy<P>> Log<P, Q, L, D> {
    /// An empty log whose queue shares `domain` with those of other roots.
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

    /// Makes a detached object this root's, unless another one has something left to do with it.
    ///
    /// # Safety
    /// The caller owns the object, which is detached. So nobody else calls this or
    /// [`owns`](Self::owns) for it meanwhile, and no other root thinks that it is its own.
    ///
    /// Two threads that have a reference to a node, but not the object, would race:
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
        if node.root() == self.id {
            return true;
        }
        let free = node.is_settled();
        if free {
            node.set_root(self.id);
        }
        free
    }

    /// Whether an object was last put into this root.
    ///
    /// # Safety
    /// The caller owns the object.
    #[inline]
    pub unsafe fn owns(&self, node: &Node<P>) -> bool {
        node.root() == self.id
    }

    /// Makes an update as the policy says: puts the object in if it was out, and out if it was in.
    ///
    /// `apply` is called for each update that is applied on the way, by one thread at a time and
    /// with nobody inside; for an object insertions and removals come in turn. It must not panic,
    /// nor use this log.
    ///
    /// # Safety
    /// The caller owns the object and this root [owns](Self::owns) it. The node stays alive and in
    /// place until it is settled, or was given up and came back among the [`Released`]. The log is
    /// not moved from the first update on, nor does it end before it was
    /// [synchronized](Self::synchronize) after the last.
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
        // Before the update, so that one which a synchronization leaves out began after it.
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
            // Whoever is inside is short of time, or about to apply it; the next will see.
            return Released::none();
        }
        // SAFETY: acquired above.
        unsafe { self.apply_and_leave(apply) }
    }

    /// Makes an update at once, after those that are logged.
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

    /// As [`update_directly`](Self::update_directly), for an operation that was given `advice`.
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

    /// Enters as a reader who sees every update that returned before. `apply` is as for
    /// [`update`](Self::update). What is given back goes to [`leave`](Self::leave).
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

    /// Enters as a reader, unless the queue is not empty.
    ///
    /// Only a look from inside says that it is: from outside, it also is while somebody applies what
    /// was in it, and puts back what was updated meanwhile.
    #[inline]
    fn enter_if_empty(&self) -> bool {
        self.lock.acquire_shared();
        let empty = self.queue.is_empty();
        if !empty {
            // SAFETY: acquired above.
            unsafe { self.lock.release_shared() };
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
        // Somebody is inside. Release: see the module's documentation. Argued: it pairs with the
        // acquire of the synchronization that counts itself next. Else the exchange that takes the
        // queue could come before a push that this reader has seen; loom has exchanges take effect in
        // the order in which they are made.
        let came = self.begun.fetch_add(0, Ordering::Release);
        let satisfied = || self.begun.load(Ordering::Relaxed) != came;
        self.lock.acquire_shared();
        if satisfied() {
            return Released::none();
        }
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared() };
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
    /// The caller has entered, and got `inside` then.
    #[inline]
    pub unsafe fn leave(&self, inside: Inside) {
        // SAFETY: by the caller's promise.
        unsafe { self.lock.release_shared() };
        self.done(Kind::Read, inside.0);
    }

    /// Says that an operation has ended, and lets the policy look if it wants to and can.
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

    /// Applies the log, once those who are inside have left. `apply` is as for
    /// [`update`](Self::update).
    pub fn synchronize(&self, apply: impl FnMut(NonNull<Node<P>>, Update)) -> Released<P> {
        self.lock.acquire();
        // SAFETY: acquired above.
        unsafe { self.apply_and_leave(apply) }
    }

    /// Applies the log unless somebody is inside. False if so. `apply` is as for
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

    /// What was applied so far.
    pub fn counts(&self) -> Counts {
        self.lock.acquire_shared();
        // SAFETY: a reader is inside, so nobody writes it.
        let counts = self.counts.with(|counts| unsafe { *counts });
        // SAFETY: acquired above.
        unsafe { self.lock.release_shared() };
        counts
    }

    /// Applies every update that was logged so far. If the operation that does it is timed and
    /// belongs to those that log nothing, the log answers for the time that this takes.
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
        // count to those who push later. Argued: pairs with the release in `enter_synchronized`.
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
                // Read now: a node that is settled may be queued again or freed.
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
        // SAFETY: only the lock's holder takes.
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
    /// None.
    #[inline]
    fn none() -> Self {
        Self { first: ptr::null_mut() }
    }

    fn add(&mut self, node: NonNull<Node<P>>) {
        // SAFETY: it was given up and taken from the queue, so it is whoever has this list's.
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
