//! The mutex functions, implemented with any lock.
//!
//! # Layout of a mutex whose algorithm is replaced
//! | bytes | what |
//! | --- | --- |
//! | 0..16 | the lock |
//! | 16..20 | the kind, as glibc keeps it |
//! | 20..24 | the [process] in which it was locked, zero while it is free |
//! | 24..32 | a process, and how many of its threads wait in the lock's queue; see [`Moderated`] |
//! | 32..36 | how many threads wait for a condition variable with this mutex |
//! | 36.. | as glibc left it |
//!
//! The holder writes the stamp at byte 20, on a cache line that its core owns at that moment
//! anyway. The stamp has three uses:
//!
//! * It tells a forked child that the lock was taken before the fork, so that the child forgets the
//!   waiters that the lock records.
//! * It makes unlocking a free mutex do nothing, as under glibc. Without it, such an unlock would
//!   corrupt many locks.
//! * It lets `pthread_mutex_destroy` refuse a mutex that is held.
//!
//! # Waiting
//! Locks are [`Moderated`]. A few threads, one for each core except the holder's, wait in the
//! lock's own queue. Even they sleep after a while, because the platform is [`Host`]. All other
//! threads, and all that may give up, wait in a waiting room. See [`patience`](crate::patience).

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use kilocore_locks::{LockVisitor, Moderated, RawLock};
use kilocore_preload_common::{MutexKind, mutex_kind, real};
use libc::{c_int, clockid_t, pthread_mutex_t, timespec};

use crate::deadline::{self, Deadline};
use crate::host::Host;
use crate::patience;
use crate::rooms::{self, SleepersPay};
use crate::{glibcs_timed, mutex_users, process, slot, thread_state};

/// The number of bytes of a mutex that a lock may use: those before the kind.
const LOCK_BYTES: usize = 16;

/// The offset of the kind.
const KIND_AT: usize = 16;

/// The offset of the stamp.
const STAMP_AT: usize = 20;

/// The offset of the number of threads in the lock's own queue.
const QUEUED_AT: usize = 24;

/// The offset of the number of threads that wait for a condition variable with this mutex.
const CONDITIONS_AT: usize = 32;

const _: () = assert!(CONDITIONS_AT + 4 <= size_of::<pthread_mutex_t>());

/// The mutex functions of one lock, or glibc's own.
#[allow(missing_debug_implementations)]
pub(crate) struct Functions {
    /// Prepares in advance what a thread's first lock would otherwise request from the system.
    pub(crate) prepare: fn(),
    pub(crate) lock: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) trylock: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) clocklock:
        unsafe extern "C-unwind" fn(*mut pthread_mutex_t, clockid_t, *const timespec) -> c_int,
    pub(crate) unlock: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) destroy: unsafe extern "C-unwind" fn(*mut pthread_mutex_t) -> c_int,
}

/// Returns the functions of a lock type.
pub(crate) struct FunctionsOf;

impl LockVisitor<Host> for FunctionsOf {
    type Output = &'static Functions;

    fn visit<L: RawLock<Host>>(self) -> &'static Functions {
        &Replaced::<L>::FUNCTIONS
    }
}

/// The mutex functions, implemented with lock `L`. Mutexes that are not plain are passed to glibc.
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

    /// Returns the lock in a plain mutex.
    ///
    /// # Safety
    /// `mutex` is initialized and plain, and stays so while the result is used.
    #[inline(always)]
    pub(crate) unsafe fn of<'a>(
        mutex: *mut pthread_mutex_t,
    ) -> Moderated<'a, Host, L, SleepersPay> {
        const {
            assert!(size_of::<L>() <= LOCK_BYTES, "the lock does not fit before the kind");
            assert!(align_of::<L>() <= align_of::<pthread_mutex_t>());
        }
        // SAFETY: all bytes of a plain mutex except the kind belong to this library. The first 16
        // bytes contain a lock: initializers, static or not, write zeros there, and zeros are a
        // free lock. They also write zeros in the other words, which are aligned.
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
                slot::polls().succeeded();
                return 0;
            }
            slot::polls().failed(mutex.addr());
            libc::EBUSY
        }
    }

    unsafe extern "C-unwind" fn clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as in `lock`. `time` is the program's timespec.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return glibcs_timed::clocklock(mutex, clock, time);
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
                // SAFETY: the lock is held, and only its holder unlocks it.
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
            // SAFETY: the lock is free, and nobody uses it any longer, by the contract of
            // pthread_mutex_destroy. The kind that is written below keeps the mutex from being used
            // as a lock again.
            mutex.cast::<L>().drop_in_place();
            mutex.cast::<[u8; LOCK_BYTES]>().write([0; LOCK_BYTES]);
            mutex.byte_add(KIND_AT).cast::<c_int>().write(MutexKind::DESTROYED.0);
        }
        0
    }
}

/// Returns the number of threads that wait for a condition variable with a plain mutex. Only the
/// mutex's holder writes it.
///
/// # Safety
/// `mutex` is initialized and plain, and stays so while the reference is used.
unsafe fn conditions<'a>(mutex: *mut pthread_mutex_t) -> &'a AtomicU32 {
    // SAFETY: the word lies inside the object and is aligned. Only this library uses it.
    unsafe { &*mutex.byte_add(CONDITIONS_AT).cast::<AtomicU32>() }
}

/// Counts the caller, which holds `mutex` and is going to wait for a condition variable with it.
/// Returns false and counts nothing if it is one of glibc's mutexes and the caller does not hold
/// it.
///
/// # Safety
/// `mutex` is initialized.
pub(crate) unsafe fn join_conditions(mutex: *mut pthread_mutex_t) -> bool {
    // SAFETY: by the caller's promise.
    unsafe {
        if !mutex_kind(mutex).is_plain() {
            return mutex_users::join(mutex);
        }
        // The caller holds the mutex, so no other thread writes the number.
        let waiting = conditions(mutex);
        waiting.store(waiting.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
    true
}

/// Takes the caller, which holds `mutex` again and waits no longer, out of the count.
///
/// # Safety
/// [`join_conditions`] has returned true.
pub(crate) unsafe fn leave_conditions(mutex: *mut pthread_mutex_t) {
    // SAFETY: by the caller's promise.
    unsafe {
        if !mutex_kind(mutex).is_plain() {
            return mutex_users::leave(mutex);
        }
        let waiting = conditions(mutex);
        waiting.store(waiting.load(Ordering::Relaxed).wrapping_sub(1), Ordering::Relaxed);
    }
}

/// glibc's own functions, for a process in which mutexes are not replaced.
pub(crate) static GLIBC: Functions = {
    unsafe extern "C-unwind" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: this passes on the program's argument, here and below.
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
        unsafe { glibcs_timed::clocklock(mutex, clock, time) }
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
