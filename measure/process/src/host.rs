//! Facts about this host that recordings note.

use std::ffi::{CStr, c_char};
use std::fs;

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

/// The kernel's release.
#[must_use]
pub fn kernel_release() -> String {
    name(|names| &names.release)
}

/// The host's name.
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
