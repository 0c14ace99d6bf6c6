//! Why a file provides no names.

use std::path::PathBuf;

use kilocore_linux::foreign_files::ForeignFileError;

/// Why a file provides no names.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// It is not read.
    #[error(transparent)]
    File(#[from] ForeignFileError),
    /// It is not an executable file.
    #[error("{path} is not an executable file or a library: {what}")]
    Parse {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
}
