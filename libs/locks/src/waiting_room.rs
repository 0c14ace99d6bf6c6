//! Where waiters sleep that are not in a lock's own queue.
//!
//! A room is a list of waiters, its guests, in order of arrival. Rooms lie outside of the locks, in
//! a table that is never freed: a thread that has released a lock may still look into the room,
//! although the lock may be freed by then. Locks share the rooms of a table by their addresses, as
//! futexes share the hash buckets of a kernel. The key of a guest says which lock it waits for.
//!
//! # States of a guest
//!
//! | state | meaning | goes to |
//! | --- | --- | --- |
//! | `AWAKE` | listed, and about to look at the lock | `ASLEEP`, `WOKEN`, `GRANTED` |
//! | `ASLEEP` | listed, and asleep or about to be | `WOKEN`, `GRANTED`, `AWAKE` (its time is up) |
//! | `WOKEN` | listed, and told to look again | `AWAKE`, `GRANTED` |
//! | `GRANTED` | off the list: the lock, still held, was handed to it | |
//!
//! Only the guest itself changes its state from `AWAKE` to `ASLEEP`, and back to `AWAKE` under the
//! room's lock. All other changes are made under that lock. A guest that is woken keeps its place
//! in the list until it has the lock or gives up.
//!
//! # No wake-up is lost
//! A guest lists itself, then looks whether the lock is free, then sleeps. A release frees the lock
//! and then looks into the room. If each side's write is ordered before its read, either the guest
//! sees the release or the release sees the guest. Such an order would cost every release a fence.
//! With [`Fences`], the guests, which pay for a sleep anyway, can pay for both sides.

use core::fmt;
use core::ptr;

use kilocore_platform::{Atomic, AtomicInt, Ordering, Platform, SharedCell};

use crate::fork_lock::ForkLock;

/// States of a guest.
pub(crate) const AWAKE: u32 = 0;
pub(crate) const ASLEEP: u32 = 1;
pub(crate) const WOKEN: u32 = 2;
pub(crate) const GRANTED: u32 = 3;

/// How long after a grant a sleeping guest is due again, in cycles: some tenths of a millisecond.
/// The lock is unused while it is switched to a sleeper; at this distance, that costs a few
/// percent.
const CYCLES_BETWEEN_GRANTS: u64 = 1_000_000;

/// How releases and guests order what they write before what they read.
///
/// # Safety
/// Suppose that a guest calls [`announce`](Self::announce) after it has listed itself, and a thread
/// calls [`guests`](Self::guests) after it has released a lock. Then either the guest sees the
/// release in what it reads afterwards, or the thread gets a number that counts the guest. If
/// `announce` returns false, this may fail, and guests must not sleep without a time limit.
pub unsafe trait Fences<P: Platform> {
    /// Returns the number of guests of `room`, ordered after everything that the caller did before.
    fn guests(room: &Room<P>) -> u32;
    /// Orders the guest's listing before what it does next. Returns whether a wake-up is certain.
    fn announce(room: &Room<P>) -> bool;
}

/// Both sides pay for an atomic operation. This is for machines without better means, and for
/// checkers.
#[derive(Debug, Clone, Copy)]
pub struct SymmetricFences;

// SAFETY: listing and `guests` are atomic read-modify-writes of one word, as is every other change
// of it. If `guests` comes second, it counts the guest. If listing comes second, it acquires what
// `guests` released: the guest sees what the releasing thread did before. `guests` needs no
// acquire, since that thread takes the room's lock to look at a guest.
unsafe impl<P: Platform> Fences<P> for SymmetricFences {
    fn guests(room: &Room<P>) -> u32 {
        room.count.fetch_add(0, Ordering::Release)
    }
    fn announce(_room: &Room<P>) -> bool {
        true
    }
}

/// A list of guests. On the native platform, it is empty when all its bits are zero.
pub struct Room<P: Platform> {
    lock: ForkLock<P>,
    /// Number of guests on the list, whatever lock they wait for. Written under the lock.
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

// SAFETY: any thread may reach the guests, but only under the room's lock.
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

/// What a holder that looked into the room has to do.
pub(crate) enum Verdict<P: Platform> {
    /// The lock now belongs to a guest: do not release it. Wake the guest if there is an address.
    Granted(Option<*const P::U32>),
    /// Release the lock. Guests are told to look again only afterwards: a guest that looked before
    /// would find the lock held and go back to sleep.
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
    /// Returns a waiter for the lock with this key.
    pub(crate) fn new(key: usize) -> Self {
        Self {
            state: P::U32::new(AWAKE),
            key,
            links: P::Cell::new(Links { previous: ptr::null_mut(), next: ptr::null_mut() }),
        }
    }
}

impl<P: Platform> Room<P> {
    /// Returns the number of guests on the list, read without any ordering.
    #[inline(always)]
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether a sleeping guest is due. This is a hint.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        P::CHECKED || P::now().0 >= self.due.load(Ordering::Relaxed)
    }

    /// Calls `work` with the list, under the room's lock.
    fn with<R>(&self, process: u32, work: impl FnOnce(&mut List<P>) -> R) -> R {
        let inherited = self.lock.acquire(process);
        let result = self.list.with_mut(|list| {
            // SAFETY: the room's lock is held.
            let list = unsafe { &mut *list };
            if inherited {
                // The guests are threads of an ancestor process and do not exist in this one.
                (list.first, list.last) = (ptr::null_mut(), ptr::null_mut());
                // This is an exchange and not a store: after a store, a release that looked here
                // before would not be seen (see `SymmetricFences`). Relaxed: whatever its own
                // ordering, an exchange passes on what was released to the word before.
                self.count.swap(0, Ordering::Relaxed);
                self.due.store(0, Ordering::Relaxed);
            }
            work(list)
        });
        // SAFETY: taken above.
        unsafe { self.lock.release(process) };
        result
    }

    /// Puts `guest`, awake, at the end of the list.
    ///
    /// # Safety
    /// It is new, and stays where it is until it has been granted the lock or has left.
    pub(crate) unsafe fn enlist(&self, guest: &Guest<P>, process: u32) {
        self.with(process, |list| {
            let me = ptr::from_ref(guest).cast_mut();
            let last = list.last;
            // SAFETY: the room's lock is held, here and below, so the links and the guests are ours
            // to use.
            guest.links.with_mut(|links| unsafe { (*links).previous = last });
            if last.is_null() {
                list.first = me;
            } else {
                // SAFETY: as above.
                unsafe { (*last).links.with_mut(|links| (*links).next = me) };
            }
            list.last = me;
            // This is one atomic operation and not a load and a store, and it is acquire: see
            // `SymmetricFences`.
            self.count.fetch_add(1, Ordering::Acquire);
        });
    }

    /// Records that `guest` is awake and about to look at the lock. Returns true if it was granted
    /// the lock.
    ///
    /// # Safety
    /// The guest belongs to the caller, is enlisted here, and has not left.
    pub(crate) unsafe fn arrive(&self, guest: &Guest<P>, process: u32) -> bool {
        self.with(process, |_| {
            // Relaxed, here and elsewhere: the room's lock orders what happens to guests. It also
            // makes visible to the new holder of a lock what the last holder wrote.
            let granted = guest.state.load(Ordering::Relaxed) == GRANTED;
            if !granted {
                guest.state.store(AWAKE, Ordering::Relaxed);
            }
            granted
        })
    }

    /// Removes `guest` from the list, and returns the state in which it was.
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

    /// Decides who gets the lock `key` next. The caller holds this lock and is about to release it.
    /// `queued` says whether a thread waits in the lock's own queue; that thread will look into the
    /// room later.
    pub(crate) fn decide(&self, key: usize, process: u32, queued: bool) -> Verdict<P> {
        self.with(process, |list| {
            let Some(first) = Self::first(list, key) else { return Verdict::Release };
            let now = P::now().0;
            // A guest that is awake can be handed the lock at no cost. Sleepers get their turn now
            // and then. The waiters in the queue get at least every second turn. Checkers have no
            // clock: there, guests get every second turn.
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

    /// Wakes a guest of the lock `key`, unless one is already about to look. The lock has been
    /// released and may be freed.
    #[cold]
    pub(crate) fn wake(&self, key: usize, process: u32) {
        if let Some(word) = self.with(process, |list| Self::rouse(list, key)) {
            P::unpark(word, 1);
        }
    }

    /// Tells the first guest with `key` to look again, unless another one is about to. Returns the
    /// word on which it sleeps, if it sleeps. The room's lock is held.
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

    /// Returns the first guest with `key`. The room's lock is held.
    fn first<'a>(list: &List<P>, key: usize) -> Option<&'a Guest<P>> {
        Self::find(list.first, key)
    }

    /// Returns the next guest with `key` after `guest`. The room's lock is held.
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
        // SAFETY: the room's lock is held, here and below, and the neighbours are on the list.
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
