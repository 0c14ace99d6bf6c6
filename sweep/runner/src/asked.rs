//! What a command asks for, found out without computing it.

use std::io;
use std::path::Path;

use kilocore_points::Missing;
use tempfile::TempDir;

use crate::command::{Place, nowhere};

/// What a command would compute first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    /// These points, which nobody has computed. It may ask for more when it has these.
    Misses(Vec<Missing>),
    /// Nothing: it has all that it needs.
    Nothing,
    /// It fails, and says this.
    Fails(String),
}

/// Asks a command which points it misses. `words` are those after the program's name.
///
/// # Errors
/// If it cannot be started, or there is no room for temporary files.
pub(crate) fn asked(program: &Path, words: &[String]) -> io::Result<Asked> {
    let folder = TempDir::new()?;
    let points = folder.path().canonicalize()?;
    let place = Place { points: &points, scratch: &points, core: None, has_other_hosts: false };
    let finished = place.list(program, words, &nowhere()?)?;
    Ok(match finished.missing() {
        Some(missing) => Asked::Misses(missing.to_owned()),
        None if finished.end.status.success() => Asked::Nothing,
        None => Asked::Fails(finished.said_at_last()),
    })
}
