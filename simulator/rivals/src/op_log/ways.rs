//! The cores' caches of logs, and what a root knows of them.
//!
//! # Who may touch what
//! A way's state is under the way's lock. While it names a root, the root has the way's core among
//! its holders, and the root stays alive: its end takes the locks of all ways of its holders. Who
//! takes a root's name off a way, be it to read the root or to use the way for another one, first
//! sees to its log and then takes the core off the holders, after which the root may end.
//!
//! A root's lock is taken before a way's. Nothing is waited for under a way's lock.
//!
//! # The cut
//! The logs of a root are taken one after the other, and meanwhile operations go on. So of two
//! operations on an object, the first may be logged where the logs were taken already and the second
//! where they were not: applied without the first, it would be nonsense. Therefore a root counts
//! epochs. Taking its logs begins with a new one, and takes what was logged in earlier epochs only.
//! Who logs something reads the epoch under the way's lock, after it has become a holder; so what is
//! of an earlier epoch is in a way or set aside when that is looked at, and of two operations of
//! which one happens before the other the first is of no later epoch.

use core::mem;
use core::ptr;

use alloc::boxed::Box;
use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, AtomicInt, CpuId, Ordering, Padded, Platform, SharedCell};

use super::Tuning;
use super::hook::OpLogHook;
use super::log::{Entry, Log};
use crate::request::Request;

/// Cores that have logs of their own; of more, several share one.
const MOST_CORES: usize = 1024;
const BITS: usize = u64::BITS as usize;

/// A log, and whose it is.
#[repr(align(64))]
struct Way<P: Platform> {
    lock: Ttas<P>,
    state: P::Cell<State<P>>,
}

struct State<P: Platform> {
    /// The root that the log is for; null if none, and then the log is empty.
    owner: *const Holders<P>,
    log: Log<P>,
}

// SAFETY: the owner is shared between threads, and alive as the module says.
unsafe impl<P: Platform> Send for State<P> {}

/// The ways of a core.
struct Cache<P: Platform>(Box<[Way<P>]>);

/// Where the ways of a core are; null until it first logs something.
struct Core<P: Platform> {
    cache: P::Ptr<Cache<P>>,
}

/// The caches of all cores.
pub(super) struct Caches<P: Platform> {
    cores: Box<[Padded<Core<P>>]>,
    ways: usize,
    roots: Padded<P::Usize>,
}

/// A root's number, and where its log is.
pub(super) struct Holders<P: Platform> {
    number: usize,
    /// How often the logs were taken.
    epoch: Padded<P::U64>,
    /// A bit for each core that has a way with this root's name on it.
    cores: Padded<[P::U64; MOST_CORES / BITS]>,
    /// Logs that were taken off their ways.
    aside: P::Ptr<Aside<P>>,
    /// Entries in these.
    put_aside: P::Usize,
}

/// A log that was taken off its way.
struct Aside<P: Platform> {
    log: Log<P>,
    next: *mut Aside<P>,
}

impl<P: Platform> Way<P> {
    fn new() -> Self {
        Self {
            lock: Ttas::new(),
            state: P::Cell::new(State { owner: ptr::null(), log: Log::new() }),
        }
    }

    #[inline]
    fn locked<R>(&self, act: impl FnOnce(&mut State<P>) -> R) -> R {
        self.lock.acquire(&mut ());
        // SAFETY: the lock is held.
        let result = self.state.with_mut(|state| act(unsafe { &mut *state }));
        // SAFETY: acquired above.
        unsafe { self.lock.release(&mut ()) };
        result
    }
}

impl<P: Platform> State<P> {
    /// Makes the way `root`'s, and puts the log aside that another root has there. Says how many
    /// entries of the new root have been put aside, which concerns it when it uses a way anew.
    #[cold]
    fn take_over(&mut self, root: &Holders<P>, core: usize) -> usize {
        // SAFETY: a root whose name is on the way is alive, and the way's lock is held.
        if let Some(victim) = unsafe { self.owner.as_ref() } {
            if self.log.len() > 0 {
                victim.put_aside(mem::replace(&mut self.log, Log::new()));
            }
            // The last use of the victim.
            victim.leaves(core);
        }
        self.owner = root;
        root.joins(core);
        root.put_aside.load(Ordering::Relaxed)
    }

    /// Adds an entry, or takes out the last one if the new one would undo it and is not cut off from
    /// it.
    #[inline]
    fn append(&mut self, root: &Holders<P>, request: Request, hook: &OpLogHook<P>) {
        // Sequentially consistent, as are the change of the epoch and what makes a holder: see
        // `take_all`.
        self.log.enter(root.epoch.load(Ordering::SeqCst));
        let last = self.log.last();
        let undoes = |last: Entry| last.request.cancels(request) && hook.is_last(last.stamp);
        if self.log.has_latest() && last.is_some_and(undoes) {
            self.log.pop();
            hook.debts.forgive();
            return;
        }
        hook.debts.owe();
        // Read under the lock. Not below the last one's, so that each log is sorted.
        let now = P::now().0.max(last.map_or(0, |last| last.stamp));
        self.log.push(Entry { stamp: hook.stamp(now), request });
    }
}

impl<P: Platform> Caches<P> {
    pub(super) fn new(cores: u32, ways: usize) -> Self {
        let cores = (cores as usize).clamp(1, MOST_CORES);
        Self {
            cores: (0..cores)
                .map(|_| Padded(Core { cache: P::Ptr::new(ptr::null_mut()) }))
                .collect(),
            ways,
            roots: Padded(P::Usize::new(0)),
        }
    }

    pub(super) fn number_a_root(&self) -> usize {
        self.roots.fetch_add(1, Ordering::Relaxed)
    }

    /// Logs a request at the core that this runs on, more or less. Gives the length of the root's
    /// longest log that is known here.
    #[inline]
    pub(super) fn log(&self, root: &Holders<P>, request: Request, hook: &OpLogHook<P>) -> usize {
        let CpuId(cpu) = P::cpu();
        let core = cpu as usize % self.cores.len();
        self.way(core, root.number).locked(|state| {
            let put_aside =
                if ptr::eq(state.owner, root) { 0 } else { state.take_over(root, core) };
            state.append(root, request, hook);
            put_aside.max(state.log.len())
        })
    }

    #[inline]
    fn way(&self, core: usize, root: usize) -> &Way<P> {
        let cache = self.cores[core].cache.load(Ordering::Acquire);
        let cache = if cache.is_null() { self.first_use(core) } else { cache };
        // SAFETY: caches live as long as this.
        let ways = unsafe { &(*cache).0 };
        &ways[root % self.ways]
    }

    #[cold]
    fn first_use(&self, core: usize) -> *mut Cache<P> {
        let ways = (0..self.ways).map(|_| Way::new()).collect();
        let new = Box::into_raw(Box::new(Cache(ways)));
        let installed = self.cores[core].cache.compare_exchange(
            ptr::null_mut(),
            new,
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        match installed {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        }
    }

    /// Takes what `root`'s log at `core` has from before `epoch`, if there is one, and leaves the
    /// rest there, in the empty log `log`.
    fn take(&self, core: usize, root: &Holders<P>, epoch: u64, log: &mut Log<P>) {
        self.way(core, root.number).locked(|state| {
            if ptr::eq(state.owner, root) {
                state.log.split(epoch, log);
                mem::swap(&mut state.log, log);
                if state.log.len() == 0 {
                    state.owner = ptr::null();
                    root.leaves(core);
                }
            }
        });
    }
}

impl<P: Platform> Drop for Caches<P> {
    fn drop(&mut self) {
        for core in &self.cores {
            let cache = core.cache.swap(ptr::null_mut(), Ordering::Relaxed);
            if !cache.is_null() {
                // SAFETY: it came from a box in `first_use`, and nobody uses it any more.
                let cache = unsafe { Box::from_raw(cache) };
                cache.0.iter().for_each(|way| P::discard(way));
            }
        }
    }
}

impl<P: Platform> Holders<P> {
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            epoch: Padded(P::U64::new(0)),
            cores: Padded(core::array::from_fn(|_| P::U64::new(0))),
            aside: P::Ptr::new(ptr::null_mut()),
            put_aside: P::Usize::new(0),
        }
    }

    /// Sequentially consistent: see `take_all`.
    fn joins(&self, core: usize) {
        self.cores[core / BITS].fetch_or(1 << (core % BITS), Ordering::SeqCst);
    }

    /// Release: whoever sees the bit cleared sees what became of the log, and may end the root.
    fn leaves(&self, core: usize) {
        self.cores[core / BITS].fetch_and(!(1 << (core % BITS)), Ordering::Release);
    }

    fn put_aside(&self, log: Log<P>) {
        if log.len() == 0 {
            return;
        }
        self.put_aside.fetch_add(log.len(), Ordering::Relaxed);
        let next = self.aside.load(Ordering::Relaxed);
        let aside = Box::into_raw(Box::new(Aside { log, next }));
        let mut next = next;
        while let Err(now) =
            self.aside.compare_exchange(next, aside, Ordering::Release, Ordering::Relaxed)
        {
            next = now;
            // SAFETY: nobody else has seen it.
            unsafe { (*aside).next = next };
        }
    }

    /// Whether all that was logged before the call is applied, provided that nobody takes logs now.
    pub(super) fn nothing_logged(&self) -> bool {
        // A log goes from its way to those put aside, so the ways come first.
        self.cores.iter().all(|word| word.load(Ordering::Acquire) == 0)
            && self.aside.load(Ordering::Acquire).is_null()
    }

    /// Takes all that was logged before the call. `spare` gives an empty log for each, and `taken`
    /// gets what was there. One thread at a time does this.
    pub(super) fn take_all<C: Tuning>(
        &self,
        caches: &Caches<P>,
        mut spare: impl FnMut() -> Log<P>,
        mut taken: impl FnMut(Log<P>),
    ) {
        // Who logs something becomes a holder, then reads the epoch; here the epoch changes, then
        // the holders are read. All four are sequentially consistent: who is not seen as a holder
        // sees the new epoch.
        let epoch = if C::CUTS { self.epoch.fetch_add(1, Ordering::SeqCst) + 1 } else { u64::MAX };
        // The ways first, as above.
        for (index, word) in self.cores.iter().enumerate().take(caches.cores.len().div_ceil(BITS)) {
            let mut bits = word.load(Ordering::SeqCst);
            while bits != 0 {
                let mut log = spare();
                let core = index * BITS + bits.trailing_zeros() as usize;
                caches.take(core, self, epoch, &mut log);
                taken(log);
                bits &= bits - 1;
            }
        }
        let mut aside = self.aside.swap(ptr::null_mut(), Ordering::Acquire);
        while !aside.is_null() {
            // SAFETY: it came from a box in `put_aside` and was on the list, which is ours now.
            let Aside { mut log, next } = *unsafe { Box::from_raw(aside) };
            self.put_aside.fetch_sub(log.len(), Ordering::Relaxed);
            let mut rest = spare();
            log.split(epoch, &mut rest);
            self.put_aside(rest);
            taken(log);
            aside = next;
        }
    }
}
