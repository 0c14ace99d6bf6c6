//! Reading what `libkilocore_measure.so` wrote: the frame of a recording and the words in it.
//!
//! The frame (header, lengths and kinds of blocks) is checked once, with messages that name the
//! byte; whoever reads the words of a block afterwards cannot leave the file. What the words mean
//! is the business of [`reader`](crate::reader).

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::mem::offset_of;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use kilocore_lock_recording::{
    BarrierBlock, BlockHeader, CallerBlock, ConditionBlock, ContentionBlock, FileHeader,
    HistogramBlock, LockBlock, MAGIC, MAX_FILE_BYTES, ModuleBlock, PATH_BYTES, ShardBlock,
    SiteBlock, ThreadBlock, UNIT, UnitId, VERSION, kind, lack,
};

use crate::symbols::Module;

/// The ending of a recording's name.
pub const RECORDING_EXTENSION: &str = "kcrec";

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// The file system refused.
    #[error("{}: {source}; check that it exists and may be read", file.display())]
    Io {
        /// The file or directory.
        file: PathBuf,
        /// What the file system said.
        source: std::io::Error,
    },
    /// Some other kind of file.
    #[error("{}: byte 0: not a recording of the measuring library; name a .kcrec file of this machine", file.display())]
    Foreign {
        /// The path of the recording.
        file: PathBuf,
    },
    /// Written by another version.
    #[error("{}: byte 8: layout version {found}, but this program reads {VERSION}; measure again with the library of this version", file.display())]
    Version {
        /// The path of the recording.
        file: PathBuf,
        /// The layout version in the file.
        found: u32,
    },
    /// The file ends too early.
    #[error("{}: byte {at}: the file ends inside a block; it was cut short, so measure again", file.display())]
    Truncated {
        /// The path of the recording.
        file: PathBuf,
        /// Where the block begins.
        at: u64,
    },
    /// A block that cannot be.
    #[error("{}: byte {at}: {what}; the file is damaged, so measure again", file.display())]
    Damaged {
        /// The path of the recording.
        file: PathBuf,
        /// Where the block begins.
        at: u64,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// The bytes of a recording whose frame was checked: header and blocks lie inside.
#[derive(Debug)]
pub struct Recording {
    bytes: Vec<u8>,
    /// Where blocks begin, and of which kinds they are.
    pub(crate) blocks: BTreeMap<UnitId, u32>,
}

/// What a process lacked to record more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// The file system was full, or files may not become large enough.
    Room,
    /// The folder was no longer there, or may not be written to.
    Permission,
    /// The process may have no more memory.
    Memory,
}

/// Cycles of the time-stamp counter in a nanosecond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ClockRate {
    /// The rate in GHz; positive and finite.
    pub ghz: f64,
}

impl Recording {
    /// Reads a file. `None` if the process ended before it had begun to record.
    ///
    /// Only as much is read as is in use, and never more than the recorder can have written: most of
    /// a recording's length is a hole, and a damaged file may claim anything. Links are not
    /// followed.
    ///
    /// # Errors
    /// If the file cannot be read or is no recording.
    pub fn open(file: &Path) -> Result<Option<Self>, RecordingError> {
        let bytes =
            in_use(file).map_err(|source| RecordingError::Io { file: file.to_owned(), source })?;
        Self::parse(file, bytes)
    }

    /// Checks the frame of a recording; `file` is for messages only. `None` if the process ended
    /// before it had begun to record.
    ///
    /// # Errors
    /// If `bytes` are no recording.
    pub fn parse(file: &Path, bytes: Vec<u8>) -> Result<Option<Self>, RecordingError> {
        let name = || file.to_owned();
        let mut recording = Self { bytes, blocks: BTreeMap::new() };
        let magic = recording.u64(0);
        if magic.unwrap_or(0) == 0 && recording.bytes.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        if magic != Some(MAGIC) {
            return Err(RecordingError::Foreign { file: name() });
        }
        let found = recording.u32(offset_of!(FileHeader, version)).unwrap_or(0);
        if found != VERSION {
            return Err(RecordingError::Version { file: name(), found });
        }
        if recording.bytes.len() < size_of::<FileHeader>() {
            return Err(RecordingError::Truncated { file: name(), at: 0 });
        }
        let used = recording.header(offset_of!(FileHeader, used));
        let mut at = size_of::<FileHeader>();
        while (at as u64) < used {
            let header = recording
                .u32(at + offset_of!(BlockHeader, kind))
                .zip(recording.u32(at + offset_of!(BlockHeader, units)));
            let Some((kind, units)) = header else {
                return Err(RecordingError::Truncated { file: name(), at: at as u64 });
            };
            let units = if kind == kind::NONE { 1 } else { units };
            let Some(least) = least_units(kind) else {
                let what = "a block of unknown kind";
                return Err(RecordingError::Damaged { file: name(), at: at as u64, what });
            };
            if (units as usize) < least {
                let what = "a block that is too small for its kind";
                return Err(RecordingError::Damaged { file: name(), at: at as u64, what });
            }
            let end = (units as usize).checked_mul(UNIT).and_then(|bytes| bytes.checked_add(at));
            if end.is_none_or(|end| end > recording.bytes.len()) {
                return Err(RecordingError::Truncated { file: name(), at: at as u64 });
            }
            if kind != kind::NONE {
                recording.blocks.insert((at / UNIT) as UnitId, kind);
            }
            at += units as usize * UNIT;
        }
        Ok(Some(recording))
    }

    /// The rate of the clock as this recording knows it, and over how many nanoseconds it was
    /// observed.
    #[must_use]
    pub fn clock_rate(&self) -> Option<(ClockRate, u64)> {
        let span = |first, last| self.header(last).checked_sub(self.header(first));
        let cycles =
            span(offset_of!(FileHeader, first_cycles), offset_of!(FileHeader, last_cycles))?;
        let ns = span(offset_of!(FileHeader, first_ns), offset_of!(FileHeader, last_ns))?;
        (cycles > 0 && ns > 0).then(|| (ClockRate { ghz: cycles as f64 / ns as f64 }, ns))
    }

    /// Why the recording could not grow, if it could not.
    #[must_use]
    pub fn lack(&self) -> Option<Lack> {
        match self.header(offset_of!(FileHeader, lack)) {
            lack::ROOM => Some(Lack::Room),
            lack::PERMISSION => Some(Lack::Permission),
            lack::MEMORY => Some(Lack::Memory),
            _ => None,
        }
    }

    pub(crate) fn u32(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    fn u64(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(8)?)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// A word of the header, whose presence `parse` has checked.
    pub(crate) fn header(&self, offset: usize) -> u64 {
        self.u64(offset).unwrap_or(0)
    }

    pub(crate) fn text(&self, at: usize) -> String {
        let bytes = self.bytes.get(at..at.saturating_add(PATH_BYTES)).unwrap_or(&[]);
        let length = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    }

    /// The blocks of a kind, in the order in which they were made.
    pub(crate) fn of_kind(&self, kind: u32) -> impl Iterator<Item = UnitId> {
        self.blocks.iter().filter(move |(_, found)| **found == kind).map(|(unit, _)| *unit)
    }

    /// A word of 8 bytes in a block.
    pub(crate) fn long(&self, unit: UnitId, offset: usize) -> u64 {
        self.u64(unit as usize * UNIT + offset).unwrap_or(0)
    }

    /// A word of 4 bytes in a block.
    pub(crate) fn word(&self, unit: UnitId, offset: usize) -> u32 {
        self.u32(unit as usize * UNIT + offset).unwrap_or(0)
    }

    pub(crate) fn modules(&self) -> Vec<Module> {
        self.of_kind(kind::MODULE)
            .map(|unit| Module {
                start: self.long(unit, offset_of!(ModuleBlock, start)),
                end: self.long(unit, offset_of!(ModuleBlock, end)),
                offset: self.long(unit, offset_of!(ModuleBlock, offset)),
                path: self.text(unit as usize * UNIT + offset_of!(ModuleBlock, path)),
            })
            .collect()
    }
}

/// As much of a file is read although the file system says that less of it exists. Some file systems
/// compress, or count late.
const LITTLE: u64 = 1 << 24;

/// Returns the bytes of a file from its beginning to where its header says that nothing more is in
/// use.
fn in_use(path: &Path) -> io::Result<Vec<u8>> {
    // Opening a pipe must not wait for somebody who writes to it.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let status = file.metadata()?;
    if !status.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    read_to(&file, &mut bytes, size_of::<FileHeader>() as u64)?;
    let at = offset_of!(FileHeader, used);
    let used = bytes
        .get(at..at + 8)
        .map_or(0, |word| u64::from_ne_bytes(word.try_into().expect("a word has eight bytes")));
    // A file without a magic number tells what it is by its first bytes, whatever follows.
    let is_recording = bytes.starts_with(&MAGIC.to_ne_bytes());
    if is_recording {
        let exists = (status.blocks() * 512).max(LITTLE).min(MAX_FILE_BYTES as u64);
        read_to(&file, &mut bytes, used.min(exists))?;
    }
    Ok(bytes)
}

/// Reads on until `bytes` has this length, or the file ends.
fn read_to(file: &File, bytes: &mut Vec<u8>, length: u64) -> io::Result<()> {
    let missing = length.saturating_sub(bytes.len() as u64);
    file.take(missing).read_to_end(bytes)?;
    Ok(())
}

/// The least length of a block of `kind` in units; `None` for an unknown kind.
fn least_units(kind: u32) -> Option<usize> {
    let bytes = match kind {
        kind::NONE => UNIT,
        kind::LOCK => size_of::<LockBlock>(),
        kind::SHARD => size_of::<ShardBlock>(),
        kind::CONTENTION => size_of::<ContentionBlock>(),
        kind::SITE => size_of::<SiteBlock>(),
        kind::THREAD => size_of::<ThreadBlock>(),
        kind::CONDITION => size_of::<ConditionBlock>(),
        kind::MODULE => size_of::<ModuleBlock>(),
        kind::HISTOGRAM => size_of::<HistogramBlock>(),
        kind::CALLER => size_of::<CallerBlock>(),
        kind::BARRIER => size_of::<BarrierBlock>(),
        _ => return None,
    };
    Some(bytes / UNIT)
}
