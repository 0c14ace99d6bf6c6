//! Putting a library under a program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, absolute};

/// What AddressSanitizer is asked. Its runtime refuses to start where another library comes before
/// it. It need not come first: what comes before it passes each call on.
const ANY_ORDER: &str = "verify_asan_link_order=0";

/// The parts of a path from any folder to the root. At the root, `..` is the root itself.
const UP: &str =
    "../../../../../../../../../../../../../../../../../../../../../../../../../../../..";

/// Returns the environment variables with which a program and all that it starts load `library`.
#[must_use]
pub fn preload_environment(library: &Path) -> Vec<(OsString, OsString)> {
    preload_all(&[library])
}

/// Returns the environment variables with which a program and all that it starts load these libraries, the
/// first of them in front.
#[must_use]
pub fn preload_all(libraries: &[&Path]) -> Vec<(OsString, OsString)> {
    let (loads, sanitizer) = ("LD_PRELOAD", "ASAN_OPTIONS");
    let asked = before(ANY_ORDER.as_ref(), env::var_os(sanitizer).as_deref());
    let existing = env::var_os(loads).unwrap_or_default();
    let all = libraries.iter().fold(existing, |value, library| behind(Some(&value), library));
    vec![(loads.into(), all), (sanitizer.into(), asked)]
}

/// Returns the value of `LD_PRELOAD` that loads `library` after the libraries that this process's
/// environment preloads already.
///
/// The order matters: a library that somebody else has put there still sees the program's calls
/// first, and passes them on to the next one.
///
/// The path begins with `$ORIGIN`, which glibc's dynamic linker replaces by the folder of the
/// program, and goes up to the root from there. So to glibc it is the path of the library. To
/// another C library's linker, such as musl's, it is the path of nothing. That one loads nothing and
/// says nothing, whereas a library that needs glibc would make the program fail. In this way each
/// process is recognised for itself, whoever starts it.
#[must_use]
pub fn preloading(library: &Path) -> OsString {
    behind(env::var_os("LD_PRELOAD").as_deref(), library)
}

fn behind(existing: Option<&OsStr>, library: &Path) -> OsString {
    let mut value = existing.unwrap_or_default().to_owned();
    if !value.is_empty() {
        value.push(":");
    }
    value.push("$ORIGIN/");
    value.push(UP);
    value.push(absolute(library).unwrap_or_else(|_| library.to_owned()));
    value
}

/// Options that come later in a list win, so what somebody has asked for stays asked for.
fn before(option: &OsStr, existing: Option<&OsStr>) -> OsString {
    let mut value = option.to_owned();
    if let Some(existing) = existing.filter(|existing| !existing.is_empty()) {
        value.push(":");
        value.push(existing);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_already_stays_in_front() {
        let value = |existing: Option<&str>| {
            let value = behind(existing.map(OsStr::new), Path::new("/lib/own.so"));
            value.into_string().expect("plain text")
        };
        let own = format!("$ORIGIN/{UP}/lib/own.so");
        assert_eq!(value(None), own);
        assert_eq!(value(Some("")), own);
        assert_eq!(value(Some("a.so b.so")), format!("a.so b.so:{own}"));
    }

    #[test]
    fn options_of_others_win() {
        let own = OsStr::new(ANY_ORDER);
        assert_eq!(before(own, None), own);
        assert_eq!(before(own, Some(OsStr::new(""))), own);
        let value = before(own, Some(OsStr::new("verify_asan_link_order=1:x=2")));
        assert_eq!(value, "verify_asan_link_order=0:verify_asan_link_order=1:x=2");
    }
}
