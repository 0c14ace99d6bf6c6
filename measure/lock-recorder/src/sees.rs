//! Whether the recorder that is put under programs would see the locks of one.

use std::ffi::OsStr;

use kilocore_lock_profile::WhyUnrecorded;
use kilocore_symbols::is_go;

use crate::outside::could_not_preload;

/// Programs that run code of another language, whose locks are their own.
const RUNTIMES: [&str; 2] = ["java", "dotnet"];

/// Whether the locks of a program are pthread locks, as far as its file tells, and can be recorded
/// by a library that is put under it. They are not if it is linked statically, if it is written in
/// Go, or if it executes programs of a language with locks of its own. A file that cannot be read,
/// or that is a script, is taken for one whose locks are.
#[must_use]
pub fn preload_sees(program: &OsStr) -> bool {
    let Ok(path) = kilocore_process::find_program(program) else { return true };
    let real = path.canonicalize().unwrap_or(path);
    let name = real.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let is_static = could_not_preload(&real) == Some(WhyUnrecorded::Static);
    !RUNTIMES.contains(&name) && !is_static && !is_go(&real)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_an_interpreter_is_seen_and_a_missing_one_is_not_judged() {
        assert!(preload_sees(OsStr::new("sh")));
        assert!(preload_sees(OsStr::new("/no/such/program")));
    }
}
