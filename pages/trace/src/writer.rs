//! Writing a trace, an event at a time.
//!
//! The header comes first in a file and counts what comes after it. So packets go into a file
//! without a name until the trace is whole. Then they follow the header into a second file, which
//! takes the trace's name at the end: a trace appears complete or not at all. What is no regular file is
//! written to then.

use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

use kilocore_output_file::OutputFile;

use crate::columns::{self, MOST_CPUS, MOST_EVENTS, MOST_INDICES};
use crate::packet::{FORMAT, LEVEL, LONGEST_HEADER};
use crate::{About, Contents, Event, EventKind, Header, Held, Nanoseconds, WriteError};
use kilocore_trace_file::Packer;

/// Writes a trace. Whatever its length, it needs memory for one packet and for [`Held`].
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    output: OutputFile,
    packets: BufWriter<File>,
    packer: Packer,
    pending: Vec<Event>,
    last: Nanoseconds,
    held: Held,
    contents: Contents,
}

impl Writer {
    /// Begins a trace that will have this name.
    ///
    /// # Errors
    /// If no file can be written there.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, WriteError> {
        let path = path.into();
        let begun = (|| {
            let output = OutputFile::named(&path)?;
            let packets = tempfile::tempfile_in(output.folder())?;
            Ok((Packer::new(LEVEL)?, output, packets))
        })();
        match begun {
            Ok((packer, output, file)) => Ok(Self {
                path,
                output,
                packets: BufWriter::new(file),
                packer,
                pending: Vec::with_capacity(MOST_EVENTS),
                last: Nanoseconds(0),
                held: Held::default(),
                contents: Contents::default(),
            }),
            Err(source) => Err(WriteError::Output { file: path, source }),
        }
    }

    /// Appends an event.
    ///
    /// # Errors
    /// If it breaks a promise of traces, or cannot be written.
    pub fn push(&mut self, event: Event) -> Result<(), WriteError> {
        let number = self.contents.events + 1;
        if event.at < self.last {
            return Err(WriteError::Backwards { number });
        }
        if event.cpu.0 >= MOST_CPUS || event.thread.0 >= MOST_INDICES {
            return Err(WriteError::Beyond { number });
        }
        self.held.apply(&event).map_err(|misuse| WriteError::Impossible { number, misuse })?;
        self.last = event.at;
        count(&mut self.contents, &event, &self.held);
        self.pending.push(event);
        if self.pending.len() == MOST_EVENTS {
            self.write_packet().map_err(|source| output(&self.path, source))?;
        }
        Ok(())
    }

    /// The pages that are held after the events so far.
    #[must_use]
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// How many events there are so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.contents.events
    }

    /// Completes the trace, which takes its name, in the place of a file that had it before.
    ///
    /// # Errors
    /// If it cannot be written. Then nothing is left behind.
    pub fn finish(mut self, about: About) -> Result<Header, WriteError> {
        let header = Header { about, contents: self.contents };
        let text = serde_json::to_vec(&header).map_err(|_| WriteError::Header)?;
        if text.len() > LONGEST_HEADER {
            return Err(WriteError::Header);
        }
        self.complete(&text).map_err(|source| output(&self.path, source))?;
        Ok(header)
    }

    fn complete(&mut self, header: &[u8]) -> io::Result<()> {
        self.write_packet()?;
        self.packets.flush()?;
        let packets = self.packets.get_mut();
        packets.rewind()?;
        let mut whole = self.output.begin()?;
        FORMAT.begin(&mut whole)?;
        self.packer.write(&mut whole, [1], header)?;
        io::copy(packets, &mut whole)?;
        self.output.take(whole)
    }

    fn write_packet(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let columns = columns::encode(&self.pending);
        self.packer.write(&mut self.packets, [self.pending.len() as u32], &columns)?;
        self.pending.clear();
        Ok(())
    }
}

/// Counts an event that has happened.
pub(crate) fn count(contents: &mut Contents, event: &Event, held: &Held) {
    let (page, order) = event.kind.block();
    contents.events += 1;
    contents.allocations += u64::from(matches!(event.kind, EventKind::Allocate { .. }));
    contents.pages = contents.pages.max(page.0.saturating_add(order.pages()));
    contents.cpus = contents.cpus.max(event.cpu.0 + 1);
    contents.threads = contents.threads.max(event.thread.0 + 1);
    contents.held_at_end = held.pages();
    contents.held_at_most = contents.held_at_most.max(held.pages());
}

fn output(path: &Path, source: io::Error) -> WriteError {
    WriteError::Output { file: path.to_owned(), source }
}
