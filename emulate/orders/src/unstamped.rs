//! Why something cannot be known again.

use std::io;

/// Why it cannot be told later whether something is as it was, as the end of a sentence about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unstamped {
    /// It changed a moment ago, and may change again without another time.
    #[error("was changed a moment before")]
    Recent,
    /// Its file system is not one that notes each change.
    #[error("is on a file system whose times are not this host's")]
    FileSystem,
    /// The kernel writes it while it is read.
    #[error("is the kernel's, and says something else each time")]
    OfKernel,
    /// It is a device, a pipe or a socket.
    #[error("is no file")]
    NoFile,
    /// The system does not say.
    #[error("cannot be looked at: {0}")]
    Unknown(#[from] io::Error),
}
