//! Detects a file's format by its beginning.
//!
//! Recordings of perf and profiles of gperftools begin with marks of their own. Protocol buffers
//! have no mark. But the first fields must be those of a profile, and such a file always has bytes
//! that no text has. Two text formats remain. A single line that only `perf script` prints shows
//! its format; lines that end in numbers show folded stacks:
//!
//! ```text
//! sysbench 10047 [000] 35559.348102:     250000 cycles:     (perf script)
//!         ffffffff816bb643 fput+0x23 ([kernel.kallsyms])     (perf script)
//! main;work;memcpy 12                                        (folded stacks)
//! ```

use std::io::BufRead;

use super::error::ReadError;
use super::foreign::{Foreign, foreign};
use super::gperftools::{Words, contention};
use super::skipped::shown;
use super::source::{PEEK, Source};
use super::task::Task;
use super::{folded, pprof, script};
use crate::Format;

/// What recordings of perf begin with, on machines of either byte order.
const PERF_DATA: [&[u8]; 2] = [b"PERFILE2", b"2ELIFREP"];

/// What other programs' compressed files begin with.
const COMPRESSED: [(&[u8], &str); 3] =
    [(b"\x28\xb5\x2f\xfd", "zstd"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bzip2")];

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detected {
    /// A recording of perf.
    PerfData,
    /// A profile of pprof: a protocol buffer, perhaps within gzip.
    Pprof,
    /// A CPU profile of gperftools, with words of this kind.
    GperftoolsCpu(Words),
    /// How long threads waited for locks, as gperftools prints it.
    Contention,
    /// A text of this format.
    Text(Format),
}

/// Looks at the beginning of a source.
pub(crate) fn detect(source: &mut Source<'_>, task: &Task<'_>) -> Result<Detected, ReadError> {
    let file = || task.file.to_owned();
    let head = source.peek(PEEK).map_err(|source| task.failed(source))?;
    if head.is_empty() {
        // If the source kept an error, that error says more than that the file is empty.
        source.fill_buf().map_err(|source| task.failed(source))?;
        return Err(ReadError::Empty { file: file() });
    }
    if PERF_DATA.iter().any(|mark| head.starts_with(mark)) {
        return Ok(Detected::PerfData);
    }
    if let Some((_, program)) = COMPRESSED.iter().find(|(mark, _)| head.starts_with(mark)) {
        return Err(ReadError::Compressed { file: file(), program });
    }
    if let Some(Foreign { what, mend }) = foreign(head) {
        return Err(ReadError::Foreign { file: file(), what, mend });
    }
    if let Some(words) = Words::of(head) {
        return Ok(Detected::GperftoolsCpu(words));
    }
    if head.starts_with(contention::MARK) {
        return Ok(Detected::Contention);
    }
    let is_whole = head.len() < PEEK;
    if !is_text(head) && pprof::is_likely(head, is_whole) {
        return Ok(Detected::Pprof);
    }
    if let Some(format) = text(head) {
        return Ok(Detected::Text(format));
    }
    let what = if head.trim_ascii().is_empty() && is_whole {
        return Err(ReadError::Empty { file: file() });
    } else {
        format!("it begins with {}", shown(head))
    };
    Err(ReadError::Unknown { file: file(), what })
}

/// Whether there are no control characters that no text has.
fn is_text(head: &[u8]) -> bool {
    head.iter().all(|byte| !matches!(byte, 0..=8 | 14..=26 | 28..=31))
}

/// Which of the texts it is.
fn text(head: &[u8]) -> Option<Format> {
    let lines = || {
        let lines = head.split(|&byte| byte == b'\n');
        let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        lines.filter(|line| !line.trim_ascii().is_empty() && line[0] != b'#')
    };
    let is_folded = |line: &[u8]| folded::entry(line).is_ok();
    if lines().any(|line| script::is_likely(line, is_folded(line))) {
        return Some(Format::PerfScript);
    }
    // Many texts have some line that ends in a number, so most lines must.
    let (good, all) = (lines().filter(|line| is_folded(line)).count(), lines().count());
    let is_stack = |line: &[u8]| memchr::memchr(b';', line).is_some() && is_folded(line);
    if good > 0 && (2 * good >= all || lines().any(is_stack)) {
        return Some(Format::Folded);
    }
    let starts_as = |mark: &[u8]| head.starts_with(mark);
    // This is a header of perf script without samples, or numbers that folded stacks do not have.
    if starts_as(b"# ========") {
        return Some(Format::PerfScript);
    }
    lines().any(|line| memchr::memchr(b';', line).is_some()).then_some(Format::Folded)
}
