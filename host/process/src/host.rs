//! Facts about this host that recordings note.

use std::ffi::{CStr, c_char};
use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns one of the host's names for itself, or `unknown` if the system does not say.
fn name(pick: impl FnOnce(&libc::utsname) -> &[c_char]) -> String {
    // SAFETY: zero bytes are valid for an array of characters.
    let mut names: libc::utsname = unsafe { core::mem::zeroed() };
    // SAFETY: `names` is ours to be written.
    if unsafe { libc::uname(&raw mut names) } != 0 {
        return "unknown".to_owned();
    }
    // SAFETY: uname fills in a C string, within the array.
    let name = unsafe { CStr::from_ptr(pick(&names).as_ptr()) };
    name.to_string_lossy().into_owned()
}

/// The release of the kernel, as `uname -r` prints it.
#[must_use]
pub fn kernel_release() -> String {
    name(|names| &names.release)
}

/// The name of the host, as `uname -n` prints it.
#[must_use]
pub fn hostname() -> String {
    name(|names| &names.nodename)
}

/// The architecture, as the kernel names it.
#[must_use]
pub fn machine() -> String {
    name(|names| &names.machine)
}

/// Returns a name that tells this boot of the host from every other, if the kernel has one.
#[must_use]
pub fn boot_id() -> Option<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// The date and time in UTC, as in `2026-11-25T14:30:00Z`.
#[must_use]
pub fn utc_date() -> String {
    utc_date_of(SystemTime::now())
}

/// The same of another time, to the second. Times before 1970 are taken for its beginning.
#[must_use]
pub fn utc_date_of(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seconds = libc::time_t::try_from(since).unwrap_or(0);
    // SAFETY: zero bytes are a valid `tm`.
    let mut date: libc::tm = unsafe { core::mem::zeroed() };
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
