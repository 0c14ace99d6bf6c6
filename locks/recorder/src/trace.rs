//! Running a program once more, under QEMU, to count what its profile can only estimate: which lines
//! move with each lock.
//!
//! The words that the program used as locks become figures of the locks of the profile where the places
//! tell that they are the same (`places.rs`), and a list of their own where they do not.
//!
//! # Decisions
//! * **The program is run natively first and under QEMU then**, so that times are its own. A word
//!   is matched with the lock that is acquired at the same place, because places are all that two
//!   runs have in common.

mod figures;
mod places;

use std::ffi::OsString;
use std::path::PathBuf;

use kilocore_lock_profile::{Profile, Symbols, Trace};
use kilocore_process::{Output, shell_status};
use kilocore_reference_recorder::{Options, RecordError, StreamError, check, trace_locks};

/// So many words that are no locks of the profile are listed.
const MOST_WORDS: usize = 64;

/// Why a program was not traced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TraceError {
    /// It cannot be run under QEMU.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// What the plugin told is damaged.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// It did not come to tell of its locks.
    #[error(
        "under QEMU the program ended with status {status} before it had told of its locks; nothing \
         was traced"
    )]
    NothingTold {
        /// How it ended, as a shell reports it.
        status: i32,
    },
    /// Somebody asked it to end.
    #[error("the program was asked to end before it had been traced; nothing was traced")]
    Interrupted,
}

/// Finds out whether a program can be traced with the plugin from here. Nothing of it is run.
///
/// # Errors
/// If it cannot be.
pub fn can_trace(command: &[OsString], library: PathBuf) -> Result<(), TraceError> {
    Ok(check(command, &Options::new(library))?)
}

/// Runs the program under QEMU, with empty input and its output discarded, and adds to its profile what
/// was counted of its locks. `library` is the plugin.
///
/// # Errors
/// If it was not traced to its end. Then the profile is as it was.
pub fn trace(
    command: &[OsString],
    library: PathBuf,
    profile: &mut Profile,
) -> Result<(), TraceError> {
    let options = Options { output: Output::Discarded, empty_input: true, ..Options::new(library) };
    let recorded = trace_locks(command, &options)?;
    if recorded.interrupted {
        return Err(TraceError::Interrupted);
    }
    let status = shell_status(recorded.status);
    let traced = recorded.made?.ok_or(TraceError::NothingTold { status })?;
    let found = places::found(&traced, &mut Symbols::default());
    let mut words = places::match_words(found, profile);
    let words_left_out = words.len().saturating_sub(MOST_WORDS) as u64;
    words.truncate(MOST_WORDS);
    profile.trace = Some(Trace {
        exit_status: status,
        words,
        words_left_out,
        updates_not_followed: traced.updates_not_followed,
        forks: traced.forks,
        threads_not_traced: recorded.threads_unrecorded,
        replaced_by: traced.replaced_by,
    });
    Ok(())
}
