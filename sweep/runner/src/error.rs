//! Why a plan cannot be run at all.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::BatchSystemError;

/// Why a plan cannot be run at all.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SweepError {
    /// The folder of the answers cannot be used.
    #[error("{}: {source}; name a folder of your own under 'folder' in the plan, or with --into", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another sweep writes there.
    #[error("{}: another sweep is writing there; wait for its end, or name another folder with --into", .0.display())]
    Busy(PathBuf),
    /// The batch system does not take what is to be computed.
    #[error(transparent)]
    BatchSystem(#[from] BatchSystemError),
    /// A program of the plan is not there.
    #[error(
        "the plan, line {line}: there is no program '{program}' beside this one or in PATH; install it, or mend the name"
    )]
    Program {
        /// The line of its command.
        line: usize,
        /// Its name.
        program: String,
    },
}
