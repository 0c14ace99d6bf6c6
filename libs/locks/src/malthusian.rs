//! The Malthusian lock: only as many threads circulate as are needed to keep the lock busy.
//!
//! The lock is an MCS queue. When the holder releases it and two threads or more wait, the holder
//! moves one of them from the queue to a passive list. The remaining threads circulate through the
//! lock and never park for long. The passive ones sleep and leave cores, caches and energy to them.
//! When the queue is empty, the youngest passive waiter comes back. Now and then, for long-term
//! fairness, the eldest one does (Dice, 'Malthusian locks', EuroSys 2017, the lock that it calls
//! MCSCR). Waiters spin for a while and then park. In [`MalthusianSpin`](crate::MalthusianSpin),
//! they spin on instead.
//!
//! # Where it departs from the paper
//! The passive list is not in the lock, which has room for two words only. It is handed from holder
//! to holder in their queue nodes. The second word of the lock is the holder's node, so that any
//! thread can release it. Nodes come from a cache of the thread.

use core::marker::PhantomData;
use core::{fmt, ptr};

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::node_cache::NodeCache;
use crate::random::Dice;
use crate::signal::{Manner, Parking, Signal};
use crate::{LockInfo, RawLock, Waiting};

/// A Malthusian lock whose waiters wait in manner `M`.
pub struct Malthusian<P: Platform, M: Manner = Parking> {
    /// The last node of the queue, which may be the holder's. Null while the lock is free.
    tail: P::Ptr<Node<P>>,
    /// The queue node of the holder.
    owner: P::Ptr<Node<P>>,
    manner: PhantomData<M>,
}

/// The queue node of a waiter or of the holder.
struct Node<P: Platform> {
    admitted: Signal<P>,
    /// The next node in the queue.
    next: P::Ptr<Node<P>>,
    /// In the node of a passive waiter: its neighbours in the passive list.
    older: P::Ptr<Node<P>>,
    younger: P::Ptr<Node<P>>,
    /// In the holder's node: the two ends of the passive list.
    youngest: P::Ptr<Node<P>>,
    eldest: P::Ptr<Node<P>>,
}

type Link<P> = *mut Node<P>;

/// What a thread keeps: spare nodes, and a random state that decides when a handover has to be
/// fair.
#[derive(Debug)]
pub struct MalthusianThread<P: Platform> {
    nodes: NodeCache<P, Node<P>>,
    dice: Dice,
}

impl<P: Platform> Default for MalthusianThread<P> {
    fn default() -> Self {
        Self { nodes: NodeCache::default(), dice: Dice::default() }
    }
}

/// What the registry says of it.
pub(crate) const INFO: LockInfo = LockInfo {
    name: "malthusian",
    title: "Malthusian lock: surplus waiters sleep aside, spin then park",
    source: "Dice, EuroSys 2017",
    best_at: "more threads than cores or than caches hold, long runs",
    worst_at: "fairness over short times; a waiter may be set aside for long",
    waiting: Waiting::ParkInQueue,
    aliases: &["malth_stp"],
};

/// On average, one handover in this many goes to the eldest passive waiter. The number is the
/// paper's.
const HANDOVERS_PER_ELDEST: u32 = 1_000;

impl<P: Platform> MalthusianThread<P> {
    #[inline]
    fn fresh_node(&mut self) -> Link<P> {
        let empty = || P::Ptr::new(ptr::null_mut());
        let node = self.nodes.take(|| Node {
            admitted: Signal::new(),
            next: empty(),
            older: empty(),
            younger: empty(),
            youngest: empty(),
            eldest: empty(),
        });
        // SAFETY: no other thread knows the node. We set it up as for a thread that finds the lock
        // free.
        unsafe {
            (*node).admitted.reset();
            (*node).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).youngest.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).eldest.store(ptr::null_mut(), Ordering::Relaxed);
        }
        node
    }

    /// Decides whether it is the turn of the eldest passive waiter.
    fn eldest_has_its_turn(&mut self) -> bool {
        let one_in = if P::CHECKED { 2 } else { HANDOVERS_PER_ELDEST };
        self.dice.roll::<P>().is_multiple_of(one_in)
    }
}

/// The passive list, in the hands of the holder. Only holders write its links. The lock orders
/// these accesses, so they can be relaxed.
struct Passive<P: Platform> {
    youngest: Link<P>,
    eldest: Link<P>,
}

impl<P: Platform> Passive<P> {
    /// # Safety
    /// `holder` is the holder's node.
    unsafe fn of(holder: Link<P>) -> Self {
        // SAFETY: the caller promises that it is the holder's node.
        unsafe {
            Self {
                youngest: (*holder).youngest.load(Ordering::Relaxed),
                eldest: (*holder).eldest.load(Ordering::Relaxed),
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.youngest.is_null()
    }

    /// # Safety
    /// The caller acts for the holder that has this list. `waiter` waits and is not in the queue.
    unsafe fn add(&mut self, waiter: Link<P>) {
        // SAFETY: the node of a waiter stays until it is admitted, and only the holder admits.
        unsafe {
            (*waiter).older.store(self.youngest, Ordering::Relaxed);
            (*waiter).younger.store(ptr::null_mut(), Ordering::Relaxed);
            if self.is_empty() {
                self.eldest = waiter;
            } else {
                (*self.youngest).younger.store(waiter, Ordering::Relaxed);
            }
        }
        self.youngest = waiter;
    }

    /// # Safety
    /// The caller acts for the holder that has this list, and the list is not empty.
    unsafe fn remove_youngest(&mut self) -> Link<P> {
        let waiter = self.youngest;
        // SAFETY: passive waiters' nodes stay until they are admitted.
        unsafe {
            self.youngest = (*waiter).older.load(Ordering::Relaxed);
            if self.is_empty() {
                self.eldest = ptr::null_mut();
            } else {
                (*self.youngest).younger.store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
        waiter
    }

    /// # Safety
    /// As for [`remove_youngest`](Self::remove_youngest).
    unsafe fn remove_eldest(&mut self) -> Link<P> {
        let waiter = self.eldest;
        // SAFETY: passive waiters' nodes stay until they are admitted.
        unsafe {
            self.eldest = (*waiter).younger.load(Ordering::Relaxed);
            if self.eldest.is_null() {
                self.youngest = ptr::null_mut();
            } else {
                (*self.eldest).older.store(ptr::null_mut(), Ordering::Relaxed);
            }
        }
        waiter
    }

    /// Admits `waiter` and hands it the list.
    ///
    /// # Safety
    /// The caller acts for the holder. `waiter` is at the front of the queue and not on the list.
    /// Its node may be gone afterwards.
    unsafe fn admit<M: Manner>(self, waiter: Link<P>) {
        // SAFETY: the node of a waiter stays until it is admitted, which is our last access to it.
        unsafe {
            (*waiter).youngest.store(self.youngest, Ordering::Relaxed);
            (*waiter).eldest.store(self.eldest, Ordering::Relaxed);
            Signal::raise::<M>(&raw const (*waiter).admitted);
        }
    }
}

impl<P: Platform, M: Manner> Malthusian<P, M> {
    /// Waits behind `before`.
    ///
    /// # Safety
    /// The caller has put `node` into the tail, got `before` out of it, and not yet linked the two.
    #[cold]
    unsafe fn wait(node: Link<P>, before: Link<P>) {
        // SAFETY: `before` cannot leave the queue until we have linked ourselves behind it, because
        // its exchange of the tail fails. `node` is ours until we release the lock.
        unsafe {
            (*before).next.store(node, Ordering::Release);
            (*node).admitted.wait::<M>();
        }
    }

    /// Releases the lock when there are waiters, in the queue or passive, or a thread is about to
    /// join.
    ///
    /// # Safety
    /// `me` is the holder's node.
    #[cold]
    unsafe fn hand_over(&self, me: Link<P>, thread: &mut MalthusianThread<P>) {
        // SAFETY: nodes in the queue and on the passive list stay until they are admitted. Only the
        // holder admits, and we act for the holder. `admit` is the last step of each path.
        unsafe {
            let mut passive = Passive::of(me);
            if !passive.is_empty() && thread.eldest_has_its_turn() {
                let eldest = passive.remove_eldest();
                let next = self.replace_or_next(me, eldest);
                if !next.is_null() {
                    // Relaxed: only later holders read the link, and the admission makes it visible
                    // to them.
                    (*eldest).next.store(next, Ordering::Relaxed);
                }
                passive.admit::<M>(eldest);
                return;
            }
            let mut next = (*me).next.load(Ordering::Acquire);
            if next.is_null() {
                if passive.is_empty() {
                    next = self.replace_or_next(me, ptr::null_mut());
                    if next.is_null() {
                        return; // the lock is free now
                    }
                } else {
                    let youngest = passive.remove_youngest();
                    next = self.replace_or_next(me, youngest);
                    if next.is_null() {
                        passive.admit::<M>(youngest);
                        return;
                    }
                    passive.add(youngest);
                }
            }
            // Two or more threads wait. One is enough to keep the lock busy, so we set the other
            // aside.
            let behind = (*next).next.load(Ordering::Acquire);
            if !behind.is_null() {
                passive.add(next);
                next = behind;
            }
            passive.admit::<M>(next);
        }
    }

    /// If no thread is behind `me`, makes `substitute` the whole queue and returns null.
    /// `substitute` is a passive waiter, or null to free the lock. Otherwise returns the node
    /// behind `me`.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over), and `substitute` is on no list.
    unsafe fn replace_or_next(&self, me: Link<P>, substitute: Link<P>) -> Link<P> {
        // SAFETY: see `hand_over`.
        unsafe {
            let next = (*me).next.load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            if !substitute.is_null() {
                // This must precede the exchange of the tail: from then on, newcomers write this
                // link.
                (*substitute).next.store(ptr::null_mut(), Ordering::Relaxed);
            }
            // Argued: release orders that store before the store of a newcomer that finds the
            // substitute in the tail. With a weaker ordering, our null could overwrite the
            // newcomer's link. No check detects this: in loom, stores take effect in program order.
            let replaced =
                self.tail.compare_exchange(me, substitute, Ordering::Release, Ordering::Relaxed);
            if replaced.is_ok() {
                return ptr::null_mut();
            }
            P::wait_until(&(*me).next, Wait::Spin, |next| !next.is_null())
        }
    }
}

// SAFETY: a newcomer's exchange of the tail returns either null or another node. Null means that
// the lock was free; the newcomer is now its holder. Otherwise the newcomer waits for its signal. A
// release either sets the tail to null or raises the signal of one waiter, with release. That is
// its last access to anything that other threads can reach. The lock has two words, and it is free
// when all its bits are zero. One of the words is the holder's node, so any thread can release the
// lock.
unsafe impl<P: Platform, M: Manner> RawLock<P> for Malthusian<P, M> {
    type Thread = MalthusianThread<P>;

    fn new() -> Self {
        Self {
            tail: P::Ptr::new(ptr::null_mut()),
            owner: P::Ptr::new(ptr::null_mut()),
            manner: PhantomData,
        }
    }

    #[inline]
    fn acquire(&self, thread: &mut MalthusianThread<P>) {
        let node = thread.fresh_node();
        // Release makes our fresh node visible to our successor. Acquire makes visible to us the
        // node of our predecessor or, if the lock was free, what its last holder wrote.
        let before = self.tail.swap(node, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: we have just put the node into the tail.
            unsafe { Self::wait(node, before) };
        }
        self.owner.store(node, Ordering::Relaxed);
    }

    #[inline]
    fn try_acquire(&self, thread: &mut MalthusianThread<P>) -> bool {
        if !self.tail.load(Ordering::Relaxed).is_null() {
            return false;
        }
        let node = thread.fresh_node();
        // SAFETY: no other thread has seen the node.
        unsafe { thread.nodes.enter_if_free(node, &self.tail, &self.owner) }
    }

    #[inline]
    unsafe fn release(&self, thread: &mut MalthusianThread<P>) {
        let me = self.owner.load(Ordering::Relaxed);
        // SAFETY: `me` is the holder's node. If the exchange succeeds, no thread is behind it.
        // Otherwise `hand_over` has released the lock. In both cases, no queue leads to the node
        // any more.
        unsafe {
            let alone = (*me).youngest.load(Ordering::Relaxed).is_null()
                && (*me).next.load(Ordering::Relaxed).is_null()
                && self
                    .tail
                    .compare_exchange(me, ptr::null_mut(), Ordering::Release, Ordering::Relaxed)
                    .is_ok();
            if !alone {
                self.hand_over(me, thread);
            }
            thread.nodes.give_back(me);
        }
    }

    unsafe fn forget_waiters(&self, _thread: &mut MalthusianThread<P>) {
        let me = self.owner.load(Ordering::Relaxed);
        // SAFETY: `me` is the holder's node, and no other thread exists that could use it.
        unsafe {
            (*me).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*me).youngest.store(ptr::null_mut(), Ordering::Relaxed);
            (*me).eldest.store(ptr::null_mut(), Ordering::Relaxed);
        }
        self.tail.store(me, Ordering::Relaxed);
    }
}

impl<P: Platform, M: Manner> fmt::Debug for Malthusian<P, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Malthusian")
            .field("tail", &self.tail.load(Ordering::Relaxed))
            .field("owner", &self.owner.load(Ordering::Relaxed))
            .field("parks", &M::PARKS)
            .finish()
    }
}
