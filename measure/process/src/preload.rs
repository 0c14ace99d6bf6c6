//! Putting a library under a program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Returns the value of `LD_PRELOAD` that loads `library` after the libraries that this process's
/// environment preloads already.
///
/// The order matters: a library that somebody else has put there still sees the program's calls
/// first, and passes them on to the next one.
#[must_use]
pub fn preloading(library: &Path) -> OsString {
    behind(std::env::var_os("LD_PRELOAD").as_deref(), library)
}

fn behind(existing: Option<&OsStr>, library: &Path) -> OsString {
    let mut value = existing.unwrap_or_default().to_owned();
    if !value.is_empty() {
        value.push(":");
    }
    value.push(library);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_already_stays_in_front() {
        let library = Path::new("/lib/own.so");
        assert_eq!(behind(None, library), "/lib/own.so");
        assert_eq!(behind(Some(OsStr::new("")), library), "/lib/own.so");
        assert_eq!(behind(Some(OsStr::new("a.so b.so")), library), "a.so b.so:/lib/own.so");
    }
}
