//! A whole trace in memory.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::{Event, Header, ReadError, Reader, TracePosition, WriteError, Writer, text};
use kilocore_trace_file::Wrong;

/// A trace of the pages that a program was given and gave back, as a whole in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// What it says of itself.
    pub header: Header,
    /// What happened, in the order of time.
    pub events: Vec<Event>,
}

impl Trace {
    /// Reads a file, packed or text.
    ///
    /// # Errors
    /// If it is no trace, or is damaged, or comes from a newer Kilocore. The error names the file
    /// and the place in it.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let of_file = |error: ReadError| ReadError { file: Some(path.to_owned()), ..error };
        let file =
            File::open(path).map_err(|error| Wrong::Unreadable(error).at(TracePosition::Whole));
        Self::read_from(BufReader::new(file.map_err(of_file)?)).map_err(of_file)
    }

    /// Reads a trace, packed or text.
    ///
    /// # Errors
    /// As [`Trace::read`], without the file.
    pub fn read_from(mut from: impl BufRead) -> Result<Self, ReadError> {
        let beginning =
            from.fill_buf().map_err(|error| Wrong::Unreadable(error).at(TracePosition::Whole))?;
        if beginning.first() == Some(&b'{') {
            let (header, events) = text::read(from)?;
            return Ok(Self { header, events });
        }
        let mut reader = Reader::new(from)?;
        let events = reader.by_ref().collect::<Result<_, _>>()?;
        Ok(Self { header: reader.header().clone(), events })
    }

    /// Writes a packed file. What the header's `contents` say is counted anew.
    ///
    /// # Errors
    /// If an event breaks a promise of traces, or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), WriteError> {
        let mut writer = Writer::create(path)?;
        self.events.iter().try_for_each(|event| writer.push(*event))?;
        writer.finish(self.header.about.clone()).map(drop)
    }
}
