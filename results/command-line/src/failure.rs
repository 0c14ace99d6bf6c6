//! What ends a command without a result.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use crate::say;

/// A message for the user: what is wrong, where, and how to mend it.
#[derive(Debug)]
pub struct Failure {
    message: String,
    status: u8,
}

/// The exit status for bad input of any kind.
const BAD_INPUT: u8 = 2;

/// The exit status for a program that cannot be executed.
const NOT_EXECUTABLE: u8 = 126;

/// The exit status for a program that is not there.
const NOT_FOUND: u8 = 127;

impl Failure {
    /// A failure with a message of its own.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), status: BAD_INPUT }
    }

    /// A program that is not there, or cannot be executed: as shells do, this ends with a status of
    /// its own.
    pub fn of_program(message: impl Into<String>, is_there: bool) -> Self {
        let status = if is_there { NOT_EXECUTABLE } else { NOT_FOUND };
        Self { message: message.into(), status }
    }

    /// A program that ended with a status before it had begun: this one ends with the same.
    pub fn with_status_of_program(message: impl Into<String>, status: i32) -> Self {
        Self { message: message.into(), status: u8::try_from(status).unwrap_or(u8::MAX) }
    }

    /// The same, with the file that it is about in front.
    #[must_use]
    pub fn about(self, file: &Path) -> Self {
        Self { message: format!("{}: {}", file.display(), self.message), ..self }
    }

    /// What went wrong, for those who go on all the same.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prints the message on standard error and gives the exit status. Parts of it may come from a
    /// file; of what steers a terminal only line ends are let through.
    #[must_use]
    pub fn report(&self) -> ExitCode {
        say(&self.message);
        ExitCode::from(self.status)
    }
}

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}
