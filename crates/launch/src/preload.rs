//! Putting the measuring library under a program.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The variables that do it: the library is loaded, and records into a directory.
pub(crate) fn environment(library: &Path, recordings: &Path) -> Vec<(OsString, OsString)> {
    let preloaded = std::env::var_os("LD_PRELOAD");
    vec![
        ("LD_PRELOAD".into(), preload(preloaded.as_deref(), library)),
        ("KILOCORE_MEASURE_DIR".into(), recordings.into()),
    ]
}

/// The value of `LD_PRELOAD` that loads `library` after what is preloaded already.
fn preload(existing: Option<&OsStr>, library: &Path) -> OsString {
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
        assert_eq!(preload(None, library), "/lib/own.so");
        assert_eq!(preload(Some(OsStr::new("")), library), "/lib/own.so");
        assert_eq!(preload(Some(OsStr::new("a.so b.so")), library), "a.so b.so:/lib/own.so");
    }
}
