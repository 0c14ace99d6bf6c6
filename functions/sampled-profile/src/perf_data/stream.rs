//! Passes whole and valid records, and nothing else, to the crate that reads them.
//!
//! For either kind of file, the stream is what perf would have written to a pipe: a header, the
//! events, then the records. It ends before the first invalid record, so that all records before it
//! are read; [`Stream::broken`] then returns where that was. Compressed records are replaced by the
//! records that they contain. This module also refuses sizes in a hostile file that would take too
//! much memory.

use std::io::{self, BufReader, Read, Seek, SeekFrom};

use linux_perf_data::UserRecordType;
use linux_perf_data::linux_perf_event_reader::RecordType;
use zstd_safe::{DCtx, InBuffer, OutBuffer};

use super::bytes::Bytes;
use super::error::PerfDataError;
use super::layout::{Break, Layout, RecordHeader, payload};
use super::progress::Progress;

/// A file's records in the form that perf writes to a pipe.
pub(super) struct Stream<'p, R: Read> {
    file: BufReader<R>,
    big_endian: bool,
    is_pipe: bool,
    at: u64,
    end: u64,
    length: u64,
    /// The bytes that the reader receives next, starting at the position.
    ready: Vec<u8>,
    position: usize,
    expander: Expander,
    broken: Option<Break>,
    progress: &'p mut dyn FnMut(Progress),
    reported: u64,
}

impl<'p, R: Read + Seek> Stream<'p, R> {
    /// Makes a stream of a file's records. The second result maps each event that the reader will
    /// see to the file's event, because an event with very many ids is split into several.
    pub(super) fn new(
        file: R,
        layout: &Layout,
        compression: Option<u32>,
        progress: &'p mut dyn FnMut(Progress),
    ) -> Result<(Self, Vec<usize>), PerfDataError> {
        let mut file = BufReader::with_capacity(1 << 16, file);
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(layout.data.start))?;
        let (ready, events) = preamble(layout);
        let stream = Self {
            file,
            big_endian: layout.big_endian,
            is_pipe: layout.is_pipe,
            at: layout.data.start,
            end: layout.data.end,
            length,
            ready,
            position: 0,
            expander: Expander::new(compression),
            broken: None,
            progress,
            reported: 0,
        };
        Ok((stream, events))
    }

    /// Where the records break off, if they do so before the end.
    pub(super) fn broken(self) -> Option<Break> {
        self.broken
    }

    /// Makes the next record ready. At the end, `ready` stays empty.
    fn advance(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.position = 0;
        while self.ready.is_empty() && self.broken.is_none() && self.at < self.end {
            let at = self.at;
            if let Err(what) = self.next_record()? {
                self.broken = Some(Break { at, what });
            }
            if self.at - self.reported >= 1 << 20 {
                self.reported = self.at;
                (self.progress)(Progress { read: self.at, length: self.length });
            }
        }
        Ok(())
    }

    /// Reads one record. The outer error is the system's; the inner one is a fault of the file.
    fn next_record(&mut self) -> io::Result<Result<(), String>> {
        let left = self.end - self.at;
        let mut bytes = [0; RecordHeader::SIZE as usize];
        if left < bytes.len() as u64 {
            return Ok(Err("a record breaks off".to_owned()));
        }
        self.file.read_exact(&mut bytes)?;
        let header = RecordHeader::parse(&mut Bytes::new(&bytes, self.big_endian));
        let header = header.expect("it is as long as a header");
        if header.size < RecordHeader::SIZE {
            return Ok(Err(format!("a record of {} bytes cannot be", header.size)));
        }
        if left < header.size.into() {
            return Ok(Err("a record breaks off".to_owned()));
        }
        let mut body = vec![0; usize::from(header.size - RecordHeader::SIZE)];
        self.file.read_exact(&mut body)?;
        self.at += u64::from(header.size);
        let payload = payload(header, &body, self.is_pipe, self.big_endian);
        if payload > self.end - self.at {
            return Ok(Err("what belongs to a record breaks off".to_owned()));
        }
        if payload > 0 {
            self.at += payload;
            self.file.seek_relative(i64::try_from(payload).unwrap_or(i64::MAX))?;
        }
        let compressed = if header.is(UserRecordType::PERF_COMPRESSED) {
            Some(&body[..])
        } else if header.is(UserRecordType::PERF_COMPRESSED2) {
            let mut rest = Bytes::new(&body, self.big_endian);
            match rest.u64().and_then(|size| rest.take(size)) {
                Some(data) => Some(data),
                None => return Ok(Err("a compressed record makes no sense".to_owned())),
            }
        } else {
            None
        };
        Ok(match compressed {
            Some(data) => self.expander.expand(data, self.big_endian, &mut self.ready),
            None => {
                pass(header, &bytes, &body, &mut self.ready);
                Ok(())
            }
        })
    }
}

impl<R: Read + Seek> Read for Stream<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.position == self.ready.len() {
            self.advance()?;
        }
        let ready = &self.ready[self.position..];
        let size = ready.len().min(to.len());
        to[..size].copy_from_slice(&ready[..size]);
        self.position += size;
        Ok(size)
    }
}

/// Passes a record on if the kernel wrote it or if it ends a round. Other records describe the
/// recording and were read before.
fn pass(header: RecordHeader, bytes: &[u8], body: &[u8], to: &mut Vec<u8>) {
    let is_builtin = RecordType(header.kind).is_builtin_type();
    if is_builtin || header.is(UserRecordType::PERF_FINISHED_ROUND) {
        to.extend(bytes);
        to.extend(body);
    }
}

/// The header of a pipe, and a record for each event.
fn preamble(layout: &Layout) -> (Vec<u8>, Vec<usize>) {
    let number = |value: u64, size: usize| {
        let (little, big) = (value.to_le_bytes(), value.to_be_bytes());
        if layout.big_endian { big[8 - size..].to_vec() } else { little[..size].to_vec() }
    };
    let magic = if layout.big_endian { b"2ELIFREP" } else { b"PERFILE2" };
    let mut bytes = magic.to_vec();
    bytes.extend(number(16, 8));
    let mut events = Vec::new();
    for (index, event) in layout.events.iter().enumerate() {
        let fixed = usize::from(RecordHeader::SIZE) + event.attr.len();
        let most = (usize::from(u16::MAX) - fixed) / 8;
        // An event without ids still needs one record.
        let chunks = event.ids.chunks(most).chain(event.ids.is_empty().then_some(&[][..]));
        for ids in chunks {
            bytes.extend(number(UserRecordType::PERF_HEADER_ATTR.record_type().0.into(), 4));
            bytes.extend(number(0, 2));
            bytes.extend(number((fixed + ids.len() * 8) as u64, 2));
            bytes.extend(&event.attr);
            bytes.extend(ids.iter().flat_map(|id| number(*id, 8)));
            events.push(index);
        }
    }
    (bytes, events)
}

/// Expands compressed records. Together they are one zstd stream, whose pieces may end anywhere,
/// for instance in the middle of a record.
struct Expander {
    context: Option<DCtx<'static>>,
    compression: Option<u32>,
    /// Expanded bytes that are not yet a whole record.
    pending: Vec<u8>,
    expanded: u64,
    compressed: u64,
}

impl Expander {
    const ZSTD: u32 = 1;
    /// The largest accepted ratio of compression. perf's records shrink to a tenth. Data beyond the
    /// first megabytes that shrinks by more than this factor was made to exhaust memory.
    const MOST: u64 = 500;
    const MOST_AT_FIRST: u64 = 64 << 20;

    fn new(compression: Option<u32>) -> Self {
        Self { context: None, compression, pending: Vec::new(), expanded: 0, compressed: 0 }
    }

    fn expand(&mut self, data: &[u8], big_endian: bool, to: &mut Vec<u8>) -> Result<(), String> {
        if let Some(other) = self.compression.filter(|kind| *kind != Self::ZSTD) {
            return Err(format!(
                "records are compressed in way {other}, and only zstd can be read; record \
                 without -z"
            ));
        }
        self.decompress(data)?;
        let mut rest = &self.pending[..];
        while let Some(bytes) = rest.get(..RecordHeader::SIZE.into()) {
            let header = RecordHeader::parse(&mut Bytes::new(bytes, big_endian));
            let header = header.expect("it is as long as a header");
            if header.size < RecordHeader::SIZE {
                return Err(format!("a compressed record of {} bytes cannot be", header.size));
            }
            let Some(record) = rest.get(..header.size.into()) else { break };
            pass(header, bytes, &record[bytes.len()..], to);
            rest = &rest[record.len()..];
        }
        let done = self.pending.len() - rest.len();
        self.pending.drain(..done);
        Ok(())
    }

    /// Expands `data` and appends it to the pending bytes.
    fn decompress(&mut self, data: &[u8]) -> Result<(), String> {
        let wrong =
            |what: &str| format!("compressed records cannot be read ({what}); record without -z");
        if self.context.is_none() {
            self.context = DCtx::try_create();
        }
        let context = self.context.as_mut().ok_or_else(|| wrong("no memory"))?;
        let mut input = InBuffer::around(data);
        let mut buffer = vec![0; 1 << 17];
        self.compressed += data.len() as u64;
        loop {
            let mut output = OutBuffer::around(&mut buffer[..]);
            let result = context.decompress_stream(&mut output, &mut input);
            result.map_err(|code| wrong(zstd_safe::get_error_name(code)))?;
            let size = output.pos();
            self.pending.extend(&buffer[..size]);
            self.expanded += size as u64;
            if self.expanded > Self::MOST_AT_FIRST + Self::MOST * self.compressed {
                return Err(wrong("they expand beyond measure"));
            }
            if size < buffer.len() && input.pos() == data.len() {
                return Ok(());
            }
        }
    }
}
