//! Which path a call of the system names.

use std::path::{Path, PathBuf};

use kilocore_qemu_plugin::text;
use libc::c_int;

/// The path that a call names, from the root. Taken before the call, which may change the folder that it begins at.
/// None if it names none, or none that can be told later.
pub(crate) fn named(call: i64, [a, b, ..]: [u64; 6]) -> Option<String> {
    let (folder, path) = match call {
        libc::SYS_open
        | libc::SYS_stat
        | libc::SYS_lstat
        | libc::SYS_access
        | libc::SYS_readlink
        | libc::SYS_statfs
        | libc::SYS_chdir => (libc::AT_FDCWD, a),
        libc::SYS_openat
        | libc::SYS_newfstatat
        | libc::SYS_statx
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_readlinkat => (a as c_int, b),
        _ => return None,
    };
    let path = text(path)?;
    // What was no text before is none that leads anywhere.
    if path.is_empty() || path.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    if path.starts_with('/') {
        return Some(path);
    }
    let whole = folder_of(folder)?.join(path);
    whole.to_str().map(str::to_owned)
}

/// The path of a folder that is open, or of the working folder.
fn folder_of(descriptor: c_int) -> Option<PathBuf> {
    let link = match descriptor {
        libc::AT_FDCWD => "/proc/self/cwd".to_owned(),
        number => format!("/proc/self/fd/{number}"),
    };
    let path = std::fs::read_link(Path::new(&link)).ok()?;
    // One that was removed has another name here.
    path.is_dir().then_some(path)
}
