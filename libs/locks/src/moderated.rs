//! Makes any lock fit for programs that have more threads than cores, that fork, and whose waiters
//! give up.
//!
//! A lock that hands over in order is slow once waiters lose their cores: each handover to such a
//! waiter costs a context switch or a time slice. And no lock of this crate lets a waiter leave
//! before it has acquired the lock. A moderated lock is one of these locks behind a door. While few
//! threads contend, it is that lock and nothing else. Its queue takes as many waiters as have a
//! core to wait on. All others sleep in a [waiting room](crate::waiting_room) until the queue is
//! empty or it is their turn. This is generic concurrency restriction (Dice and Kogan, 'Avoiding
//! Scalability Collapse by Restricting Concurrency', Euro-Par 2019).
//!
//! # Where it departs from the paper
//! * *Only waiters are counted.* A thread that finds the lock free acquires it and touches nothing
//!   else. The paper counts all threads that enter.
//! * *No thread watches.* In the paper, the first passive thread spins until the number of active
//!   threads falls. Here, a release checks whether the queue is empty, and if so wakes the first
//!   sleeper. No core is spent on waiting for a place in the queue.
//! * *Grants.* For fairness, a sleeper is sometimes given the lock itself, which stays held,
//!   instead of a place in the queue. This works because any thread can release a lock. So a waiter
//!   in the room can get the lock without ever touching its queue, which is what waiters need that
//!   may give up.
//!
//! # Forks
//! Suppose that the forking thread holds the lock. In the child, the queue of that lock is full of
//! threads that do not exist there. The stamp, which names the process in which the lock was
//! acquired, shows this. Threads of the child do not touch such a lock; they wait in the room. So
//! nobody else uses the lock when its holder releases it, for which the holder first
//! [forgets](crate::RawLock::forget_waiters) the waiters.
//!
//! # Why programs get no lock as published
//! `kilocore run` could put the published algorithm itself under a program. That has two faults.
//! Handing over in order to threads that had lost their cores was up to a hundred times slower than
//! glibc. And no queue lets a waiter leave that is cancelled or whose time is up. Guarding against
//! lost wake-ups costs a release only one load, because sleepers pay for the fences of both sides
//! (`membarrier`). The library and the simulator have the pure forms.

use core::fmt;
use core::marker::PhantomData;

use kilocore_platform::{Atomic, Ordering, Platform};

use crate::RawLock;
use crate::patience::Patience;
use crate::waiting_room::{ASLEEP, AWAKE, Fences, GRANTED, Guest, Room, Verdict, WOKEN};

/// Turns for which a waiter that may give up watches its state before it sleeps.
const TURNS_BEFORE_SLEEPING: u32 = 1_000;

/// Set in the stamp while the lock goes to a waiter that the release has taken out of the count of those in the queue.
const UNCOUNTED: u32 = 1 << 31;

/// Whether a guest that has slept goes on waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slept {
    /// It goes on: it was woken, or it woke up for no reason.
    Enough,
    /// It does not: its time is up.
    TimeIsUp,
}

/// A lock and what belongs to it, put together for one operation.
///
/// # What the caller guarantees
/// The words are zero when the lock is new. They belong to this lock alone, and live as long as it
/// does. All users of one lock pass the same room. `process` is the number of the calling process,
/// as for [`ForkLock`](crate::ForkLock), below 2³¹, and changes by `fork` only.
pub struct Moderated<'a, P: Platform, L, F> {
    /// The lock whose waiters are moderated.
    pub lock: &'a L,
    /// The process in which the lock was acquired, or 0 while it is free. Only holders write it. It stays while the lock
    /// goes from a holder to the waiters in its queue, and its highest bit may be set from then on.
    pub stamp: &'a P::U32,
    /// Upper half: a process. Lower half: the number of its threads that wait in the lock's own
    /// queue.
    pub queued: &'a P::U64,
    /// The room where the other waiters wait.
    pub room: &'a Room<P>,
    /// A number that distinguishes this lock from others with the same room.
    pub key: usize,
    /// The number of the calling process.
    pub process: u32,
    /// How releasers and waiters are ordered.
    pub fences: PhantomData<F>,
}

impl<P: Platform, L: RawLock<P>, F: Fences<P>> Moderated<'_, P, L, F> {
    /// Whether the lock was acquired before the fork that made this process, and is still held.
    #[inline(always)]
    fn is_inherited(&self) -> bool {
        // Acquire pairs with the store of the holder that has forgotten its waiters.
        let stamp = self.stamp.load(Ordering::Acquire);
        stamp != 0 && stamp & !UNCOUNTED != self.process
    }

    /// Marks the lock as held, if a release has not left it so. The line is likely to be wanted by others, so what is there
    /// already is not written.
    #[inline(always)]
    fn mark_held(&self) {
        if self.stamp.load(Ordering::Relaxed) != self.process {
            self.stamp.store(self.process, Ordering::Release);
        }
    }

    /// Marks the lock as held by a thread that was not in its queue.
    #[inline(always)]
    fn mark_taken(&self) {
        use kilocore_platform::AtomicInt;
        if L::WAITERS_WATCH_IT && self.stamp.load(Ordering::Relaxed) & UNCOUNTED != 0 {
            // The lock was about to go to a waiter in the queue, after this thread had seen it free. That one is to find
            // itself counted.
            self.queued.fetch_add(1, Ordering::Relaxed);
        }
        self.mark_held();
    }

    /// Marks the lock as free before it is released, unless a waiter in its queue is going to have it.
    #[inline(always)]
    fn mark_free(&self) {
        match self.in_queue() {
            0 => self.stamp.store(0, Ordering::Release),
            1 => self.mark_held(),
            _ => self.mark_handed_over(),
        }
    }

    /// Marks the lock as going to one of several waiters in its queue.
    #[inline(always)]
    fn mark_handed_over(&self) {
        if L::WAITERS_WATCH_IT {
            // The next one would have all others fetch the line once more if it left the count itself. The release is
            // about to do so anyway.
            self.leave_queue();
            self.stamp.store(self.process | UNCOUNTED, Ordering::Release);
        }
    }

    /// Whether a thread holds the lock, or one that waits in its queue is about to have it.
    #[inline]
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.stamp.load(Ordering::Relaxed) != 0
    }

    /// Acquires the lock if that is possible without waiting. Returns whether it did.
    ///
    /// If a thread holds the lock, this only reads. Threads that try again and again keep copies of the line then, and
    /// do not take it from the holder, who needs it to release the lock.
    #[inline(always)]
    #[must_use]
    pub fn try_acquire(&self, thread: &mut L::Thread) -> bool {
        // Acquire pairs with the store of a holder that has forgotten the waiters that a fork has left behind. A holder
        // that has not marked the lock yet, or not any longer, is found by the lock itself.
        let free = self.stamp.load(Ordering::Acquire) == 0;
        let taken = free && self.lock.try_acquire(thread);
        if taken {
            self.mark_taken();
        }
        taken
    }

    /// Waits for the lock and acquires it. The caller has tried in vain. If fewer than `places`
    /// threads wait in the queue, it waits there, and otherwise in the room, where it sleeps by
    /// calling `sleep`; see [`acquire_or_give_up`](Self::acquire_or_give_up).
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
        // SAFETY: the guest stays where it is until it has the lock.
        let wait = |guest: &_| unsafe { self.wait_as_guest(guest, thread, places, sleep) };
        P::with_local(self.guest(), wait);
    }

    /// Returns a waiter for this lock that may give up.
    #[must_use]
    pub fn guest(&self) -> Guest<P> {
        Guest::new(self.key)
    }

    /// Waits for the lock in the room. Returns true once it has acquired the lock, or false if
    /// `sleep` says that the time is up.
    ///
    /// `sleep` is called with a word, a value, and whether a wake-up is certain. If it is not
    /// certain, `sleep` must return by itself after a while. `sleep` returns at once if the word
    /// does not hold the value, and it may return for no reason.
    ///
    /// # Safety
    /// `guest` is new. It stays where it is until this function returns or, if `sleep` does not
    /// return, until [`give_up`](Self::give_up) returns.
    pub unsafe fn acquire_or_give_up(
        &self,
        guest: &Guest<P>,
        thread: &mut L::Thread,
        sleep: impl FnMut(&P::U32, u32, bool) -> Slept,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.wait_as_guest(guest, thread, 0, sleep) }
    }

    /// Counts the caller as a waiter in the queue if there are fewer than `places`. Returns whether
    /// it did.
    fn enter_queue(&self, places: u32) -> bool {
        let nobody = u64::from(self.process) << 32;
        let mut before = self.queued.load(Ordering::Relaxed);
        loop {
            // Waiters of another process do not exist in this one.
            let others = if before >> 32 == nobody >> 32 { before } else { nobody };
            if others - nobody >= u64::from(places) {
                return false;
            }
            // Relaxed: a thread that leaves the count holds the lock, and the lock orders what a
            // holder reads.
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

    /// How many threads wait in the queue or are about to. The caller holds the lock.
    fn in_queue(&self) -> u32 {
        let queued = self.queued.load(Ordering::Relaxed);
        if queued >> 32 == u64::from(self.process) { queued as u32 } else { 0 }
    }

    /// Acquires the lock by its own algorithm. The caller is counted as a waiter in the queue.
    fn acquire_in_queue(&self, thread: &mut L::Thread) {
        self.lock.acquire(thread);
        if L::WAITERS_WATCH_IT && self.stamp.load(Ordering::Relaxed) & UNCOUNTED != 0 {
            return;
        }
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
            // From here on, we either have seen a release, or it will see the guest.
            if self.look(guest, thread, places) {
                return true;
            }
            if places == 0 {
                Self::watch(guest);
            }
            // This fails if another thread has woken the guest or granted it the lock.
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

    /// Acquires the lock if it is free. Otherwise moves to its queue if there is a place, and waits
    /// there. Returns true if the caller has the lock and has left the room.
    fn look(&self, guest: &Guest<P>, thread: &mut L::Thread, places: u32) -> bool {
        if self.is_inherited() {
            return false;
        }
        // A lock that goes to a waiter in the queue is not free. That one will look into the room when it releases it.
        if self.try_acquire(thread) {
            // SAFETY: the guest is listed. No thread can have granted it the lock, which was free.
            unsafe { self.room.leave(guest, self.process) };
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

    /// Stays awake for a moment, in which the lock may be granted.
    fn watch(guest: &Guest<P>) {
        let mut patience = Patience::new::<P>(TURNS_BEFORE_SLEEPING);
        while guest.state.load(Ordering::Relaxed) == AWAKE && patience.pause::<P>() {}
    }

    /// Removes a guest that stops waiting from the list. Returns true if it has been granted the
    /// lock.
    ///
    /// # Safety
    /// The guest belongs to the caller, and is enlisted.
    unsafe fn leave_room(&self, guest: &Guest<P>) -> bool {
        // SAFETY: the caller's promise.
        let state = unsafe { self.room.leave(guest, self.process) };
        if state == WOKEN {
            // Only this guest was told that the lock is free, so another has to be told.
            self.room.wake(self.key, self.process);
        }
        state == GRANTED
    }

    /// Ends the wait of a guest whose `sleep` will not return. If it has been granted the lock
    /// meanwhile, the lock is released.
    ///
    /// # Safety
    /// `guest` is in the `sleep` of [`acquire_or_give_up`](Self::acquire_or_give_up), which does
    /// not continue.
    pub unsafe fn give_up(&self, guest: &Guest<P>, thread: &mut L::Thread) {
        // SAFETY: the guest is enlisted. If it has the lock, the caller acts for it.
        unsafe {
            if self.leave_room(guest) {
                self.release(thread);
            }
        }
    }

    /// Releases the lock, or hands it to a guest.
    ///
    /// # Safety
    /// The lock is held, and no other release is under way for the same acquisition.
    #[inline(always)]
    pub unsafe fn release(&self, thread: &mut L::Thread) {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            if self.stamp.load(Ordering::Relaxed) & !UNCOUNTED != self.process {
                self.forget_waiters(thread);
            }
            if self.room.count() != 0 {
                return self.release_beside_guests(thread);
            }
            self.release_lock(thread);
        }
    }

    /// Releases the lock, and wakes a guest that came too late to be seen before.
    ///
    /// # Safety
    /// As for [`release`](Self::release).
    #[inline(always)]
    unsafe fn release_lock(&self, thread: &mut L::Thread) {
        let (room, key, process) = (self.room, self.key, self.process);
        self.mark_free();
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
        let queued = self.in_queue() != 0;
        // SAFETY: the caller's promise, here and below.
        unsafe {
            if queued && !self.room.is_due() {
                return self.release_to_queue(thread);
            }
            match self.room.decide(self.key, self.process, queued) {
                // The stamp stays, because the lock stays held.
                Verdict::Granted(Some(asleep)) => {
                    P::unpark(asleep, 1);
                }
                Verdict::Granted(None) => {}
                Verdict::Release if queued => self.release_to_queue(thread),
                Verdict::Release => self.release_lock(thread),
            }
        }
    }

    /// Releases the lock to the waiters in its queue. The next of them will look into the room.
    ///
    /// # Safety
    /// As for [`release`](Self::release).
    unsafe fn release_to_queue(&self, thread: &mut L::Thread) {
        self.mark_free();
        // SAFETY: the caller's promise.
        unsafe { self.lock.release(thread) };
    }

    /// Makes an inherited lock belong to this process.
    ///
    /// # Safety
    /// The caller has held the lock since before the fork that made this process.
    #[cold]
    unsafe fn forget_waiters(&self, thread: &mut L::Thread) {
        // SAFETY: the caller holds the lock. Threads of this process do not touch an inherited
        // lock, and those of other processes have a copy of their own.
        unsafe { self.lock.forget_waiters(thread) };
        // Release: a thread that sees the stamp sees a lock without waiters.
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
