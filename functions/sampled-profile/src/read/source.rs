//! Where bytes come from: a file, a pipe or standard input, unpacked if it is compressed by gzip.

use std::cell::Cell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;

use super::progress::Progress;

/// Bytes that are fetched at a time.
const BUFFER: usize = 1 << 18;

/// Most bytes that [`Source::peek`] can show.
pub(crate) const PEEK: usize = 1 << 16;

/// What a compressed file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The error of a source that breaks off. All bytes before it are good.
#[derive(Debug, Clone)]
pub(crate) struct BrokenOff {
    /// Where in the file, in bytes.
    pub(crate) at: u64,
    /// What could not be read.
    pub(crate) what: String,
}

impl BrokenOff {
    /// Returns the error inside an `io::Error`, if it is of this kind.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl fmt::Display for BrokenOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "breaks off at byte {}: {}", self.at, self.what)
    }
}

impl std::error::Error for BrokenOff {}

/// A file that reports how far it was read, and remembers whether the system failed to read it.
struct Counted<'a> {
    file: Box<dyn Read + 'a>,
    progress: &'a mut dyn FnMut(Progress),
    told: Progress,
    failed: Rc<Cell<bool>>,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer).inspect_err(|error| {
            self.failed.set(error.kind() != io::ErrorKind::Interrupted);
        })?;
        self.told.read += read as u64;
        (self.progress)(self.told);
        Ok(read)
    }
}

/// A gzip stream. Its errors are distinguishable from those of the underlying file.
struct Unpacked<'a> {
    packed: MultiGzDecoder<Source<'a>>,
    failed: Rc<Cell<bool>>,
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.packed.read(buffer).map_err(|error| {
            if self.failed.get() || error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let at = self.packed.get_ref().consumed;
            let what = match error.kind() {
                io::ErrorKind::UnexpectedEof => "the compressed data is cut short".to_owned(),
                _ => format!("the compressed data is damaged ({error})"),
            };
            io::Error::new(io::ErrorKind::UnexpectedEof, BrokenOff { at, what })
        })
    }
}

/// A buffered source that can show its beginning before it is read.
pub(crate) struct Source<'a> {
    from: Box<dyn Read + 'a>,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// Bytes that were taken out of the buffer.
    consumed: u64,
    /// An error that came while the beginning was looked at.
    pending: Option<io::Error>,
}

impl<'a> Source<'a> {
    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &Path, progress: &'a mut dyn FnMut(Progress)) -> io::Result<Self> {
        if path == Path::new("-") {
            return Self::unwrapped(Box::new(io::stdin().lock()), None, progress);
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a directory"));
        }
        let total = metadata.is_file().then_some(metadata.len());
        Self::unwrapped(Box::new(file), total, progress)
    }

    /// The content of a file, unpacked if gzip compressed it.
    pub(crate) fn unwrapped(
        file: Box<dyn Read + 'a>,
        total: Option<u64>,
        progress: &'a mut dyn FnMut(Progress),
    ) -> io::Result<Self> {
        let failed = Rc::new(Cell::new(false));
        let told = Progress { read: 0, total };
        let counted = Counted { file, progress, told, failed: Rc::clone(&failed) };
        let mut plain = Self::new(Box::new(counted));
        if plain.peek(GZIP.len())? != GZIP {
            return Ok(plain);
        }
        Ok(Self::new(Box::new(Unpacked { packed: MultiGzDecoder::new(plain), failed })))
    }

    fn new(from: Box<dyn Read + 'a>) -> Self {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        Self { from, buffer, start: 0, end: 0, consumed: 0, pending: None }
    }

    /// The next bytes, at most [`PEEK`]; fewer only if there are no more.
    ///
    /// An error that comes after some bytes is kept until they were read.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        let count = count.min(PEEK);
        if self.buffer.len() - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        while self.end - self.start < count && self.pending.is_none() {
            match self.fetch() {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if self.start == self.end => return Err(error),
                Err(error) => self.pending = Some(error),
            }
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }

    /// Puts more bytes behind those in the buffer.
    fn fetch(&mut self) -> io::Result<usize> {
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
            }
        }
    }
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("consumed", &self.consumed).finish_non_exhaustive()
    }
}

impl Read for Source<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let here = self.fill_buf()?;
        let count = here.len().min(into.len());
        into[..count].copy_from_slice(&here[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            if let Some(error) = self.pending.take() {
                return Err(error);
            }
            (self.start, self.end) = (0, 0);
            self.fetch()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, count: usize) {
        let count = count.min(self.end - self.start);
        self.start += count;
        self.consumed += count as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn unwrap(bytes: &[u8]) -> (Vec<u8>, Option<BrokenOff>) {
        let mut progress = |_| {};
        let mut source =
            Source::unwrapped(Box::new(bytes), Some(bytes.len() as u64), &mut progress).unwrap();
        let mut all = Vec::new();
        let broken = source.read_to_end(&mut all).err();
        (all, broken.map(|error| BrokenOff::of(&error).expect("broken off").clone()))
    }

    #[test]
    fn what_is_compressed_is_unpacked_and_its_end_found() {
        let text: Vec<u8> = (0..1_000_000u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect();
        let whole = packed(&text);
        assert_eq!(unwrap(&whole).0, text);
        let twice: Vec<u8> = [&whole[..], &whole].concat();
        assert_eq!(unwrap(&twice).0.len(), 2 * text.len());
        let (part, broken) = unwrap(&whole[..whole.len() / 2]);
        assert!(text.starts_with(&part) && part.len() > text.len() / 4, "{}", part.len());
        assert_eq!(broken.expect("cut").at, whole.len() as u64 / 2);
        let mut damaged = whole.clone();
        damaged[whole.len() - 8] ^= 1; // The checksum.
        assert!(unwrap(&damaged).1.expect("damaged").what.contains("damaged"));
    }

    #[test]
    fn looking_takes_nothing_away() {
        let text = vec![7; 3 * BUFFER];
        let mut seen = Vec::new();
        let mut progress = |told: Progress| seen.push(told.read);
        let mut source = Source::unwrapped(Box::new(&text[..]), None, &mut progress).unwrap();
        assert_eq!(source.peek(PEEK).unwrap().len(), PEEK);
        source.consume(BUFFER - 5);
        assert_eq!(source.peek(PEEK).unwrap().len(), PEEK);
        let mut rest = Vec::new();
        source.read_to_end(&mut rest).unwrap();
        assert_eq!(rest.len(), 2 * BUFFER + 5);
        drop(source);
        assert!(seen.is_sorted());
        assert_eq!(seen.last(), Some(&(text.len() as u64)));
    }
}
