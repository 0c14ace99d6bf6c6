//! Writing a stream into a file while somebody else consumes it.

use std::path::Path;

use kilocore_references::{Contents, Event, WriteError, Writer};

use crate::{Stream, StreamError};

/// A stream that is written into a file as it is read.
#[derive(Debug)]
pub struct Tee<'s, 'a> {
    stream: &'s mut Stream<'a>,
    writer: Writer,
}

/// Why a stream cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TeeError {
    /// It cannot be read.
    #[error(transparent)]
    Stream(#[from] StreamError),
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl<'s, 'a> Tee<'s, 'a> {
    /// Begins a file that will have this name when it is whole.
    ///
    /// # Errors
    /// If no file can be written there.
    pub fn new(stream: &'s mut Stream<'a>, path: &Path) -> Result<Self, WriteError> {
        let writer = Writer::create(path, stream.about())?;
        Ok(Self { stream, writer })
    }

    /// Completes the file with what was read so far. Without this there will be none.
    ///
    /// # Errors
    /// If it cannot be written. Then nothing is left behind.
    pub fn finish(self) -> Result<Contents, WriteError> {
        self.writer.finish(self.stream.ending(), self.stream.threads_unrecorded())
    }
}

impl Iterator for Tee<'_, '_> {
    type Item = Result<Event, TeeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let event = match self.stream.next()? {
            Ok(event) => event,
            Err(error) => return Some(Err(error.into())),
        };
        Some(self.writer.push(&event).map(|()| event).map_err(TeeError::from))
    }
}
