//! The mutex functions over any lock.
//!
//! # Layout of a mutex whose algorithm is replaced
//! | bytes | what |
//! | --- | --- |
//! | 0..16 | the lock |
//! | 16..20 | the kind, as glibc keeps it |
//! | 20..24 | the [process] in which it was locked, zero while it is free |
//! | 24..32 | a process, and how many of its threads wait in the lock's own queue; see [`Moderated`] |
//! | 32..36 | how many threads wait for a condition variable with this mutex |
//! | 36.. | as glibc left it |
//!
//! The holder writes the stamp at byte 20, on a cache line that its core owns at that moment anyway.
//! The stamp has three uses:
//!
//! * It tells a forked child that the lock was taken before the fork, so that the child forgets the
//!   waiters that the lock records.
//! * It makes unlocking a free mutex do nothing, as under glibc. Without it, such an unlock would
//!   corrupt many locks.
//! * It lets `pthread_mutex_destroy` refuse a mutex that is held.
//!
//! # Waiting
//! Locks are [`Moderated`]: as many threads as there are cores beside the holder's wait as the
//! lock's own algorithm has it, on a [`Host`] where even that ends in sleep; all others, and
//! those who may give up, in a waiting room. See [`patience`](crate::patience).

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kilocore_locks::{LockVisitor, Moderated, RawLock};
use kilocore_preload_common::{MutexKind, mutex_kind, real};
use libc::{c_int, clockid_t, pthread_mutex_t, timespec};

use crate::deadline::{self, Deadline};
use crate::host::Host;
use crate::patience;
use crate::rooms::{self, SleepersPay};
use crate::{mutex_users, process, thread_state};

/// Bytes of a mutex that a lock may take: those before the kind.
const LOCK_BYTES: usize = 16;

/// Where the kind lies.
const KIND_AT: usize = 16;

/// Where the stamp lies.
const STAMP_AT: usize = 20;

/// Where the number of those in the lock's own queue lies.
const QUEUED_AT: usize = 24;

/// Where the number of those who wait for a condition with this mutex lies.
const CONDITIONS_AT: usize = 32;

const _: () = assert!(CONDITIONS_AT + 4 <= size_of::<pthread_mutex_t>());

/// The mutex functions of one lock, or glibc's own.
#[allow(missing_debug_implementations)]
pub(crate) struct Functions {
    /// Gets ready what a thread's first lock would need of the system.
    pub(crate) prepare: fn(),
    pub(crate) lock: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) trylock: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) clocklock:
        unsafe extern "C-unwind" fn(*mut pthread_mutex_t, clockid_t, *const timespec) -> c_int,
    pub(crate) unlock: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) destroy: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
}

/// Picks the functions of a lock type.
pub(crate) struct FunctionsOf;

impl LockVisitor<Host> for FunctionsOf {
    type Output = &'static Functions;

    fn visit<L: RawLock<Host>>(self) -> &'static Functions {
        &Replaced::<L>::FUNCTIONS
    }
}

/// The mutex functions over lock `L`. Mutexes that are not plain go to glibc.
pub(crate) struct Replaced<L>(PhantomData<L>);

impl<L: RawLock<Host>> Replaced<L> {
    const FUNCTIONS: Functions = Functions {
        prepare: thread_state::prepare::<L>,
        lock: Self::lock,
        trylock: Self::trylock,
        clocklock: Self::clocklock,
        unlock: Self::unlock,
        destroy: Self::destroy,
    };

    /// The lock in a plain mutex.
    ///
    /// # Safety
    /// `mutex` is initialized and plain, and stays so for as long as the result is used.
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(
        mutex: *mut pthread_mutex_t,
    ) -> Moderated<'a, Host, L, SleepersPay> {
        const {
            assert!(size_of::<L>() <= LOCK_BYTES, "the lock does not fit before the kind");
            assert!(align_of::<L>() <= align_of::<pthread_mutex_t>());
        }
        // SAFETY: all but the kind of a plain mutex is this library's. Its first 16 bytes hold a
        // lock: zero bytes are a free one and initializers, static or not, leave zeroes there and
        // in the other words, which are aligned.
        unsafe {
            Moderated {
                lock: &*mutex.cast::<L>(),
                stamp: &*mutex.byte_add(STAMP_AT).cast::<AtomicU32>(),
                queued: &*mutex.byte_add(QUEUED_AT).cast::<AtomicU64>(),
                room: rooms::of(mutex.addr()),
                key: mutex.addr(),
                process: process::current(),
                fences: PhantomData,
            }
        }
    }

    unsafe extern "C-unwind" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the program passes an initialized mutex, here and in the functions below.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_lock(mutex);
            }
            let lock = Self::of(mutex);
            if !thread_state::with::<L, _>(|thread| lock.try_acquire(thread)) {
                patience::wait::<L>(mutex);
            }
        }
        0
    }

    unsafe extern "C-unwind" fn trylock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as in `lock`.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_trylock(mutex);
            }
            let lock = Self::of(mutex);
            if thread_state::with::<L, _>(|thread| lock.try_acquire(thread)) {
                0
            } else {
                libc::EBUSY
            }
        }
    }

    unsafe extern "C-unwind" fn clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as in `lock`; `time` is the program's timespec.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real_clocklock(mutex, clock, time);
            }
            if !deadline::is_waitable(clock) {
                return libc::EINVAL;
            }
            let lock = Self::of(mutex);
            if thread_state::with::<L, _>(|thread| lock.try_acquire(thread)) {
                return 0;
            }
            match Deadline::new(clock, time) {
                Ok(deadline) if patience::wait_until::<L>(mutex, deadline) => 0,
                Ok(_) => libc::ETIMEDOUT,
                Err(error) => error,
            }
        }
    }

    pub(crate) unsafe extern "C-unwind" fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as in `lock`.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_unlock(mutex);
            }
            let lock = Self::of(mutex);
            if lock.is_held() {
                // SAFETY: it is held, and only its holder unlocks it.
                thread_state::with::<L, _>(|thread| lock.release(thread));
            }
        }
        0
    }

    unsafe extern "C-unwind" fn destroy(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as in `lock`.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_destroy(mutex);
            }
            if Self::of(mutex).is_held() || conditions(mutex).load(Ordering::Relaxed) != 0 {
                return libc::EBUSY;
            }
            // SAFETY: a free lock that nobody uses any longer, by the contract of
            // pthread_mutex_destroy. The kind below keeps it from being taken for one again.
            mutex.cast::<L>().drop_in_place();
            mutex.cast::<[u8; LOCK_BYTES]>().write([0; LOCK_BYTES]);
            mutex.byte_add(KIND_AT).cast::<c_int>().write(MutexKind::DESTROYED.0);
        }
        0
    }
}

/// How many wait for a condition with a plain mutex: written by its holder.
///
/// # Safety
/// `mutex` is initialized and plain, and stays so for as long as the reference is used.
unsafe fn conditions<'a>(mutex: *mut pthread_mutex_t) -> &'a AtomicU32 {
    // SAFETY: the word lies inside the object, is aligned, and this library alone uses it.
    unsafe { &*mutex.byte_add(CONDITIONS_AT).cast::<AtomicU32>() }
}

/// Notes that the caller, who holds `mutex`, is going to wait for a condition with it; false if it
/// does not hold it.
///
/// # Safety
/// `mutex` is initialized.
pub(crate) unsafe fn join_conditions(mutex: *mut pthread_mutex_t) -> bool {
    // SAFETY: by this function's contract.
    unsafe {
        if !mutex_kind(mutex).is_plain() {
            return mutex_users::join(mutex);
        }
        // Held, so that nobody else writes it.
        let waiting = conditions(mutex);
        waiting.store(waiting.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
    true
}

/// Notes that the caller, who holds `mutex` again, waits no longer.
///
/// # Safety
/// [`join_conditions`] was true.
pub(crate) unsafe fn leave_conditions(mutex: *mut pthread_mutex_t) {
    // SAFETY: by this function's contract.
    unsafe {
        if !mutex_kind(mutex).is_plain() {
            return mutex_users::leave(mutex);
        }
        let waiting = conditions(mutex);
        waiting.store(waiting.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
    }
}

/// glibc's timed lock, by its older name where that does.
///
/// # Safety
/// As for `pthread_mutex_clocklock`.
unsafe fn real_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: by this function's contract.
    unsafe {
        if clock == libc::CLOCK_REALTIME {
            real::pthread_mutex_timedlock(mutex, time)
        } else {
            real::pthread_mutex_clocklock(mutex, clock, time)
        }
    }
}

/// glibc's own functions, for a program that is not to be changed.
pub(crate) static GLIBC: Functions = {
    unsafe extern "C-unwind" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the program's argument is passed on, here and below.
        unsafe { real::pthread_mutex_lock(mutex) }
    }
    unsafe extern "C-unwind" fn trylock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { real::pthread_mutex_trylock(mutex) }
    }
    unsafe extern "C-unwind" fn clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { real_clocklock(mutex, clock, time) }
    }
    unsafe extern "C-unwind" fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { real::pthread_mutex_unlock(mutex) }
    }
    unsafe extern "C-unwind" fn destroy(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { real::pthread_mutex_destroy(mutex) }
    }
    Functions { prepare: || {}, lock, trylock, clocklock, unlock, destroy }
};
