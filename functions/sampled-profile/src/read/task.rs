//! What every reader is told.

use std::io;
use std::path::Path;

use super::error::ReadError;
use super::options::Options;
use super::source::BrokenOff;

/// What is being read, and how: the same for all readers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    /// The file's name, for messages.
    pub(crate) file: &'a Path,
    pub(crate) options: &'a Options,
}

impl Task<'_> {
    /// The error for bytes that could not be fetched.
    pub(crate) fn failed(&self, source: io::Error) -> ReadError {
        let file = self.file.to_owned();
        match BrokenOff::of(&source).cloned() {
            Some(BrokenOff { at, what }) => ReadError::Damaged { file, at, what },
            None => ReadError::Read { file, source },
        }
    }

    /// The error for a limit that was reached.
    pub(crate) fn too_large(&self, what: &'static str, limit: usize) -> ReadError {
        ReadError::TooLarge { file: self.file.to_owned(), what, limit }
    }
}
