//! Iterates over the lines of a text without copying most of them.

use std::io::{self, BufRead};

use memchr::memchr;

use super::source::BrokenOff;
use crate::Remark;

/// The mark of UTF-8 that some editors put at the beginning of a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The bytes of the line, which need not be UTF-8.
    Text(&'a [u8]),
    /// The line is longer than allowed.
    TooLong,
}

/// The lines of a source.
///
/// If the source breaks off, a last line without an end is left out: half of a number would be read
/// as another number.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    from: R,
    longest: usize,
    /// How many lines were begun.
    number: u64,
    /// Bytes of the source's buffer that were lent to the caller and are not yet consumed.
    lent: usize,
    /// A line that is in two buffers.
    joined: Vec<u8>,
    broken: Option<Remark>,
}

impl<R: BufRead> Lines<R> {
    /// The lines of `from`, none longer than `longest` bytes.
    pub(crate) fn new(from: R, longest: usize) -> Self {
        Self { from, longest, number: 0, lent: 0, joined: Vec::new(), broken: None }
    }

    /// How many lines there were so far.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether the source breaks off, once there is no further line.
    pub(crate) fn broken(self) -> Option<Remark> {
        self.broken
    }

    /// Whether the source breaks off here.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// The next line and its number, from 1.
    pub(crate) fn next(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        self.from.consume(self.lent);
        self.lent = 0;
        self.joined.clear();
        if !self.has_more()? {
            return Ok(None);
        }
        self.number += 1;
        if let Some(end) = memchr(b'\n', self.from.fill_buf()?) {
            self.lent = end + 1;
            // Borrowed anew, because the borrow above would have to last for the other branch as
            // well.
            let text = &self.from.fill_buf()?[..end];
            return Ok(Some((self.number, trimmed(text, self.number, self.longest))));
        }
        if !self.join()? {
            return Ok(None);
        }
        Ok(Some((self.number, trimmed(&self.joined, self.number, self.longest))))
    }

    /// Joins a line that lies in several buffers. Returns false if the source breaks off within it.
    fn join(&mut self) -> io::Result<bool> {
        loop {
            if !self.has_more()? {
                return Ok(!self.is_broken());
            }
            let here = self.from.fill_buf()?;
            let end = memchr(b'\n', here);
            let (part, used) = end.map_or((here, here.len()), |end| (&here[..end], end + 1));
            // One byte more than allowed shows that it is too long.
            let room = (self.longest + MARK.len() + 2).saturating_sub(self.joined.len());
            let part = &part[..part.len().min(room)];
            self.joined.extend_from_slice(part);
            self.from.consume(used);
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Whether there are bytes in the source's buffer; not at its end.
    fn has_more(&mut self) -> io::Result<bool> {
        if self.broken.is_some() {
            return Ok(false);
        }
        match self.from.fill_buf() {
            Ok(here) => Ok(!here.is_empty()),
            Err(error) => {
                let Some(broken) = BrokenOff::of(&error) else { return Err(error) };
                let BrokenOff { at, what } = broken.clone();
                self.broken = Some(Remark::Truncated { at, what });
                Ok(false)
            }
        }
    }
}

fn trimmed(text: &[u8], number: u64, longest: usize) -> Line<'_> {
    let text = if number == 1 { text.strip_prefix(MARK).unwrap_or(text) } else { text };
    let text = text.strip_suffix(b"\r").unwrap_or(text);
    if text.len() > longest { Line::TooLong } else { Line::Text(text) }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn lines(text: &[u8], buffer: usize, longest: usize) -> Vec<Option<Vec<u8>>> {
        let mut lines = Lines::new(BufReader::with_capacity(buffer, text), longest);
        let mut all = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            assert_eq!(number, all.len() as u64 + 1);
            all.push(match line {
                Line::Text(text) => Some(text.to_owned()),
                Line::TooLong => None,
            });
        }
        all
    }

    #[test]
    fn lines_are_the_same_in_buffers_of_any_size() {
        let text = b"\xef\xbb\xbfone\r\n\ntwo three\n\x00\xff\n0123456789\n0123456789a\r\nlast";
        let wanted: [Option<&[u8]>; 7] = [
            Some(b"one"),
            Some(b""),
            Some(b"two three"),
            Some(b"\x00\xff"),
            Some(b"0123456789"),
            None,
            Some(b"last"),
        ];
        for buffer in 1..80 {
            let all = lines(text, buffer, 10);
            assert_eq!(all.iter().map(|line| line.as_deref()).collect::<Vec<_>>(), wanted);
        }
        assert!(lines(b"", 8, 10).is_empty());
    }
}
