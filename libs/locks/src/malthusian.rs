//! The Malthusian lock: only as many threads circulate as keep the lock busy.
//!
//! An MCS queue whose holder, when it lets go, takes surplus waiters out of the queue and onto a
//! passive list, one at each release, as long as somebody waits behind them. The threads left
//! circulate over the lock without ever parking for long; the passive ones sleep and leave core,
//! caches and energy to them. When the queue runs dry the youngest passive waiter comes back,
//! and now and then, for fairness in the long run, the eldest (Dice, 'Malthusian locks', EuroSys
//! 2017, the lock it calls MCSCR). Waiters spin for a while and then park;
//! [`MalthusianSpin`](crate::MalthusianSpin) is the form whose waiters spin on.
//!
//! # Where it departs from the paper
//! The passive list is not in the lock, which has room for two words only, but is handed from
//! holder to holder in their queue nodes; the second word is the holder's node, so that any
//! thread can release. Nodes come from a cache of the thread.

use core::marker::PhantomData;
use core::{fmt, ptr};

use kilocore_platform::{Atomic, Ordering, Platform, Wait};

use crate::node_cache::NodeCache;
use crate::random::Dice;
use crate::signal::{Manner, Parking, Signal};
use crate::{LockInfo, RawLock, Waiting};

/// A Malthusian lock whose waiters wait in manner `M`.
pub struct Malthusian<P: Platform, M: Manner = Parking> {
    /// The last node of the queue, the holder's included; null when the lock is free.
    tail: P::Ptr<Node<P>>,
    /// The holder's node.
    owner: P::Ptr<Node<P>>,
    manner: PhantomData<M>,
}

/// A waiter or holder.
struct Node<P: Platform> {
    admitted: Signal<P>,
    /// The one behind in the queue.
    next: P::Ptr<Node<P>>,
    /// In a passive waiter's node: its neighbours in the list.
    older: P::Ptr<Node<P>>,
    younger: P::Ptr<Node<P>>,
    /// In the holder's node: the ends of the passive list.
    youngest: P::Ptr<Node<P>>,
    eldest: P::Ptr<Node<P>>,
}

type Link<P> = *mut Node<P>;

/// What a thread brings along: spare nodes, and dice for the fairness of its handovers.
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

/// One handover in this many, on average, goes to the eldest passive waiter: the paper's figure.
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
        // SAFETY: the node is ours alone. It is set up as for a free lock.
        unsafe {
            (*node).admitted.reset();
            (*node).next.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).youngest.store(ptr::null_mut(), Ordering::Relaxed);
            (*node).eldest.store(ptr::null_mut(), Ordering::Relaxed);
        }
        node
    }

    /// Whether it is the eldest passive waiter's turn.
    fn eldest_has_its_turn(&mut self) -> bool {
        let one_in = if P::CHECKED { 2 } else { HANDOVERS_PER_ELDEST };
        self.dice.roll::<P>().is_multiple_of(one_in)
    }
}

/// The passive list, in the hands of the holder. All its links are written by holders only, so
/// that the lock orders them and relaxed accesses do.
struct Passive<P: Platform> {
    youngest: Link<P>,
    eldest: Link<P>,
}

impl<P: Platform> Passive<P> {
    /// # Safety
    /// `holder` is the holder's node.
    unsafe fn of(holder: Link<P>) -> Self {
        // SAFETY: as promised.
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
    /// The caller acts for the holder whose list this is; `waiter` waits and is in no queue.
    unsafe fn add(&mut self, waiter: Link<P>) {
        // SAFETY: a waiter's node stays until it is admitted, which the holder alone does.
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
    /// The caller acts for the holder whose list this is, and it is not empty.
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

    /// Lets `waiter` in and hands it the list.
    ///
    /// # Safety
    /// The caller acts for the holder, `waiter` is at the front of the queue and on no list.
    /// Its node may be gone afterwards.
    unsafe fn admit<M: Manner>(self, waiter: Link<P>) {
        // SAFETY: a waiter's node stays until it is admitted, which is the last access.
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
    /// `node` was exchanged for `before` in the tail by the caller, and not linked yet.
    #[cold]
    unsafe fn wait(node: Link<P>, before: Link<P>) {
        // SAFETY: `before` cannot leave the queue until somebody is linked behind it, because
        // its exchange of the tail fails; `node` is ours until we let the lock go.
        unsafe {
            (*before).next.store(node, Ordering::Release);
            (*node).admitted.wait::<M>();
        }
    }

    /// Lets go when there are, or are about to be, waiters of either sort.
    ///
    /// # Safety
    /// `me` is the holder's node.
    #[cold]
    unsafe fn hand_over(&self, me: Link<P>, thread: &mut MalthusianThread<P>) {
        // SAFETY: nodes in the queue and on the passive list stay until they are admitted,
        // which only the holder does, for whom we act; `admit` is the last step of each path.
        unsafe {
            let mut passive = Passive::of(me);
            if !passive.is_empty() && thread.eldest_has_its_turn() {
                let eldest = passive.remove_eldest();
                let next = self.replace_or_next(me, eldest);
                if !next.is_null() {
                    // Relaxed: only later holders read the link, whom the admission shows it.
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
            // Two waiters or more: one is enough to keep the lock busy, so set one aside.
            let behind = (*next).next.load(Ordering::Acquire);
            if !behind.is_null() {
                passive.add(next);
                next = behind;
            }
            passive.admit::<M>(next);
        }
    }

    /// If nobody is behind `me`, makes `substitute` (a passive waiter, or null for a free lock)
    /// the whole queue and returns null. Otherwise returns who is behind.
    ///
    /// # Safety
    /// As for [`hand_over`](Self::hand_over); `substitute` is on no list.
    unsafe fn replace_or_next(&self, me: Link<P>, substitute: Link<P>) -> Link<P> {
        // SAFETY: see `hand_over`.
        unsafe {
            let next = (*me).next.load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            if !substitute.is_null() {
                // Before it becomes the tail, for from then on newcomers write this link.
                (*substitute).next.store(ptr::null_mut(), Ordering::Relaxed);
            }
            // Argued: release keeps that store before the one of the newcomer who finds the
            // substitute in the tail. Else it could undo the newcomer's link. loom has stores take
            // effect in the order in which they are made.
            let replaced =
                self.tail.compare_exchange(me, substitute, Ordering::Release, Ordering::Relaxed);
            if replaced.is_ok() {
                return ptr::null_mut();
            }
            P::wait_until(&(*me).next, Wait::Spin, |next| !next.is_null())
        }
    }
}

// SAFETY: each exchange of the tail finds null, which only a free lock has, or the newcomer waits
// for the signal that the holder raises, with release, for one waiter. Freeing the tail, or that
// raise, is the last access to what others can reach. Two words, all zeros is free; the holder's
// node is one of them, so that any thread can release.
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
        // Release shows the fresh node to the one that comes behind; acquire shows us the node
        // before or, if the lock was free, what its last holder did.
        let before = self.tail.swap(node, Ordering::AcqRel);
        if !before.is_null() {
            // SAFETY: we have just put the node there.
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
        // SAFETY: nobody has seen the node.
        unsafe { thread.nodes.enter_if_free(node, &self.tail, &self.owner) }
    }

    #[inline]
    unsafe fn release(&self, thread: &mut MalthusianThread<P>) {
        let me = self.owner.load(Ordering::Relaxed);
        // SAFETY: `me` is the holder's node, and nobody is behind it when the exchange
        // succeeds. After either way to let go, no queue leads to it any more.
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
        // SAFETY: the holder's node; no other thread is there to use it.
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
