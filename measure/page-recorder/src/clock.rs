//! The time, by the clock of the records and by that of people.

use std::mem;

/// Nanoseconds of the clock that the kernel's records use.
pub(crate) fn now() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is ours to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The date and time in UTC, as in `2026-11-25T14:30:00Z`.
pub(crate) fn date() -> String {
    // SAFETY: no place to write the time to is given.
    let seconds = unsafe { libc::time(core::ptr::null_mut()) };
    // SAFETY: zero bytes are a valid `tm`.
    let mut date: libc::tm = unsafe { mem::zeroed() };
    // SAFETY: both are ours, and the second is to be written.
    unsafe { libc::gmtime_r(&raw const seconds, &raw mut date) };
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:{:02}Z",
        date.tm_year + 1900,
        date.tm_mon + 1,
        date.tm_mday,
        date.tm_hour,
        date.tm_min,
        date.tm_sec
    )
}
