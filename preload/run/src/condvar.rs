//! Condition variables of one process, in the program's `pthread_cond_t`.
//!
//! glibc's cannot be kept: they unlock and lock the mutex by glibc's algorithm. These live in the
//! same 48 bytes, of which they use the first 28, and all zero is a fresh one. What they do is in
//! [`Condition`].

use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_locks::Condition;
use libc::pthread_cond_t;

use crate::host::Host;
use crate::process;

/// Bytes that this layout may use. glibc 2.25 and later keep the mark of a process-shared variable
/// behind them, which must read zero here; see [`shared_condvar`](crate::shared_condvar).
pub(crate) const BYTES: usize = 28;

/// What is in a `pthread_cond_t`. Never referred to as a whole, because its Rust size includes
/// padding beyond [`BYTES`].
#[repr(C)]
pub(crate) struct Condvar {
    pub(crate) condition: Condition<Host>,
    /// 1 if time-outs are measured on the monotonic clock, else 0.
    monotonic: AtomicU32,
}

const _: () = assert!(core::mem::offset_of!(Condvar, monotonic) + 4 <= BYTES);
const _: () = assert!(size_of::<Condvar>() <= size_of::<pthread_cond_t>());
// Numbers of processes fit above the states of the list's lock.
const _: () = assert!(process::BITS == kilocore_locks::PROCESS_BITS);

impl Condvar {
    /// The condition variable in the program's object.
    ///
    /// # Safety
    /// `cond` was initialized by [`init`](Self::init) or statically, and lives for as long as the
    /// reference is used.
    #[inline]
    pub(crate) unsafe fn of<'a>(cond: *mut pthread_cond_t) -> &'a Self {
        // SAFETY: big enough, aligned to 8 bytes, and zero bytes or what `init` wrote are valid.
        // Every field is atomic.
        unsafe { &*cond.cast::<Self>() }
    }

    /// Initializes `cond`.
    ///
    /// # Safety
    /// `cond` points to a `pthread_cond_t` that is not in use.
    pub(crate) unsafe fn init(cond: *mut pthread_cond_t, clock: libc::clockid_t) {
        // SAFETY: the whole object is the caller's to write, and zero bytes are a valid one.
        unsafe {
            cond.write_bytes(0, 1);
            let monotonic = u32::from(clock == libc::CLOCK_MONOTONIC);
            Self::of(cond).monotonic.store(monotonic, Ordering::Relaxed);
        }
    }

    /// The clock of `pthread_cond_timedwait`.
    pub(crate) fn clock(&self) -> libc::clockid_t {
        if self.monotonic.load(Ordering::Relaxed) == 0 {
            libc::CLOCK_REALTIME
        } else {
            libc::CLOCK_MONOTONIC
        }
    }
}
