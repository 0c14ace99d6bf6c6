//! Where waiters sleep that are not in a lock's own queue.
//!
//! A room is a list of waiters in order of arrival, its guests. It lies outside of the locks, in a
//! table that never goes away: whoever has released a lock may still look into the room, though
//! the lock may be gone. Locks share the rooms of a table by their addresses, as they share the
//! hash buckets of a kernel's futexes; a guest says by its key which lock it waits for.
//!
//! # States of a guest
//!
//! | state | meaning | goes to |
//! | --- | --- | --- |
//! | `AWAKE` | listed, and about to look at the lock | `ASLEEP`, `WOKEN`, `GRANTED` |
//! | `ASLEEP` | listed, asleep or about to be | `WOKEN`, `GRANTED`, `AWAKE` (its time is up) |
//! | `WOKEN` | listed, told to look again | `AWAKE`, `GRANTED` |
//! | `GRANTED` | off the list: the lock, still held, was handed to it | |
//!
//! The guest alone goes from `AWAKE` to `ASLEEP`, and back to `AWAKE` under the room's lock; all
//! else happens to it under that lock. A guest that is woken keeps its place in the list until it
//! has the lock or gives up.
//!
//! # No wake-up is lost
//! A guest lists itself, then looks whether the lock is free, then sleeps. Whoever releases looks
//! into the room afterwards. Either the release comes first and the guest sees it, or the list
//! does and the releaser sees it, if each one's write is ordered before its read. That would cost
//! every release a fence. [`Fences`] may let guests, who pay for a sleep anyway, pay for both.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell};

use crate::fork_lock::ForkLock;

/// States of a guest.
pub(crate) const AWAKE: u32 = 0;
pub(crate) const ASLEEP: u32 = 1;
pub(crate) const WOKEN: u32 = 2;
pub(crate) const GRANTED: u32 = 3;

/// Time after a grant until a sleeping guest is due again: some tenths of a millisecond, so that
/// the switch to a sleeper, for which the lock stands still, costs a few percent.
const CYCLES_BETWEEN_GRANTS: u64 = 1_000_000;

/// How releasers and guests order what they write before what they read.
///
/// # Safety
/// For any guest that calls [`announce`](Self::announce) after it has listed itself, and any
/// releaser that calls [`guests`](Self::guests) after it has released a lock: either the guest
/// sees the release in what it reads afterwards, or the releaser gets a number that counts the
/// guest. Where `announce` is false that may fail, and guests must not sleep without a time limit.
pub unsafe trait Fences<P: Platform> {
    /// The guests of `room` after all that the caller did before.
    fn guests(room: &Room<P>) -> u32;
    /// Orders the guest's listing before what it does next.
    fn announce(room: &Room<P>) -> bool;
}

/// Both sides pay for an atomic operation: for machines that offer no better, and for checkers.
#[derive(Debug, Clone, Copy)]
pub struct SymmetricFences;

// SAFETY: listing and `guests` are both atomic read-modify-writes of one word, as is all else that
// changes it. If `guests` comes second, it counts the guest. If listing does, it continues what
// `guests` released, and acquires it: the guest sees what the releaser did before. A releaser has no
// use for an acquire, as it takes the room's lock to look at a guest.
unsafe impl<P: Platform> Fences<P> for SymmetricFences {
    fn guests(room: &Room<P>) -> u32 {
        room.count.fetch_add(0, Ordering::Release)
    }
    fn announce(_room: &Room<P>) -> bool {
        true
    }
}

/// A list of guests. On the native platform all zero is an empty one.
pub struct Room<P: Platform> {
    lock: ForkLock<P>,
    /// Guests on the list, of whatever lock. Written under the lock.
    count: P::U32,
    /// When a sleeping guest is due to be granted a lock. Written under the lock.
    due: P::U64,
    list: P::Cell<List<P>>,
}

struct List<P: Platform> {
    first: *mut Guest<P>,
    last: *mut Guest<P>,
    /// Whether the last release that found a guest granted it the lock.
    granted: bool,
}

// SAFETY: the guests are reached under the room's lock only, by any thread.
unsafe impl<P: Platform> Send for List<P> {}

/// A waiter on a room's list, on the stack of its thread.
pub struct Guest<P: Platform> {
    pub(crate) state: P::U32,
    key: usize,
    links: P::Cell<Links<P>>,
}

struct Links<P: Platform> {
    previous: *mut Guest<P>,
    next: *mut Guest<P>,
}

// SAFETY: as for `List`.
unsafe impl<P: Platform> Send for Links<P> {}

/// What a holder who looked into the room is to do.
pub(crate) enum Verdict<P: Platform> {
    /// The lock is a guest's now: do not release it. Wake the guest if there is an address.
    Granted(Option<*const P::U32>),
    /// Release the lock. Guests are told to look again only then: one that looks before would
    /// find the lock held and go back to sleep.
    Release,
}

impl<P: Platform> Default for Room<P> {
    fn default() -> Self {
        let list = List { first: ptr::null_mut(), last: ptr::null_mut(), granted: false };
        Self {
            lock: ForkLock::default(),
            count: P::U32::new(0),
            due: P::U64::new(0),
            list: P::Cell::new(list),
        }
    }
}

impl<P: Platform> Guest<P> {
    /// A waiter for the lock known as `key`.
    pub(crate) fn new(key: usize) -> Self {
        Self {
            state: P::U32::new(AWAKE),
            key,
            links: P::Cell::new(Links { previous: ptr::null_mut(), next: ptr::null_mut() }),
        }
    }
}

impl<P: Platform> Room<P> {
    /// The guests listed, read without any order.
    #[inline(always)]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether a sleeping guest is due. A hint.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        P::CHECKED || P::now().0 >= self.due.load(Ordering::Relaxed)
    }

    /// Shows the list to `work`, under the room's lock.
    fn with<R>(&self, process: u32, work: impl FnOnce(&mut List<P>) -> R) -> R {
        let inherited = self.lock.acquire(process);
        let result = self.list.with_mut(|list| {
            // SAFETY: the room's lock is held.
            let list = unsafe { &mut *list };
            if inherited {
                // The guests are threads of the process that forked this one.
                (list.first, list.last) = (ptr::null_mut(), ptr::null_mut());
                // An exchange, and not a store, after which a release that looked here before
                // would not be seen: see `SymmetricFences`. Relaxed, as an exchange passes on
                // what was released to the word before, whatever its own ordering.
                self.count.swap(0, Ordering::Relaxed);
                self.due.store(0, Ordering::Relaxed);
            }
            work(list)
        });
        // SAFETY: taken above.
        unsafe { self.lock.release(process) };
        result
    }

    /// Lists `guest`, awake, behind all others.
    ///
    /// # Safety
    /// It is new, and stays where it is until it has been granted the lock or has left.
    pub(crate) unsafe fn enlist(&self, guest: &Guest<P>, process: u32) {
        self.with(process, |list| {
            let me = ptr::from_ref(guest).cast_mut();
            let last = list.last;
            // SAFETY: the room's lock is held, here and below: links and guests are ours to use.
            guest.links.with_mut(|links| unsafe { (*links).previous = last });
            if last.is_null() {
                list.first = me;
            } else {
                // SAFETY: as above.
                unsafe { (*last).links.with_mut(|links| (*links).next = me) };
            }
            list.last = me;
            // An atomic operation, and not a load and a store, and acquire: see `SymmetricFences`.
            self.count.fetch_add(1, Ordering::Acquire);
        });
    }

    /// Is told that `guest` is up and about to look at the lock; true if it has been granted it.
    ///
    /// # Safety
    /// The caller's own guest, enlisted here, which has not left.
    pub(crate) unsafe fn arrive(&self, guest: &Guest<P>, process: u32) -> bool {
        self.with(process, |_| {
            // Relaxed, here and elsewhere: the room's lock orders what happens to guests, and
            // shows the new holder of a lock what the last one did.
            let granted = guest.state.load(Ordering::Relaxed) == GRANTED;
            if !granted {
                guest.state.store(AWAKE, Ordering::Relaxed);
            }
            granted
        })
    }

    /// Takes `guest` off the list, and gives the state in which it was.
    ///
    /// # Safety
    /// As for [`arrive`](Self::arrive).
    pub(crate) unsafe fn leave(&self, guest: &Guest<P>, process: u32) -> u32 {
        self.with(process, |list| {
            let state = guest.state.load(Ordering::Relaxed);
            if state != GRANTED {
                // SAFETY: it is on the list, and the room's lock is held.
                unsafe { self.unlink(list, guest) };
            }
            state
        })
    }

    /// Decides, for a holder of the lock `key` that is about to release it, who has it next.
    /// `queued` says whether somebody waits in the lock's own queue, who will come here later.
    pub(crate) fn decide(&self, key: usize, process: u32, queued: bool) -> Verdict<P> {
        self.with(process, |list| {
            let Some(first) = Self::first(list, key) else { return Verdict::Release };
            let now = P::now().0;
            // Whoever is up can be handed the lock at no cost. Sleepers get their turn now and
            // then. Those in the queue have every second turn at least. Checkers have no clock:
            // there it is every second turn for all.
            let due = if P::CHECKED {
                !list.granted
            } else {
                now >= self.due.load(Ordering::Relaxed)
                    || first.state.load(Ordering::Relaxed) == AWAKE
            };
            if due && !(queued && list.granted) {
                list.granted = true;
                self.due.store(now + CYCLES_BETWEEN_GRANTS, Ordering::Relaxed);
                // SAFETY: it is on the list, and the room's lock is held.
                unsafe { self.unlink(list, first) };
                let word = &raw const first.state;
                let before = first.state.swap(GRANTED, Ordering::Relaxed);
                return Verdict::Granted((before == ASLEEP).then_some(word));
            }
            list.granted = false;
            Verdict::Release
        })
    }

    /// Wakes a guest of the lock `key`, which has been released and may be gone, unless one is on
    /// its way.
    #[cold]
    pub(crate) fn wake(&self, key: usize, process: u32) {
        if let Some(word) = self.with(process, |list| Self::rouse(list, key)) {
            P::unpark(word, 1);
        }
    }

    /// Tells the first guest with `key` to look again, unless another is on its way, and gives
    /// the word on which it sleeps, if it does. The room's lock is held.
    fn rouse(list: &List<P>, key: usize) -> Option<*const P::U32> {
        let mut guest = Self::first(list, key)?;
        let chosen = guest;
        loop {
            if guest.state.load(Ordering::Relaxed) == WOKEN {
                return None;
            }
            match Self::next(guest, key) {
                Some(next) => guest = next,
                None => break,
            }
        }
        let word = &raw const chosen.state;
        (chosen.state.swap(WOKEN, Ordering::Relaxed) == ASLEEP).then_some(word)
    }

    /// The first guest with `key`. The room's lock is held.
    fn first<'a>(list: &List<P>, key: usize) -> Option<&'a Guest<P>> {
        Self::find(list.first, key)
    }

    /// The next guest after `guest` with `key`. The room's lock is held.
    fn next<'a>(guest: &Guest<P>, key: usize) -> Option<&'a Guest<P>> {
        // SAFETY: the room's lock is held.
        Self::find(guest.links.with(|links| unsafe { (*links).next }), key)
    }

    fn find<'a>(mut guest: *mut Guest<P>, key: usize) -> Option<&'a Guest<P>> {
        // SAFETY: guests on the list stay while the room's lock is held.
        while let Some(found) = unsafe { guest.as_ref() } {
            if found.key == key {
                return Some(found);
            }
            // SAFETY: as above.
            guest = found.links.with(|links| unsafe { (*links).next });
        }
        None
    }

    /// # Safety
    /// The room's lock is held, and `guest` is on its list.
    unsafe fn unlink(&self, list: &mut List<P>, guest: &Guest<P>) {
        // SAFETY: the lock is held, here and below, and the neighbours are on the list.
        let (previous, next) =
            guest.links.with(|links| unsafe { ((*links).previous, (*links).next) });
        if previous.is_null() {
            list.first = next;
        } else {
            // SAFETY: as above.
            unsafe { (*previous).links.with_mut(|links| (*links).next = next) };
        }
        if next.is_null() {
            list.last = previous;
        } else {
            // SAFETY: as above.
            unsafe { (*next).links.with_mut(|links| (*links).previous = previous) };
        }
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<P: Platform> fmt::Debug for Room<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room").field("guests", &self.count()).finish_non_exhaustive()
    }
}

impl<P: Platform> fmt::Debug for Guest<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.load(Ordering::Relaxed);
        f.debug_struct("Guest")
            .field("key", &self.key)
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
