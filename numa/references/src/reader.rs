//! Reading a trace, an event at a time.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::columns::{self, MOST_BYTES, MOST_EVENTS};
use crate::packet::{FORMAT, Kind, LONGEST_DOCUMENT, Packet};
use crate::{About, Contents, Event, Tally};
use kilocore_trace_file::{Format, ReadError, TracePosition, Wrong};

/// Reads a trace. Whatever its length, it needs memory for one packet.
///
/// As an iterator it gives the events, and ends after the first error. A file that was cut off gives the
/// events of its whole packets and then [`Wrong::Truncated`].
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    /// Its name, if it is a file.
    file: Option<PathBuf>,
    about: About,
    contents: Option<Contents>,
    /// Where the next packet begins.
    offset: u64,
    events: std::vec::IntoIter<Event>,
    tally: Tally,
    /// How many bytes were unpacked.
    unpacked: u64,
    over: bool,
}

/// Packets may unpack to so many bytes without any question.
const MOST_AT_FIRST: u64 = 256 << 20;
/// Beyond these, to so many for each byte of the file. What shrinks by more was made to keep somebody
/// busy: a program that does the same all the time is packed to a hundredth.
const MOST: u64 = 10_000;

/// Returns whether a file that begins like this is a trace of references.
#[must_use]
pub fn is_trace(head: &[u8]) -> bool {
    head.starts_with(&FORMAT.magic)
}

impl Reader<BufReader<File>> {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read, or does not begin as a trace does.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let of_file = |error: ReadError| ReadError { file: Some(path.to_owned()), ..error };
        let file =
            File::open(path).map_err(|error| Wrong::Unreadable(error).at(TracePosition::Whole));
        let reader = Self::new(BufReader::new(file.map_err(of_file)?)).map_err(of_file)?;
        Ok(Self { file: Some(path.to_owned()), ..reader })
    }
}

impl<R: Read> Reader<R> {
    /// Reads the beginning of a trace.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(mut from: R) -> Result<Self, ReadError> {
        FORMAT.check(&mut from)?;
        let mut offset = Format::BYTES;
        let first = Packet::read(&mut from, LONGEST_DOCUMENT)
            .map_err(|wrong| wrong.at(TracePosition::Byte(offset)))?;
        let about = document(&first, Kind::About, offset)?;
        offset += first.size;
        Ok(Self {
            from,
            file: None,
            about,
            contents: None,
            offset,
            events: Vec::new().into_iter(),
            tally: Tally::default(),
            unpacked: 0,
            over: false,
        })
    }

    /// Where the trace comes from.
    #[must_use]
    pub fn about(&self) -> &About {
        &self.about
    }

    /// What the trace amounted to. It stands behind the events, so it is known when they have been read.
    #[must_use]
    pub fn contents(&self) -> Option<&Contents> {
        self.contents.as_ref()
    }

    fn advance(&mut self) -> Result<Option<Event>, ReadError> {
        loop {
            if let Some(event) = self.events.next() {
                self.tally.count(&event);
                return Ok(Some(event));
            }
            let offset = self.offset;
            let at = |wrong: Wrong| wrong.at(TracePosition::Byte(offset));
            let packet = Packet::read(&mut self.from, MOST_BYTES).map_err(at)?;
            self.offset += packet.size;
            match Kind::of(&packet).map_err(at)? {
                Kind::About => return Err(at(Wrong::damaged("there is a second header"))),
                Kind::Contents => return self.end(&packet, offset).map(|()| None),
                Kind::Events => self.unpack(&packet, offset)?,
            }
        }
    }

    fn unpack(&mut self, packet: &Packet, offset: u64) -> Result<(), ReadError> {
        let at = TracePosition::Byte(offset);
        self.unpacked += packet.raw.len() as u64;
        if self.unpacked > MOST_AT_FIRST.saturating_add(self.offset.saturating_mul(MOST)) {
            return Err(Wrong::damaged("the packets unpack beyond measure").at(at));
        }
        let count = packet.numbers[1] as usize;
        if count == 0 || count > MOST_EVENTS {
            return Err(Wrong::damaged("the packet has more or fewer events than it can").at(at));
        }
        let mut events = Vec::with_capacity(count);
        columns::decode(&packet.raw, count, &mut events).map_err(|malformed| {
            let number = self.tally.events() + malformed.event as u64 + 1;
            Wrong::damaged(malformed.what).at(TracePosition::Event { number, packet: offset })
        })?;
        self.events = events.into_iter();
        Ok(())
    }

    /// Compares what there was with what the trace says of it.
    fn end(&mut self, packet: &Packet, offset: u64) -> Result<(), ReadError> {
        let contents: Contents = document(packet, Kind::Contents, offset)?;
        if self.tally.finish(contents.ending, contents.threads_unrecorded) != contents {
            let wrong = Wrong::damaged("the events are not those that the trace counts");
            return Err(wrong.at(TracePosition::Byte(offset)));
        }
        let behind = TracePosition::Byte(self.offset);
        match self.from.read(&mut [0]) {
            Ok(0) => {}
            Ok(_) => return Err(Wrong::damaged("there is more behind the trace").at(behind)),
            Err(error) => return Err(Wrong::Unreadable(error).at(behind)),
        }
        self.contents = Some(contents);
        Ok(())
    }
}

/// What a packet with a document says.
fn document<T: serde::de::DeserializeOwned>(
    packet: &Packet,
    kind: Kind,
    offset: u64,
) -> Result<T, ReadError> {
    let at = TracePosition::Byte(offset);
    if packet.numbers[0] != kind.code() || packet.raw.len() > LONGEST_DOCUMENT {
        return Err(Wrong::damaged("another packet belongs here").at(at));
    }
    serde_json::from_slice(&packet.raw)
        .map_err(|error| Wrong::damaged(format!("the document is none ({error})")).at(at))
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let advanced = self.advance();
        let of_file = |error| ReadError { file: self.file.clone(), ..error };
        let next = advanced.map_err(of_file).transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
