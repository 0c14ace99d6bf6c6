//! What ends a command without a result.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

/// A message for the user: what is wrong, where, and how to mend it.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
}

/// The exit status for bad input of any kind.
const BAD_INPUT: u8 = 2;

impl Failure {
    /// A failure with a message of its own.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    /// The same, with the file that it is about in front.
    pub(crate) fn about(self, file: &Path) -> Self {
        Self { message: format!("{}: {}", file.display(), self.message) }
    }

    /// Prints the message on standard error and gives the exit status. Parts of it may come from a
    /// file; of what steers a terminal only line ends are let through.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("kilocore: {}", kilocore_report::printable_document(&self.message));
        ExitCode::from(BAD_INPUT)
    }
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
