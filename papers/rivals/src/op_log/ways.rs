//! The cores' caches of logs, and what a root knows of them.
//!
//! # Who may access what
//! The lock of a way protects the way's state. While a way names a root, two things hold. The way's
//! core is among the holders of that root. And the root stays alive, because before a root ends, it
//! takes the locks of all ways of its holders.
//!
//! A thread may remove a root's name from a way, either to read the root or to use the way for
//! another root. It first takes care of the log and then removes the core from the holders. After
//! that the root may end.
//!
//! A root's lock is taken before a way's lock. Nothing is waited for while a way's lock is held.
//!
//! # The cut
//! The logs of a root are taken one after the other while operations go on. So the first of two
//! operations on an object may be logged where the log was already taken, and the second where it
//! was not. Applying the second without the first would make no sense.
//!
//! A root therefore counts epochs. Taking its logs begins a new epoch, and takes only what was
//! logged in earlier epochs. A thread that logs an operation reads the epoch under the way's lock,
//! after it has become a holder. Two things follow. An entry of an earlier epoch is found, in a way
//! or set aside. And if one operation happens before another, it is not of a later epoch.

use core::mem;
use core::ptr;

use alloc::boxed::Box;
use kilocore_locks::{RawLock, Ttas};
use kilocore_platform::{Atomic, AtomicInt, CpuId, Ordering, Padded, Platform, SharedCell};

use super::Tuning;
use super::hook::OpLogHook;
use super::log::{Entry, Log};
use crate::request::Request;

/// The number of cores that have logs of their own. If there are more cores, several share a log.
const MOST_CORES: usize = 1024;
const BITS: usize = u64::BITS as usize;

/// A log, and the root to which it belongs.
#[repr(align(64))]
struct Way<P: Platform> {
    lock: Ttas<P>,
    state: P::Cell<State<P>>,
}

struct State<P: Platform> {
    /// The root to which the log belongs. If null, the log is empty.
    owner: *const Holders<P>,
    log: Log<P>,
}

// SAFETY: the owner may be shared between threads. The module's documentation says why it is alive.
unsafe impl<P: Platform> Send for State<P> {}

/// The ways of a core.
struct Cache<P: Platform>(Box<[Way<P>]>);

/// A pointer to the ways of a core. It is null until the core first logs something.
struct Core<P: Platform> {
    cache: P::Ptr<Cache<P>>,
}

/// The caches of all cores.
pub(super) struct Caches<P: Platform> {
    cores: Box<[Padded<Core<P>>]>,
    ways: usize,
    roots: Padded<P::Usize>,
}

/// A root's number, and the places of its log.
pub(super) struct Holders<P: Platform> {
    number: usize,
    /// How many times the logs were taken.
    epoch: Padded<P::U64>,
    /// A bit for each core that has a way with this root's name.
    cores: Padded<[P::U64; MOST_CORES / BITS]>,
    /// The logs that were taken off their ways.
    aside: P::Ptr<Aside<P>>,
    /// Number of entries in those logs.
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
    /// Makes the way `root`'s. If it holds another root's log, that log is put aside. Returns how
    /// many entries of `root` have been put aside: a root checks this number whenever it takes over
    /// a way.
    #[cold]
    fn take_over(&mut self, root: &Holders<P>, core: usize) -> usize {
        // SAFETY: a root whose name is on the way is alive, and the way's lock is held.
        if let Some(victim) = unsafe { self.owner.as_ref() } {
            if self.log.len() > 0 {
                victim.put_aside(mem::replace(&mut self.log, Log::new()));
            }
            // The victim must not be used after this.
            victim.leaves(core);
        }
        self.owner = root;
        root.joins(core);
        root.put_aside.load(Ordering::Relaxed)
    }

    /// Adds an entry. If the operation undoes the last entry, and that entry is of the same epoch,
    /// removes that entry instead.
    #[inline]
    fn append(&mut self, root: &Holders<P>, request: Request, hook: &OpLogHook<P>) {
        // Sequentially consistent, like the change of the epoch and like becoming a holder: see
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
        // The time is read under the lock. It is not lower than the last entry's stamp, so that
        // each log is sorted.
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

    /// Logs a request at the core on which this thread runs; the thread may move to another core
    /// meanwhile. Returns the length of the root's longest log, as far as it is known here.
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
        // SAFETY: caches live as long as `self`.
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
                // SAFETY: no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        }
    }

    /// Takes the entries of `root`'s log at `core` from before `epoch`, if there are any, and moves
    /// them to the empty log `log`. The other entries stay in the way.
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
                // SAFETY: it came from a box in `first_use`, and no thread uses it any more.
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

    /// Adds a core to the holders. Sequentially consistent: see `take_all`.
    fn joins(&self, core: usize) {
        self.cores[core / BITS].fetch_or(1 << (core % BITS), Ordering::SeqCst);
    }

    /// Removes a core from the holders. Release: a thread that sees the bit cleared also sees what
    /// became of the log, and may end the root.
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
            // SAFETY: no other thread has seen it.
            unsafe { (*aside).next = next };
        }
    }

    /// Whether all that was logged before the call has been applied. No thread may be taking logs
    /// meanwhile.
    pub(super) fn nothing_logged(&self) -> bool {
        // A log moves from its way to the logs that are put aside, so the ways have to be read
        // first.
        self.cores.iter().all(|word| word.load(Ordering::Acquire) == 0)
            && self.aside.load(Ordering::Acquire).is_null()
    }

    /// Takes all that was logged before the call. `spare` returns an empty log for each log that is
    /// taken, and `taken` is called with each log. One thread at a time may do this.
    pub(super) fn take_all<C: Tuning>(
        &self,
        caches: &Caches<P>,
        mut spare: impl FnMut() -> Log<P>,
        mut taken: impl FnMut(Log<P>),
    ) {
        // A thread that logs something becomes a holder and then reads the epoch. Here, the epoch
        // changes and the holders are read then. All four accesses are sequentially consistent. So
        // a thread that is not seen as a holder sees the new epoch.
        let epoch = if C::CUTS { self.epoch.fetch_add(1, Ordering::SeqCst) + 1 } else { u64::MAX };
        // The ways are read first, as in `nothing_logged`.
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
            // SAFETY: it came from a box in `put_aside` and was on the list, which only this thread
            // has now.
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
