//! Deadlines on the two clocks that POSIX functions can wait on.

use core::mem::MaybeUninit;

use libc::{clockid_t, timespec};

/// A valid time on a clock that one can wait on.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) clock: clockid_t,
    pub(crate) time: timespec,
}

impl Deadline {
    /// Returns the deadline `time` on `clock`. Returns `EINVAL` if one cannot wait on this clock,
    /// or if the nanoseconds are not in 0..10^9. A time before the clock's zero becomes zero, which
    /// the kernel accepts and which has passed as well.
    ///
    /// # Safety
    /// `time` points to a timespec.
    pub(crate) unsafe fn new(clock: clockid_t, time: *const timespec) -> Result<Self, i32> {
        // SAFETY: by the caller's promise.
        let mut time = unsafe { time.read() };
        if !is_waitable(clock) || !(0..1_000_000_000).contains(&time.tv_nsec) {
            return Err(libc::EINVAL);
        }
        if time.tv_sec < 0 {
            time = timespec { tv_sec: 0, tv_nsec: 0 };
        }
        Ok(Self { clock, time })
    }

    /// Returns the nanoseconds from now until the deadline, or zero if it has passed.
    pub(crate) fn remaining(&self) -> u64 {
        let now = now(self.clock);
        let seconds = i128::from(self.time.tv_sec) - i128::from(now.tv_sec);
        let nanos = seconds * 1_000_000_000 + i128::from(self.time.tv_nsec - now.tv_nsec);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}

impl Deadline {
    /// Returns the futex operation that waits until this deadline, or without one if it is `None`.
    /// It is the bitset form, which takes an absolute time.
    pub(crate) fn futex_operation(this: Option<&Self>) -> libc::c_int {
        let real_time = this.is_some_and(|deadline| deadline.clock == libc::CLOCK_REALTIME);
        libc::FUTEX_WAIT_BITSET
            | libc::FUTEX_PRIVATE_FLAG
            | if real_time { libc::FUTEX_CLOCK_REALTIME } else { 0 }
    }

    /// Returns the deadline in `nanos` nanoseconds from now, or `other` if that is sooner.
    pub(crate) fn soon(nanos: u64, other: Option<Self>) -> Self {
        if let Some(other) = other
            && other.remaining() <= nanos
        {
            return other;
        }
        let clock = libc::CLOCK_MONOTONIC;
        let now = Self { clock, time: now(clock) };
        let nanos = now.time.tv_nsec as u64 + nanos;
        Self {
            clock,
            time: timespec {
                tv_sec: now.time.tv_sec + (nanos / 1_000_000_000) as libc::time_t,
                tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
            },
        }
    }
}

/// Returns the time of `clock`, which is one that one can wait on.
fn now(clock: clockid_t) -> timespec {
    let mut now = MaybeUninit::<timespec>::uninit();
    // SAFETY: the clock is known, so the call always succeeds and writes the time.
    unsafe {
        libc::clock_gettime(clock, now.as_mut_ptr());
        now.assume_init()
    }
}

/// Returns the time in nanoseconds since some moment.
pub(crate) fn nanoseconds() -> u64 {
    let now = now(libc::CLOCK_MONOTONIC);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Returns whether one can wait on `clock`.
pub(crate) const fn is_waitable(clock: clockid_t) -> bool {
    clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_MONOTONIC
}

/// Sleeps for `nanos` nanoseconds, or less if a signal interrupts the sleep. Unlike the C library's
/// `nanosleep`, this is not a cancellation point.
pub(crate) fn sleep(nanos: u64) {
    let time = timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    };
    kilocore_preload_common::errno::preserved(|| {
        // SAFETY: the timespec is live, and the remaining time is not requested.
        unsafe { libc::syscall(libc::SYS_nanosleep, &time, core::ptr::null_mut::<timespec>()) };
    });
}
