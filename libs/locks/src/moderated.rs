//! Any lock, made fit for programs that have more threads than cores, that fork, and whose waiters
//! give up.
//!
//! A lock that hands over in order is slow once waiters lose their cores: each hand-over to one
//! of them costs a context switch, or a time slice. And none of the locks here lets a waiter go
//! before it has had the lock. A moderated lock is one of them behind a door. While few threads
//! contend it is that lock and nothing else. When as many wait in its queue as have a core to wait
//! on, all others go to a [waiting room](crate::waiting_room), asleep, until the queue is empty or
//! their time has come. That is generic concurrency restriction (Dice and Kogan, 'Avoiding
//! Scalability Collapse by Restricting Concurrency', Euro-Par 2019).
//!
//! # Where it departs from the paper
//! * *Only waiters are counted.* Whoever finds the lock free takes it and touches nothing else; the
//!   paper counts all who enter.
//! * *Nobody watches.* The paper's first passive thread spins until the number of active ones falls.
//!   Here the releaser looks whether anybody is left in the queue and wakes the first sleeper if
//!   not, so that no core is spent on waiting for one's turn to wait.
//! * *Grants.* For fairness a sleeper is not let into the queue but given the lock itself, which
//!   stays held: a lock can be released by any thread. So a waiter in the room can have the lock
//!   without ever touching its queue, which is what those need who may give up.
//!
//! # Forks
//! In the child, the queue of a lock that the forking thread holds is full of threads that do not
//! exist there. The stamp, which names the process in which the lock was taken, shows that: threads
//! of the child do not touch such a lock but wait in the room, so that when its holder releases
//! it, or first [forgets](crate::RawLock::forget_waiters) who waits, nobody else uses it.

use core::fmt;
use core::marker::PhantomData;

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::RawLock;
use crate::patience::Patience;
use crate::waiting_room::{ASLEEP, AWAKE, Fences, GRANTED, Guest, Room, Verdict, WOKEN};

/// Turns that a waiter who may give up watches before it sleeps.
const TURNS_BEFORE_SLEEPING: u32 = 1_000;

/// Whether a guest that slept is to go on waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slept {
    /// Woken, or for no reason at all.
    Enough,
    /// Its time is up.
    TimeIsUp,
}

/// A lock and what belongs to it, for as long as one operation takes.
///
/// # What the caller guarantees
/// The words are zero when the lock is new, belong to it alone, and live as long as it. All users
/// of one lock bring the same room. `process` is the number of the calling process, as for
/// [`ForkLock`](crate::ForkLock), and changes by `fork` only.
pub struct Moderated<'a, P: Platform, L, F> {
    /// The lock.
    pub lock: &'a L,
    /// The process in which the lock was taken, 0 while it is free. Written by holders.
    pub stamp: &'a P::U32,
    /// Upper half: a process; lower half: its threads that wait in the lock's own queue.
    pub queued: &'a P::U64,
    /// Where the others wait.
    pub room: &'a Room<P>,
    /// What tells this lock from others with the same room.
    pub key: usize,
    /// This process.
    pub process: u32,
    /// How releasers and waiters are ordered.
    pub fences: PhantomData<F>,
}

impl<P: Platform, L: RawLock<P>, F: Fences<P>> Moderated<'_, P, L, F> {
    /// Whether the lock is held since before the fork that made this process.
    #[inline(always)]
    fn is_inherited(&self) -> bool {
        // Acquire pairs with the store of the holder who has forgotten its waiters.
        let stamp = self.stamp.load(Ordering::Acquire);
        stamp != 0 && stamp != self.process
    }

    #[inline(always)]
    fn mark_held(&self) {
        self.stamp.store(self.process, Ordering::Release);
    }

    /// Whether somebody holds the lock.
    #[inline]
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.stamp.load(Ordering::Relaxed) != 0
    }

    /// Takes the lock if that is possible without waiting.
    #[inline(always)]
    #[must_use]
    pub fn try_acquire(&self, thread: &mut L::Thread) -> bool {
        let taken = !self.is_inherited() && self.lock.try_acquire(thread);
        if taken {
            self.mark_held();
        }
        taken
    }

    /// Waits for the lock and takes it, having tried in vain: in its queue if fewer than `places`
    /// threads wait there, else in the room, sleeping by `sleep` as
    /// [`acquire_or_give_up`](Self::acquire_or_give_up) has it.
    #[inline]
    pub fn acquire(
        &self,
        thread: &mut L::Thread,
        places: u32,
        sleep: impl FnMut(&P::U32, u32, bool) -> Slept,
    ) {
        if !self.is_inherited() && self.enter_queue(places) {
            return self.acquire_in_queue(thread);
        }
        let guest = Guest::new(self.key);
        // SAFETY: the guest stays here until it has the lock.
        unsafe { self.wait_as_guest(&guest, thread, places, sleep) };
    }

    /// A waiter for this lock that may give up.
    #[must_use]
    pub fn guest(&self) -> Guest<P> {
        Guest::new(self.key)
    }

    /// Waits for the lock in the room and takes it, or is false if `sleep` says that time is up.
    ///
    /// `sleep` is called with a word and a value, and with whether a wake-up is certain: else it
    /// must return after a while of its own accord. It returns at once if the word does not hold
    /// the value, and may return for no reason.
    ///
    /// # Safety
    /// `guest` is new and stays where it is until this returns or, should `sleep` not return,
    /// until [`give_up`](Self::give_up) does.
    pub unsafe fn acquire_or_give_up(
        &self,
        guest: &Guest<P>,
        thread: &mut L::Thread,
        sleep: impl FnMut(&P::U32, u32, bool) -> Slept,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.wait_as_guest(guest, thread, 0, sleep) }
    }

    /// Counts the caller among those in the queue if they are fewer than `places`.
    fn enter_queue(&self, places: u32) -> bool {
        let nobody = u64::from(self.process) << 32;
        let mut before = self.queued.load(Ordering::Relaxed);
        loop {
            // Those of another process are not here.
            let others = if before >> 32 == nobody >> 32 { before } else { nobody };
            if others - nobody >= u64::from(places) {
                return false;
            }
            // Relaxed: who leaves the count holds the lock, and so orders what a holder reads.
            match self.queued.compare_exchange(
                before,
                others + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => before = now,
            }
        }
    }

    fn leave_queue(&self) {
        use kilocore_platform::AtomicInt;
        self.queued.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether somebody waits in the queue, or is about to. The caller holds the lock.
    fn has_queue(&self) -> bool {
        let queued = self.queued.load(Ordering::Relaxed);
        queued >> 32 == u64::from(self.process) && queued as u32 != 0
    }

    /// Takes the lock by its own algorithm, counted in the queue.
    fn acquire_in_queue(&self, thread: &mut L::Thread) {
        self.lock.acquire(thread);
        self.leave_queue();
        self.mark_held();
    }

    /// # Safety
    /// As for [`acquire_or_give_up`](Self::acquire_or_give_up).
    unsafe fn wait_as_guest(
        &self,
        guest: &Guest<P>,
        thread: &mut L::Thread,
        places: u32,
        mut sleep: impl FnMut(&P::U32, u32, bool) -> Slept,
    ) -> bool {
        let (room, process) = (self.room, self.process);
        // SAFETY: the guest is new and stays, by the caller's promise.
        unsafe { room.enlist(guest, process) };
        let certain = F::announce(room);
        loop {
            // From here on every release either has been seen or will see the guest.
            if self.look(guest, thread, places) {
                return true;
            }
            if places == 0 {
                Self::watch(guest);
            }
            // It fails if somebody has woken the guest or granted it the lock.
            let asleep =
                guest.state.compare_exchange(AWAKE, ASLEEP, Ordering::Relaxed, Ordering::Relaxed);
            let mut slept = Slept::Enough;
            while asleep.is_ok()
                && slept == Slept::Enough
                && guest.state.load(Ordering::Relaxed) == ASLEEP
            {
                slept = sleep(&guest.state, ASLEEP, certain);
                if !certain {
                    break;
                }
            }
            // SAFETY: enlisted above, and it has not left.
            if unsafe { room.arrive(guest, process) } {
                return true;
            }
            if slept == Slept::TimeIsUp {
                // SAFETY: as above.
                return self.look(guest, thread, 0) || unsafe { self.leave_room(guest) };
            }
        }
    }

    /// Takes the lock if it is free, or goes over to its queue if there is a place and waits there:
    /// true if the caller has the lock and has left the room.
    fn look(&self, guest: &Guest<P>, thread: &mut L::Thread, places: u32) -> bool {
        if self.is_inherited() {
            return false;
        }
        if self.lock.try_acquire(thread) {
            // SAFETY: the guest is listed. Nobody has granted it the lock, which was free.
            unsafe { self.room.leave(guest, self.process) };
            self.mark_held();
            return true;
        }
        if !self.enter_queue(places) {
            return false;
        }
        // SAFETY: the guest is listed.
        if unsafe { self.room.leave(guest, self.process) } == GRANTED {
            self.leave_queue();
        } else {
            self.acquire_in_queue(thread);
        }
        true
    }

    /// Stays awake for a moment in which the lock may be granted.
    fn watch(guest: &Guest<P>) {
        let mut patience = Patience::new::<P>(TURNS_BEFORE_SLEEPING);
        while guest.state.load(Ordering::Relaxed) == AWAKE && patience.pause::<P>() {}
    }

    /// Takes a guest that waits no longer off the list; true if it has been granted the lock.
    ///
    /// # Safety
    /// It is the caller's, and enlisted.
    unsafe fn leave_room(&self, guest: &Guest<P>) -> bool {
        // SAFETY: the caller's promise.
        let state = unsafe { self.room.leave(guest, self.process) };
        if state == WOKEN {
            // It was told that the lock is free, and nobody else was.
            self.room.wake(self.key, self.process);
        }
        state == GRANTED
    }

    /// Ends the wait of a guest whose `sleep` will not return. If it has been granted the lock by
    /// now, the lock is released.
    ///
    /// # Safety
    /// `guest` is in the `sleep` of [`acquire_or_give_up`](Self::acquire_or_give_up), which does
    /// not go on.
    pub unsafe fn give_up(&self, guest: &Guest<P>, thread: &mut L::Thread) {
        // SAFETY: the guest is enlisted; if it has the lock, the caller acts for it.
        unsafe {
            if self.leave_room(guest) {
                self.release(thread);
            }
        }
    }

    /// Lets the lock go, or hands it to a guest.
    ///
    /// # Safety
    /// The lock is held, and this is the only release that is under way for that acquisition.
    #[inline(always)]
    pub unsafe fn release(&self, thread: &mut L::Thread) {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            if self.stamp.load(Ordering::Relaxed) != self.process {
                self.forget_waiters(thread);
            }
            if self.room.count() != 0 {
                return self.release_beside_guests(thread);
            }
            self.release_lock(thread);
        }
    }

    /// Lets the lock go, and wakes a guest who has come too late to be seen before.
    ///
    /// # Safety
    /// As for [`release`](Self::release).
    #[inline(always)]
    unsafe fn release_lock(&self, thread: &mut L::Thread) {
        let (room, key, process) = (self.room, self.key, self.process);
        self.stamp.store(0, Ordering::Release);
        // SAFETY: the caller's promise. The lock may be gone afterwards.
        unsafe { self.lock.release(thread) };
        if F::guests(room) != 0 {
            room.wake(key, process);
        }
    }

    /// # Safety
    /// As for [`release`](Self::release).
    #[cold]
    unsafe fn release_beside_guests(&self, thread: &mut L::Thread) {
        let queued = self.has_queue();
        // SAFETY: the caller's promise, here and below.
        unsafe {
            if queued && !self.room.is_due() {
                return self.release_to_queue(thread);
            }
            match self.room.decide(self.key, self.process, queued) {
                // The stamp stays, for the lock is held on.
                Verdict::Granted(Some(asleep)) => {
                    P::unpark(asleep, 1);
                }
                Verdict::Granted(None) => {}
                Verdict::Release if queued => self.release_to_queue(thread),
                Verdict::Release => self.release_lock(thread),
            }
        }
    }

    /// Lets the lock go to those in its queue, of whom the next one will look into the room.
    ///
    /// # Safety
    /// As for [`release`](Self::release).
    unsafe fn release_to_queue(&self, thread: &mut L::Thread) {
        self.stamp.store(0, Ordering::Release);
        // SAFETY: the caller's promise.
        unsafe { self.lock.release(thread) };
    }

    /// Makes the lock one of this process.
    ///
    /// # Safety
    /// The caller holds the lock since before the fork that made this process.
    #[cold]
    unsafe fn forget_waiters(&self, thread: &mut L::Thread) {
        // SAFETY: held by the caller; threads of this process do not touch an inherited lock, and
        // those of others have a copy of their own.
        unsafe { self.lock.forget_waiters(thread) };
        // Release: whoever sees the stamp sees a lock without waiters.
        self.stamp.store(self.process, Ordering::Release);
    }
}

impl<P: Platform, L: fmt::Debug, F> fmt::Debug for Moderated<'_, P, L, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moderated")
            .field("lock", self.lock)
            .field("stamp", &self.stamp.load(Ordering::Relaxed))
            .field("room", self.room)
            .finish_non_exhaustive()
    }
}
