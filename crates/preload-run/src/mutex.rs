//! The mutex functions over any lock.
//!
//! # Layout of a mutex whose algorithm is replaced
//! | bytes | what |
//! | --- | --- |
//! | 0..16 | the lock |
//! | 16..20 | the kind, as glibc keeps it |
//! | 20..24 | the [process] in which it was locked, zero while it is free |
//! | 24.. | as glibc left it |
//!
//! The stamp at 20 is written by the holder right after it has locked and right before it unlocks,
//! on a cache line that it owns at that moment anyway. It tells a child that the mutex it unlocks
//! was locked before the fork, so that the waiters it records are to be forgotten; it makes
//! unlocking a free mutex do nothing, as under glibc, where many locks would be wrecked by it; and
//! it lets `pthread_mutex_destroy` refuse a mutex that is held.

use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_interpose::{MutexKind, mutex_kind, real};
use kilocore_locks::{LockVisitor, RawLock};
use kilocore_platform::Native;
use libc::{c_int, clockid_t, pthread_mutex_t, timespec};

use crate::deadline::{self, Deadline};
use crate::{process, thread_state};

/// Bytes of a mutex that a lock may take: those before the kind.
const LOCK_BYTES: usize = 16;

/// Where the kind lies.
const KIND_AT: usize = 16;

/// Where the stamp lies.
const STAMP_AT: usize = 20;

/// The first and the longest sleep of a timed lock between two tries, in nanoseconds.
const SHORTEST_SLEEP: u64 = 2_000;
const LONGEST_SLEEP: u64 = 1_000_000;

/// The mutex functions of one lock, or glibc's own.
#[allow(missing_debug_implementations)]
pub(crate) struct Functions {
    pub(crate) lock: unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) trylock: unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) clocklock:
        unsafe extern "C" fn(*mut pthread_mutex_t, clockid_t, *const timespec) -> c_int,
    pub(crate) unlock: unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int,
    pub(crate) destroy: unsafe extern "C" fn(*mut pthread_mutex_t) -> c_int,
}

/// Picks the functions of a lock type.
pub(crate) struct FunctionsOf;

impl LockVisitor<Native> for FunctionsOf {
    type Output = &'static Functions;

    fn visit<L: RawLock<Native>>(self) -> &'static Functions {
        &Replaced::<L>::FUNCTIONS
    }
}

/// The mutex functions over lock `L`. Mutexes that are not plain go to glibc.
struct Replaced<L>(PhantomData<L>);

impl<L: RawLock<Native>> Replaced<L> {
    const FUNCTIONS: Functions = Functions {
        lock: Self::lock,
        trylock: Self::trylock,
        clocklock: Self::clocklock,
        unlock: Self::unlock,
        destroy: Self::destroy,
    };

    /// The lock in a plain mutex.
    ///
    /// # Safety
    /// `mutex` is initialized and plain, and stays so for as long as the reference is used.
    #[inline(always)]
    unsafe fn of<'a>(mutex: *mut pthread_mutex_t) -> &'a L {
        const {
            assert!(size_of::<L>() <= LOCK_BYTES, "the lock does not fit before the kind");
            assert!(align_of::<L>() <= align_of::<pthread_mutex_t>());
        }
        // SAFETY: the first 16 bytes of a plain mutex are this library's. They hold a lock: zero
        // bytes are a free one and initializers, static or not, leave zeroes there.
        unsafe { &*mutex.cast::<L>() }
    }

    unsafe extern "C" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the program passes an initialized mutex, here and in the functions below.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_lock(mutex);
            }
            let lock = Self::of(mutex);
            thread_state::with::<L, _>(|thread| lock.acquire(thread));
            stamp(mutex).store(process::current(), Ordering::Relaxed);
        }
        0
    }

    unsafe extern "C" fn trylock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as in `lock`.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_trylock(mutex);
            }
            if Self::try_plain(mutex) { 0 } else { libc::EBUSY }
        }
    }

    /// # Safety
    /// As for [`of`](Self::of).
    #[inline(always)]
    unsafe fn try_plain(mutex: *mut pthread_mutex_t) -> bool {
        // SAFETY: by this function's contract.
        let (lock, stamp) = unsafe { (Self::of(mutex), stamp(mutex)) };
        let taken = thread_state::with::<L, _>(|thread| lock.try_acquire(thread));
        if taken {
            stamp.store(process::current(), Ordering::Relaxed);
        }
        taken
    }

    /// Tries again and again, with growing pauses. It does not queue, so others that do may
    /// overtake it until its time is up.
    unsafe extern "C" fn clocklock(
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
            if Self::try_plain(mutex) {
                return 0;
            }
            let deadline = match Deadline::new(clock, time) {
                Ok(deadline) => deadline,
                Err(error) => return error,
            };
            let mut pause = SHORTEST_SLEEP;
            loop {
                let remaining = deadline.remaining();
                if remaining == 0 {
                    return libc::ETIMEDOUT;
                }
                deadline::sleep(pause.min(remaining));
                if Self::try_plain(mutex) {
                    return 0;
                }
                pause = (pause * 2).min(LONGEST_SLEEP);
            }
        }
    }

    unsafe extern "C" fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as in `lock`.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_unlock(mutex);
            }
            let (lock, stamp) = (Self::of(mutex), stamp(mutex));
            let locked_in = stamp.load(Ordering::Relaxed);
            if locked_in != process::current() {
                if locked_in == 0 {
                    return 0; // it is free
                }
                // SAFETY: the caller holds it since before the fork that made this process, and
                // the threads that waited for it, or could use it meanwhile, are not here.
                thread_state::with::<L, _>(|thread| lock.forget_waiters(thread));
            }
            stamp.store(0, Ordering::Relaxed);
            // SAFETY: the stamp says that it is held, and only its holder unlocks it.
            thread_state::with::<L, _>(|thread| lock.release(thread));
        }
        0
    }

    unsafe extern "C" fn destroy(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as in `lock`.
        unsafe {
            if !mutex_kind(mutex).is_plain() {
                return real::pthread_mutex_destroy(mutex);
            }
            if stamp(mutex).load(Ordering::Relaxed) != 0 {
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

/// The stamp of a plain mutex.
///
/// # Safety
/// `mutex` is initialized and plain, and stays so for as long as the reference is used.
#[inline(always)]
unsafe fn stamp<'a>(mutex: *mut pthread_mutex_t) -> &'a AtomicU32 {
    // SAFETY: the word lies inside the object, is aligned, and this library alone uses it.
    unsafe { &*mutex.byte_add(STAMP_AT).cast::<AtomicU32>() }
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
    unsafe extern "C" fn lock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: the program's argument is passed on, here and below.
        unsafe { real::pthread_mutex_lock(mutex) }
    }
    unsafe extern "C" fn trylock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { real::pthread_mutex_trylock(mutex) }
    }
    unsafe extern "C" fn clocklock(
        mutex: *mut pthread_mutex_t,
        clock: clockid_t,
        time: *const timespec,
    ) -> c_int {
        // SAFETY: as above.
        unsafe { real_clocklock(mutex, clock, time) }
    }
    unsafe extern "C" fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { real::pthread_mutex_unlock(mutex) }
    }
    unsafe extern "C" fn destroy(mutex: *mut pthread_mutex_t) -> c_int {
        // SAFETY: as above.
        unsafe { real::pthread_mutex_destroy(mutex) }
    }
    Functions { lock, trylock, clocklock, unlock, destroy }
};
