//! Finding programs, and the libraries that are put under them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use kilocore_command_line::Failure;
use kilocore_lock_recorder::MeasureError;
use kilocore_process::{
    CannotStart, Obstacle, Unloaded, check_program, misspelt_number, obstacle_of_command,
    why_refused, why_unloaded,
};

/// Names the folder of the libraries, for those who keep them elsewhere.
const FOLDER: &str = "KILOCORE_LIBRARY_DIR";

/// The path of one of our shared libraries.
pub(crate) fn library(name: &str) -> Result<PathBuf, Failure> {
    let folders = candidate_folders()?;
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    if let Some(path) = &found {
        can_be_preloaded(path)?;
    }
    found.ok_or_else(|| {
        let places: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
        Failure::new(format!(
            "{name} is in none of {}; build it with `cargo build --release --workspace`, or set \
             {FOLDER} to the folder that holds it",
            places.join(", ")
        ))
    })
}

/// Refuses a path that the dynamic linker would take for several.
fn can_be_preloaded(path: &Path) -> Result<(), Failure> {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    if whole.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':')) {
        return Err(Failure::new(format!(
            "{}: the dynamic linker preloads nothing from a path with a space or a colon in it; \
             put the libraries elsewhere, or set {FOLDER} to a folder that holds them",
            whole.display()
        )));
    }
    Ok(())
}

fn candidate_folders() -> Result<Vec<PathBuf>, Failure> {
    if let Some(folder) = env::var_os(FOLDER) {
        return Ok(vec![PathBuf::from(folder)]);
    }
    let program = env::current_exe()
        .map_err(|error| Failure::new(format!("cannot tell where kilocore is: {error}")))?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    Ok(vec![folder.to_path_buf(), folder.join("../lib/kilocore")])
}

/// Makes sure that the program is there and can be started, as far as that shows.
pub(crate) fn check(words: &[OsString]) -> Result<(), Failure> {
    check_program(&words[0]).map(drop).map_err(|why| refused(&words[0], &why))
}

/// Refuses a command in which somebody has misspelt what becomes the number of cores.
pub(crate) fn check_numbers(words: &[OsString]) -> Result<(), Failure> {
    misspelt_number(words).map_or(Ok(()), |(word, meant)| {
        Err(Failure::new(format!(
            "{word} in the command stands for nothing: write {meant}, which becomes the number of cores"
        )))
    })
}

/// What keeps libraries from being put under a program, as the end of a sentence about it.
pub(crate) fn obstacle(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::Static => "is linked statically, so that nothing can be put under it",
        Obstacle::OtherRights => {
            "runs with other rights than its starter's, so that the system puts nothing under it"
        }
        Obstacle::OtherArchitecture => {
            "is of another architecture than kilocore, so that nothing can be put under it"
        }
        Obstacle::OtherLibrary => {
            "is linked with another C library than glibc, so that nothing can be put under it"
        }
        Obstacle::ThreadSanitizer => {
            "was compiled with ThreadSanitizer, which must see its locks as they are"
        }
    }
}

/// Refuses a program whose locks would not be replaced by a library.
pub(crate) fn check_locks_are_replaced(words: &[OsString]) -> Result<(), Failure> {
    obstacle_of_command(words).map_or(Ok(()), |found| Err(refusal(words, found, "locks")))
}

/// Refuses a program whose memory would not come from a library. ThreadSanitizer does not mind where
/// memory comes from.
pub(crate) fn check_memory_is_served(words: &[OsString]) -> Result<(), Failure> {
    match obstacle_of_command(words) {
        None | Some(Obstacle::ThreadSanitizer) => Ok(()),
        Some(found) => Err(refusal(words, found, "pages")),
    }
}

fn refusal(words: &[OsString], found: Obstacle, what: &str) -> Failure {
    let mend = match found {
        Obstacle::Static => "link it dynamically",
        Obstacle::OtherRights => "run a copy without that mark, as the user that it runs as",
        Obstacle::OtherArchitecture => "run a build for this machine",
        Obstacle::OtherLibrary => "link it with glibc",
        Obstacle::ThreadSanitizer => "compile it without",
    };
    let name = words[0].display();
    let why = obstacle(found);
    Failure::new(format!("'{name}' {why}: its {what} would stay as they are; {mend}"))
}

/// Says why the system refused to start a program.
pub(crate) fn cannot_start(program: &OsStr, error: io::Error) -> Failure {
    refused(program, &why_refused(program, error))
}

fn refused(program: &OsStr, why: &CannotStart) -> Failure {
    let name = program.display();
    Failure::of_program(format!("cannot start '{name}': {why}"), why.is_there())
}

/// Refuses to say anything about a program that ended with this status because its dynamic linker did not let
/// it begin.
pub(crate) fn check_loaded(words: &[OsString], status: i32) -> Result<(), Failure> {
    let Some(why) = why_unloaded(&words[0], status) else { return Ok(()) };
    let name = words[0].display();
    let message = match why {
        Unloaded::Missing(libraries) => format!(
            "'{name}' did not begin: the dynamic linker does not find {}; install what has that, or name \
             its folder in LD_LIBRARY_PATH",
            libraries.join(" and ")
        ),
        Unloaded::Refused(said) => format!(
            "'{name}' did not begin: the dynamic linker says: {said}; build the program for the libraries \
             that are here"
        ),
    };
    Err(Failure::with_status_of_program(message, status))
}

/// Says that a program could not be measured.
pub(crate) fn not_measured(words: &[OsString], error: MeasureError) -> Failure {
    match error {
        MeasureError::Start { source, .. } => cannot_start(&words[0], source),
        other => other.into(),
    }
}
