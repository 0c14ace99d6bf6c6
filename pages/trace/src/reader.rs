//! Reading a trace, an event at a time.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use crate::columns::{self, MOST_BYTES, MOST_EVENTS};
use crate::packet::{FORMAT, LONGEST_HEADER, Packet};
use crate::writer::count;
use crate::{Contents, Event, Header, Held, Misuse, Nanoseconds};
use kilocore_trace_file::{Format, ReadError, TracePosition, Wrong};

/// Reads a trace. Whatever its length, it needs memory for one packet and for [`Held`].
///
/// As an iterator it gives the events, and ends after the first error.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    header: Header,
    /// Where the next packet begins.
    offset: u64,
    packet: std::vec::IntoIter<Event>,
    /// Where the packet began that the events are of.
    packet_at: u64,
    state: State,
    /// How many bytes were unpacked.
    unpacked: u64,
    over: bool,
}

/// Packets may unpack to so many bytes without any question: ten million events and more.
const MOST_AT_FIRST: u64 = 64 << 20;
/// Beyond these, to so many for each byte of the file. Traces of real programs shrink to a third.
/// What shrinks by more than this was made to exhaust memory.
const MOST: u64 = 500;

/// What is wrong with an event that cannot happen.
fn impossible(misuse: Misuse) -> Wrong {
    Wrong::damaged(format!("the event {misuse}"))
}

/// What the events so far amount to.
#[derive(Debug, Default)]
pub(crate) struct State {
    last: Nanoseconds,
    held: Held,
    contents: Contents,
}

/// Returns whether a file that begins like this is a packed trace of pages.
#[must_use]
pub fn is_packed_trace(head: &[u8]) -> bool {
    head.starts_with(&FORMAT.magic)
}

impl State {
    /// Lets an event happen that follows those before it.
    pub(crate) fn apply(&mut self, event: &Event) -> Result<(), Wrong> {
        if event.at < self.last {
            return Err(Wrong::damaged("the event is older than the one before it"));
        }
        self.held.apply(event).map_err(impossible)?;
        self.last = event.at;
        count(&mut self.contents, event, &self.held);
        Ok(())
    }

    /// Compares what there was with what the header says.
    pub(crate) fn finish(&self, header: &Header) -> Result<(), Wrong> {
        if self.contents == header.contents {
            Ok(())
        } else {
            Err(Wrong::damaged("the events are not those that the header counts"))
        }
    }

    pub(crate) fn contents(&self) -> Contents {
        self.contents
    }
}

impl Reader<BufReader<File>> {
    /// Opens a file in the packed form.
    ///
    /// # Errors
    /// If it cannot be read, or does not begin as a trace does.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let of_file = |error: ReadError| ReadError { file: Some(path.to_owned()), ..error };
        let file =
            File::open(path).map_err(|error| Wrong::Unreadable(error).at(TracePosition::Whole));
        Self::new(BufReader::new(file.map_err(of_file)?)).map_err(of_file)
    }
}

impl<R: Read> Reader<R> {
    /// Reads the beginning of a trace in the packed form.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(mut from: R) -> Result<Self, ReadError> {
        FORMAT.check(&mut from)?;
        let mut offset = Format::BYTES;
        let at = TracePosition::Byte(offset);
        let first = Packet::read(&mut from, LONGEST_HEADER).map_err(|wrong| wrong.at(at))?;
        let header = serde_json::from_slice(&first.raw)
            .map_err(|error| Wrong::damaged(format!("the header is none ({error})")).at(at))?;
        offset += first.size;
        Ok(Self {
            from,
            header,
            offset,
            packet: Vec::new().into_iter(),
            packet_at: offset,
            state: State::default(),
            unpacked: 0,
            over: false,
        })
    }

    /// What the trace says of itself.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    fn advance(&mut self) -> Result<Option<Event>, ReadError> {
        let total = self.header.contents.events;
        loop {
            if let Some(event) = self.packet.next() {
                let number = self.state.contents.events + 1;
                let position = TracePosition::Event { number, packet: self.packet_at };
                self.state.apply(&event).map_err(|wrong| wrong.at(position))?;
                return Ok(Some(event));
            }
            if self.state.contents.events == total {
                return self.end().map(|()| None);
            }
            self.next_packet(total - self.state.contents.events)?;
        }
    }

    /// Reads a packet of at most so many events.
    fn next_packet(&mut self, most: u64) -> Result<(), ReadError> {
        let at = TracePosition::Byte(self.offset);
        let packet = Packet::read(&mut self.from, MOST_BYTES).map_err(|wrong| wrong.at(at))?;
        self.unpacked += packet.raw.len() as u64;
        if self.unpacked > MOST_AT_FIRST + MOST * (self.offset + packet.size) {
            return Err(Wrong::damaged("the packets unpack beyond measure").at(at));
        }
        let count = packet.numbers[0] as usize;
        if count == 0 || count > MOST_EVENTS || count as u64 > most {
            return Err(Wrong::damaged("the packet has more or fewer events than it can").at(at));
        }
        let events = columns::decode(&packet.raw, count).map_err(|malformed| {
            let number = self.state.contents.events + malformed.event as u64 + 1;
            Wrong::damaged(malformed.what).at(TracePosition::Event { number, packet: self.offset })
        })?;
        self.packet = events.into_iter();
        self.packet_at = self.offset;
        self.offset += packet.size;
        Ok(())
    }

    /// What comes after the last event.
    fn end(&mut self) -> Result<(), ReadError> {
        let at = TracePosition::Byte(self.offset);
        self.state.finish(&self.header).map_err(|wrong| wrong.at(TracePosition::Whole))?;
        match self.from.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(Wrong::damaged("there is more after the last event").at(at)),
            Err(error) => Err(Wrong::Unreadable(error).at(at)),
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let next = self.advance().transpose();
        self.over = !matches!(next, Some(Ok(_)));
        next
    }
}
