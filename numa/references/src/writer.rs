//! Writing a stream into a file, an event at a time.
//!
//! The file has no name until it is whole: a trace appears complete or not at all. What is no regular file is
//! written to then.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::columns::{self, LONGEST_NAME, MOST_EVENTS};
use crate::packet::{FORMAT, Kind, LEVEL, LONGEST_DOCUMENT};
use crate::{
    About, Backing, Contents, Ending, Event, EventKind, PageNumber, Region, Tally, WriteError,
};
use kilocore_output_file::OutputFile;
use kilocore_trace_file::Packer;

/// Writes a trace. Whatever its length, it needs memory for one packet.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    output: OutputFile,
    file: BufWriter<NamedTempFile>,
    packer: Packer,
    pending: Vec<Event>,
    raw: Vec<u8>,
    tally: Tally,
}

impl Writer {
    /// Begins a trace that will have this name.
    ///
    /// # Errors
    /// If no file can be written there, or what the trace says of itself is too long.
    pub fn create(path: impl Into<PathBuf>, about: &About) -> Result<Self, WriteError> {
        let path = path.into();
        let header = serde_json::to_vec(about).map_err(|_| WriteError::Header)?;
        if header.len() > LONGEST_DOCUMENT {
            return Err(WriteError::Header);
        }
        let begun = (|| {
            let output = OutputFile::named(&path)?;
            let mut file = BufWriter::new(output.begin()?);
            let mut packer = Packer::new(LEVEL)?;
            FORMAT.begin(&mut file)?;
            packer.write(&mut file, [Kind::About.code(), 1], &header)?;
            Ok((output, file, packer))
        })();
        let (output, file, packer) = begun.map_err(|source| output(&path, source))?;
        let (pending, raw) = (Vec::with_capacity(MOST_EVENTS), Vec::new());
        Ok(Self { path, output, file, packer, pending, raw, tally: Tally::default() })
    }

    /// Appends an event.
    ///
    /// # Errors
    /// If it cannot be written, or names something beyond the last that there can be.
    pub fn push(&mut self, event: &Event) -> Result<(), WriteError> {
        if !possible(event) {
            return Err(WriteError::Beyond { number: self.tally.events() + 1 });
        }
        self.tally.count(event);
        self.pending.push(event.clone());
        if self.pending.len() == MOST_EVENTS {
            self.write_packet().map_err(|source| output(&self.path, source))?;
        }
        Ok(())
    }

    /// Completes the trace, which takes its name, in the place of a file that had it before.
    ///
    /// # Errors
    /// If it cannot be written. Then nothing is left behind.
    pub fn finish(self, ending: Ending, threads_unrecorded: u64) -> Result<Contents, WriteError> {
        let contents = self.tally.finish(ending, threads_unrecorded);
        let path = self.path.clone();
        self.complete(&contents).map_err(|source| output(&path, source))?;
        Ok(contents)
    }

    fn complete(mut self, contents: &Contents) -> io::Result<()> {
        self.write_packet()?;
        let document = serde_json::to_vec(contents)?;
        self.packer.write(&mut self.file, [Kind::Contents.code(), 1], &document)?;
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        self.output.take(file)
    }

    fn write_packet(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.raw.clear();
        columns::encode(&self.pending, &mut self.raw);
        let count = self.pending.len() as u32;
        self.packer.write(&mut self.file, [Kind::Events.code(), count], &self.raw)?;
        self.pending.clear();
        Ok(())
    }
}

fn possible(event: &Event) -> bool {
    let region = |region: Region| {
        region.first.0.checked_add(region.pages).is_some_and(|end| end <= PageNumber::END)
    };
    let fits = match &event.kind {
        EventKind::Burst(burst) => burst.page.0 < PageNumber::END,
        EventKind::Mapped(mapping) => {
            let name = match &mapping.backing {
                Backing::File(name) => name.len(),
                _ => 0,
            };
            region(mapping.region) && name <= LONGEST_NAME
        }
        EventKind::Allocated(block) => block.address.checked_add(block.bytes).is_some(),
        EventKind::Unmapped(it) | EventKind::Discarded(it) => region(*it),
        EventKind::Moved(it) => region(it.from) && region(it.to),
        _ => true,
    };
    fits && event.thread.0 < u32::MAX
}

fn output(path: &Path, source: io::Error) -> WriteError {
    WriteError::Output { file: path.to_owned(), source }
}
