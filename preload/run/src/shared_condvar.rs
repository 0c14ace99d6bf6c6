//! Condition variables that processes share. They are left to glibc.
//!
//! The other process may run without this library, and the mutex that goes with the variable is
//! shared too as a rule, and so glibc's already. Only a process-shared variable with a
//! process-private mutex, which is of no use between processes, needs help: glibc would unlock
//! that mutex in its own way. There each wait returns after a short sleep as if woken, which POSIX
//! allows and every program must be ready for.
//!
//! # Telling which are shared
//! glibc marks a shared variable by a bit that never changes, in a place that differs between its
//! versions. The place is found by initializing one of each and comparing. It lies behind the
//! bytes that [`Condvar`](crate::condvar::Condvar) uses in glibc 2.25 and later (byte 36, and byte
//! 28 from 2.41 on); were there no mark behind them, `pthread_cond_init` would refuse to make a
//! shared variable.

use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use kilocore_preload_common::real;
use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use crate::choice::functions;
use crate::condvar;
use crate::deadline::Deadline;

/// How long a wait that cannot be woken sleeps, in nanoseconds.
const NAP: u64 = 1_000_000;

/// Where glibc marks shared variables.
static SHARED: Mark = Mark::new();
/// Where glibc marks, on a shared variable, that its clock is the monotonic one.
static MONOTONIC: Mark = Mark::new();

/// The place of a bit in a condition variable of glibc's: `byte << 8 | mask`.
struct Mark(AtomicU32);

impl Mark {
    /// Not looked for yet.
    const UNKNOWN: u32 = 0;
    /// Looked for and not found.
    const NONE: u32 = u32::MAX;

    const fn new() -> Self {
        Self(AtomicU32::new(Self::UNKNOWN))
    }

    /// The place of the mark, found if it was not before, or [`NONE`](Self::NONE).
    #[inline]
    fn place(&self) -> u32 {
        let place = self.0.load(Ordering::Relaxed);
        if place != Self::UNKNOWN {
            return place;
        }
        find_marks();
        self.0.load(Ordering::Relaxed)
    }

    /// Keeps as the mark the lowest bit that `with` has and `without` has not, outside the bytes
    /// that [`Condvar`](condvar::Condvar) uses.
    fn find(&self, with: &Sample, without: &Sample) {
        let found = with.iter().zip(without).enumerate().skip(condvar::BYTES).find_map(
            |(byte, (with, without))| {
                let bits = with & !without;
                (bits != 0).then(|| (byte as u32) << 8 | u32::from(bits & bits.wrapping_neg()))
            },
        );
        self.0.store(found.unwrap_or(Self::NONE), Ordering::Relaxed);
    }

    /// Whether `cond` bears the mark.
    ///
    /// # Safety
    /// `cond` points to an initialized condition variable.
    #[inline]
    unsafe fn is_on(&self, cond: *const pthread_cond_t) -> bool {
        let place = self.place();
        if place == Self::NONE {
            return false;
        }
        // SAFETY: the byte lies inside the object. Atomic, because glibc may be changing other
        // bits of it.
        let byte = unsafe { &*cond.byte_add((place >> 8) as usize).cast::<AtomicU8>() };
        byte.load(Ordering::Relaxed) & place as u8 != 0
    }
}

/// The bytes of a condition variable.
type Sample = [u8; size_of::<pthread_cond_t>()];

/// Finds out where the marks are. Safe to do more than once.
#[cold]
pub(crate) fn find_marks() {
    let private = sample(libc::PTHREAD_PROCESS_PRIVATE, libc::CLOCK_REALTIME);
    let shared = sample(libc::PTHREAD_PROCESS_SHARED, libc::CLOCK_REALTIME);
    let monotonic = sample(libc::PTHREAD_PROCESS_SHARED, libc::CLOCK_MONOTONIC);
    SHARED.find(&shared, &private);
    MONOTONIC.find(&monotonic, &shared);
}

/// A condition variable as glibc initializes it.
fn sample(shared: c_int, clock: clockid_t) -> Sample {
    let mut attr = MaybeUninit::uninit();
    let mut cond = MaybeUninit::<pthread_cond_t>::zeroed();
    // SAFETY: the attributes are initialized before use, and all bytes of the variable are,
    // with zeroes at least.
    unsafe {
        libc::pthread_condattr_init(attr.as_mut_ptr());
        libc::pthread_condattr_setpshared(attr.as_mut_ptr(), shared);
        libc::pthread_condattr_setclock(attr.as_mut_ptr(), clock);
        real::pthread_cond_init(cond.as_mut_ptr(), attr.as_ptr());
        libc::pthread_condattr_destroy(attr.as_mut_ptr());
        cond.as_ptr().cast::<Sample>().read()
    }
}

/// Whether `cond` is shared by processes, and so glibc's.
///
/// # Safety
/// `cond` points to an initialized condition variable.
#[inline]
pub(crate) unsafe fn is_shared(cond: *const pthread_cond_t) -> bool {
    // SAFETY: by this function's contract.
    unsafe { SHARED.is_on(cond) }
}

/// The clock that a shared variable was given.
///
/// # Safety
/// As for [`is_shared`].
pub(crate) unsafe fn clock(cond: *const pthread_cond_t) -> clockid_t {
    // SAFETY: by this function's contract.
    if unsafe { MONOTONIC.is_on(cond) } { libc::CLOCK_MONOTONIC } else { libc::CLOCK_REALTIME }
}

/// Initializes a shared condition variable; `ENOTSUP` if it could not be recognized later.
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
    // SAFETY: by this function's contract.
    unsafe { real::pthread_cond_init(cond, attr) }
}

unsafe extern "C-unwind" {
    /// See `c/wait.c`. A cancellation point.
    fn kilocore_nap(
        moment: *const timespec,
        wake: unsafe extern "C" fn(*mut c_void),
        argument: *mut c_void,
    );
}

/// Waits with a mutex that is not glibc's: returns soon, as if woken. `time` is null to wait
/// without a deadline.
///
/// # Safety
/// As for `pthread_cond_wait`; nothing in the caller's frame needs dropping.
pub(crate) unsafe fn wait(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    unsafe extern "C" fn lock(mutex: *mut c_void) {
        // SAFETY: the mutex of the wait, which its caller held.
        unsafe { (functions().lock)(mutex.cast()) };
    }

    let mut nap = NAP;
    if !time.is_null() {
        // SAFETY: the program's timespec.
        match unsafe { Deadline::new(clock, time) } {
            Ok(deadline) => nap = nap.min(deadline.remaining()),
            Err(error) => return error,
        }
    }
    let moment = timespec { tv_sec: 0, tv_nsec: nap as libc::c_long };
    // SAFETY: the caller holds the mutex, which is live throughout.
    unsafe {
        (functions().unlock)(mutex);
        kilocore_nap(&moment, lock, mutex.cast());
    }
    if nap < NAP { libc::ETIMEDOUT } else { 0 }
}
