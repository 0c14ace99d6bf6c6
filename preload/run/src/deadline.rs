//! Deadlines on the two clocks that POSIX waits on.

use core::mem::MaybeUninit;

use libc::{clockid_t, timespec};

/// A valid moment on a clock.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) clock: clockid_t,
    pub(crate) time: timespec,
}

impl Deadline {
    /// The deadline `time` on `clock`, or `EINVAL` for a clock that cannot be waited on or a
    /// fraction of a second outside 0..10^9. Times before the clock's zero become its zero, which
    /// the kernel accepts and which has passed as well.
    ///
    /// # Safety
    /// `time` points to a timespec.
    pub(crate) unsafe fn new(clock: clockid_t, time: *const timespec) -> Result<Self, i32> {
        // SAFETY: by this function's contract.
        let mut time = unsafe { time.read() };
        if !is_waitable(clock) || !(0..1_000_000_000).contains(&time.tv_nsec) {
            return Err(libc::EINVAL);
        }
        if time.tv_sec < 0 {
            time = timespec { tv_sec: 0, tv_nsec: 0 };
        }
        Ok(Self { clock, time })
    }

    /// Nanoseconds from now until the deadline, zero if it has passed.
    pub(crate) fn remaining(&self) -> u64 {
        let now = now(self.clock);
        let seconds = i128::from(self.time.tv_sec) - i128::from(now.tv_sec);
        let nanos = seconds * 1_000_000_000 + i128::from(self.time.tv_nsec - now.tv_nsec);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    }
}

impl Deadline {
    /// The futex operation that waits until this moment, if there is one. The bitset form of the
    /// call takes an absolute time.
    pub(crate) fn futex_operation(this: Option<&Self>) -> libc::c_int {
        let real_time = this.is_some_and(|deadline| deadline.clock == libc::CLOCK_REALTIME);
        libc::FUTEX_WAIT_BITSET
            | libc::FUTEX_PRIVATE_FLAG
            | if real_time { libc::FUTEX_CLOCK_REALTIME } else { 0 }
    }

    /// The deadline so many nanoseconds from now, or `other` if that is sooner.
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

/// What `clock` shows. It is one that can be waited on.
fn now(clock: clockid_t) -> timespec {
    let mut now = MaybeUninit::<timespec>::uninit();
    // SAFETY: a known clock and room for the answer, which is always given for it.
    unsafe {
        libc::clock_gettime(clock, now.as_mut_ptr());
        now.assume_init()
    }
}

/// Whether one may wait on `clock`.
pub(crate) const fn is_waitable(clock: clockid_t) -> bool {
    clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_MONOTONIC
}

/// Sleeps for so many nanoseconds or a little less. Unlike `nanosleep` not a cancellation point.
pub(crate) fn sleep(nanos: u64) {
    let time = timespec {
        tv_sec: (nanos / 1_000_000_000) as libc::time_t,
        tv_nsec: (nanos % 1_000_000_000) as libc::c_long,
    };
    kilocore_preload_common::errno::preserved(|| {
        // SAFETY: a live timespec; the remainder is not asked for.
        unsafe { libc::syscall(libc::SYS_nanosleep, &time, core::ptr::null_mut::<timespec>()) };
    });
}
