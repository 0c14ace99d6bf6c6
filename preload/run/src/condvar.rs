//! Condition variables that are private to the process, in the program's `pthread_cond_t`.
//!
//! glibc's condition variables cannot be used, because they unlock and lock the mutex by glibc's
//! algorithm. The ones here use the first 28 of the object's 48 bytes. An object of all zeros is a
//! new condition variable. The algorithm is in [`Condition`].

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_locks::Condition;
use libc::pthread_cond_t;

use crate::host::Host;
use crate::process;

/// The number of bytes that this layout may use. glibc 2.25 and later keep the mark of a
/// process-shared variable behind these bytes. The mark must read zero in the variables here; see
/// [`shared_condvar`](crate::shared_condvar).
pub(crate) const BYTES: usize = 28;

/// The content of a `pthread_cond_t`. It is never written as a whole, because its Rust size
/// includes padding beyond [`BYTES`].
#[repr(C)]
pub(crate) struct Condvar {
    pub(crate) condition: Condition<Host>,
    /// 1 if time-outs are measured on the monotonic clock, otherwise 0.
    monotonic: AtomicU32,
}

const _: () = assert!(core::mem::offset_of!(Condvar, monotonic) + 4 <= BYTES);
const _: () = assert!(size_of::<Condvar>() <= size_of::<pthread_cond_t>());
// Process numbers fit above the states of the list's lock.
const _: () = assert!(process::BITS == kilocore_locks::PROCESS_BITS);

impl Condvar {
    /// Returns the condition variable in the program's object.
    ///
    /// # Safety
    /// `cond` was initialized by [`init`](Self::init) or statically, and lives while the reference
    /// is used.
    #[inline]
    pub(crate) unsafe fn of<'a>(cond: *mut pthread_cond_t) -> &'a Self {
        // SAFETY: the object is big enough and aligned to 8 bytes. Zero bytes are valid, and so is
        // what `init` has written. Every field is atomic.
        unsafe { &*cond.cast::<Self>() }
    }

    /// Initializes `cond`.
    ///
    /// # Safety
    /// `cond` points to a `pthread_cond_t` that is not in use.
    pub(crate) unsafe fn init(cond: *mut pthread_cond_t, clock: libc::clockid_t) {
        // SAFETY: the caller may write the whole object, and zero bytes are a valid one.
        unsafe {
            cond.write_bytes(0, 1);
            let monotonic = u32::from(clock == libc::CLOCK_MONOTONIC);
            Self::of(cond).monotonic.store(monotonic, Ordering::Relaxed);
        }
    }

    /// Returns the clock on which `pthread_cond_timedwait` measures its deadline.
    pub(crate) fn clock(&self) -> libc::clockid_t {
        if self.monotonic.load(Ordering::Relaxed) == 0 {
            libc::CLOCK_REALTIME
        } else {
            libc::CLOCK_MONOTONIC
        }
    }
}
