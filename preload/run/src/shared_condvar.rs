//! Condition variables that processes share. glibc handles them.
//!
//! The other process may run without this library. The mutex that is used with the variable is
//! usually shared as well, so glibc handles it too. One case needs care: a process-shared variable
//! with a process-private mutex, which is of no use between processes. glibc would unlock that
//! mutex by its own algorithm. So in this case each wait returns after a short sleep as if the
//! thread had been woken. POSIX allows such wake-ups, and every program must expect them.
//!
//! # Which variables are shared
//! glibc marks a shared variable by a bit that never changes. The place of this bit differs between
//! versions of glibc. The library finds the place by initializing a shared and a private variable
//! and comparing them. In glibc 2.25 and later the bit is behind the bytes that
//! [`Condvar`](crate::condvar::Condvar) uses (byte 36, and byte 28 from 2.41 on). If there were no
//! such bit behind these bytes, `pthread_cond_init` would refuse to make a shared variable.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use kilocore_preload_common::real;
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use crate::condvar;
use crate::deadline::Deadline;
use crate::mutex_choice::functions;

/// The duration of a wait that cannot be woken, in nanoseconds.
const NAP: u64 = 1_000_000;

/// The place where glibc marks shared variables.
static SHARED: Mark = Mark::new();
/// The place where glibc marks that a shared variable uses the monotonic clock.
static MONOTONIC: Mark = Mark::new();

/// The place of a bit in glibc's condition variable: `byte << 8 | mask`.
struct Mark(AtomicU32);

impl Mark {
    /// The place was not searched for yet.
    const UNKNOWN: u32 = 0;
    /// There is no such place.
    const NONE: u32 = u32::MAX;

    const fn new() -> Self {
        Self(AtomicU32::new(Self::UNKNOWN))
    }

    /// Returns the place of the mark, or [`NONE`](Self::NONE). Searches for it if that has not been
    /// done yet.
    #[inline]
    fn place(&self) -> u32 {
        let place = self.0.load(Ordering::Relaxed);
        if place != Self::UNKNOWN {
            return place;
        }
        find_marks();
        self.0.load(Ordering::Relaxed)
    }

    /// Finds the mark: the lowest bit that is set in `with` and not in `without`, in the first byte
    /// with such a bit behind those that [`Condvar`](condvar::Condvar) uses.
    fn find(&self, with: &Sample, without: &Sample) {
        let found = with.iter().zip(without).enumerate().skip(condvar::BYTES).find_map(
            |(byte, (with, without))| {
                let bits = with & !without;
                (bits != 0).then(|| (byte as u32) << 8 | u32::from(bits & bits.wrapping_neg()))
            },
        );
        self.0.store(found.unwrap_or(Self::NONE), Ordering::Relaxed);
    }

    /// Returns whether the mark is set in `cond`.
    ///
    /// # Safety
    /// `cond` points to an initialized condition variable.
    #[inline]
    unsafe fn is_on(&self, cond: *const pthread_cond_t) -> bool {
        let place = self.place();
        if place == Self::NONE {
            return false;
        }
        // SAFETY: the byte lies inside the object. It is read atomically because glibc may change
        // other bits of it meanwhile.
        let byte = unsafe { &*cond.byte_add((place >> 8) as usize).cast::<AtomicU8>() };
        byte.load(Ordering::Relaxed) & place as u8 != 0
    }
}

/// The bytes of a condition variable.
type Sample = [u8; size_of::<pthread_cond_t>()];

/// Finds out where the marks are. This may be done more than once.
#[cold]
pub(crate) fn find_marks() {
    let private = sample(libc::PTHREAD_PROCESS_PRIVATE, libc::CLOCK_REALTIME);
    let shared = sample(libc::PTHREAD_PROCESS_SHARED, libc::CLOCK_REALTIME);
    let monotonic = sample(libc::PTHREAD_PROCESS_SHARED, libc::CLOCK_MONOTONIC);
    SHARED.find(&shared, &private);
    MONOTONIC.find(&monotonic, &shared);
}

/// Returns the bytes of a condition variable that glibc has initialized.
fn sample(shared: c_int, clock: clockid_t) -> Sample {
    let mut attr = MaybeUninit::uninit();
    let mut cond = MaybeUninit::<pthread_cond_t>::zeroed();
    // SAFETY: the attributes are initialized before they are used. All bytes of the variable are
    // initialized, because they were zero before glibc wrote some of them.
    unsafe {
        libc::pthread_condattr_init(attr.as_mut_ptr());
        libc::pthread_condattr_setpshared(attr.as_mut_ptr(), shared);
        libc::pthread_condattr_setclock(attr.as_mut_ptr(), clock);
        real::pthread_cond_init(cond.as_mut_ptr(), attr.as_ptr());
        libc::pthread_condattr_destroy(attr.as_mut_ptr());
        cond.as_ptr().cast::<Sample>().read()
    }
}

/// Returns whether `cond` is shared by processes, so that glibc handles it.
///
/// # Safety
/// `cond` points to an initialized condition variable.
#[inline]
pub(crate) unsafe fn is_shared(cond: *const pthread_cond_t) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { SHARED.is_on(cond) }
}

/// Returns the clock of a shared variable.
///
/// # Safety
/// As for [`is_shared`].
pub(crate) unsafe fn clock(cond: *const pthread_cond_t) -> clockid_t {
    // SAFETY: by the caller's promise.
    if unsafe { MONOTONIC.is_on(cond) } { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

/// Initializes a shared condition variable. Returns `ENOTSUP` if it could not be recognized as
/// shared later.
///
/// # Safety
/// As for `pthread_cond_init`.
pub(crate) unsafe fn init(
    cond: *mut pthread_cond_t,
    attr: *const libc::pthread_condattr_t,
) -> c_int {
    if SHARED.place() == Mark::NONE {
        return libc::ENOTSUP;
    }
    // SAFETY: by the caller's promise.
    unsafe { real::pthread_cond_init(cond, attr) }
}

unsafe extern "C-unwind" {
    /// See `c/wait.c`. This is a cancellation point.
    fn kilocore_nap(
        moment: *const timespec,
        wake: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
}

/// Waits with a mutex that glibc does not handle. The wait ends soon, as if the thread had been
/// woken. If `time` is null, there is no deadline.
///
/// # Safety
/// As for `pthread_cond_wait`. In addition, nothing in the caller's frame needs dropping.
pub(crate) unsafe fn wait(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    unsafe extern "C" fn lock(mutex: *mut c_void) {
        // SAFETY: this is the mutex of the wait, which the caller held before.
        unsafe { (functions().lock)(mutex.cast()) };
    }

    let mut nap = NAP;
    if !time.is_null() {
        // SAFETY: `time` is the program's timespec.
        match unsafe { Deadline::new(clock, time) } {
            Ok(deadline) => nap = nap.min(deadline.remaining()),
            Err(error) => return error,
        }
    }
    let moment = timespec { tv_sec: 0, tv_nsec: nap as libc::c_long };
    // SAFETY: the caller holds the mutex, and the mutex is live until this returns.
    unsafe {
        (functions().unlock)(mutex);
        kilocore_nap(&moment, lock, mutex.cast());
    }
    if nap < NAP { libc::ETIMEDOUT } else { 0 }
}
