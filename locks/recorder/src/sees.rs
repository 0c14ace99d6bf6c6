//! Whether the recorder that is put under programs would see the locks of one.

use std::ffi::{OsStr, OsString};

use kilocore_process::Obstacle;
use kilocore_symbols::is_go;

/// Programs that run code of another language, whose locks are their own.
const RUNTIMES: [&str; 2] = ["java", "dotnet"];

/// Why a program is watched from outside instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyUnseen {
    /// Nothing can be put under it.
    Obstacle(Obstacle),
    /// It is written in Go, or executes programs of a language with locks of its own.
    OtherLocks,
}

/// Returns why a library that is put under a program would not see its locks, as far as the
/// program's file tells. Of a script, the program that executes it is judged. A file that cannot be
/// read is taken for one whose locks are seen.
///
/// Programs that run with other rights are not watched either.
#[must_use]
pub fn unseen_by_preload(command: &[OsString]) -> Option<WhyUnseen> {
    let path = kilocore_process::find_program(command.first()?).ok()?;
    let real = path.canonicalize().unwrap_or(path);
    let name = real.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if RUNTIMES.contains(&name) || is_go(&real) {
        return Some(WhyUnseen::OtherLocks);
    }
    match kilocore_process::obstacle_of_command(command)? {
        Obstacle::OtherRights | Obstacle::OtherArchitecture => None,
        obstacle => Some(WhyUnseen::Obstacle(obstacle)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_with_an_interpreter_is_seen_and_a_missing_one_is_not_judged() {
        assert_eq!(unseen_by_preload(&["sh".into()]), None);
        assert_eq!(unseen_by_preload(&["/no/such/program".into()]), None);
        assert_eq!(unseen_by_preload(&[]), None);
    }
}
