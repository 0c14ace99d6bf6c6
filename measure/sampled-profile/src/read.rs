//! Reads a profile in any of the known formats.
//!
//! The beginning of the file, not its name, tells the format ([`detect`]). A file that gzip
//! compressed is unpacked first. All readers go through the file once from front to back, so a pipe
//! works as well. They fill one table of functions and one tree of contexts ([`names`]). Entries
//! that they cannot read are left out, counted and reported ([`skipped`]).

mod detect;
mod error;
mod folded;
mod lines;
mod names;
mod origin;
mod pprof;
mod script;
mod skipped;
mod source;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use detect::Detected;
pub use error::ReadError;
use source::{BrokenOff, Source};

use crate::{Format, Remark, SampledProfile, perf_data};

/// How to read a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Which event to take if there are several, by its name in the profile, with its modifiers or
    /// without them. `None` takes the event with the most samples, and in a pprof profile processor
    /// time. Formats without events ignore this option.
    pub event: Option<String>,
    /// The part of a perf.data file to take. Samples before the first time, and samples at or after
    /// the second, are left out. Times are nanoseconds of the clock that the recording used. Other
    /// formats ignore this option.
    pub window: Option<(u64, u64)>,
    /// The symbols of the kernel under which a perf.data file was recorded: a copy of its
    /// `/proc/kallsyms`, or its `System.map`. `None` takes those of the running kernel, if it is
    /// the same build.
    pub kallsyms: Option<PathBuf>,
    /// How many nanoseconds of processor time a sample stands for if the profile only counts
    /// samples.
    pub nanoseconds_per_count: Option<u64>,
    /// How much memory a profile may take.
    pub limits: Limits,
}

/// Bounds that no useful profile reaches. They keep untrusted files from taking all memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a line; a longer one is left out.
    pub line_bytes: usize,
    /// Functions of a stack; a deeper one is left out.
    pub depth: usize,
    /// Calling contexts of all events together; with more, the file is refused.
    pub contexts: usize,
    /// Bytes of the names of all functions together; with more, the file is refused.
    pub name_bytes: usize,
    /// Bytes of a pprof profile, unpacked; a larger one is refused.
    pub message_bytes: usize,
    /// Events of a file; samples of further ones are left out.
    pub events: usize,
}

impl Limits {
    /// Names of C++ functions reach some ten thousand bytes.
    pub const LINE_BYTES: usize = 1 << 20;
    /// `perf record` keeps 127 by default.
    pub const DEPTH: usize = 1 << 16;
    /// Some two gigabytes of memory.
    pub const CONTEXTS: usize = 1 << 24;
    /// Names of a million functions; as text they can take some times that.
    pub const NAME_BYTES: usize = 1 << 27;
    /// Profiles of large programs have some ten million. Its tables can take some times that.
    pub const MESSAGE_BYTES: usize = 1 << 27;
    /// More events than a processor counts at once.
    pub const EVENTS: usize = 64;
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            line_bytes: Self::LINE_BYTES,
            depth: Self::DEPTH,
            contexts: Self::CONTEXTS,
            name_bytes: Self::NAME_BYTES,
            message_bytes: Self::MESSAGE_BYTES,
            events: Self::EVENTS,
        }
    }
}

/// How far reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file that were read, compressed ones if it is compressed.
    pub read: u64,
    /// The size of the file in bytes; absent for a pipe.
    pub total: Option<u64>,
}

/// What is being read, and how: the same for all readers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    /// The file's name, for messages.
    pub(crate) file: &'a Path,
    pub(crate) options: &'a Options,
}

impl Task<'_> {
    /// The error for bytes that could not be fetched.
    pub(crate) fn failed(&self, source: io::Error) -> ReadError {
        let file = self.file.to_owned();
        match BrokenOff::of(&source).cloned() {
            Some(BrokenOff { at, what }) => ReadError::Damaged { file, at, what },
            None => ReadError::Read { file, source },
        }
    }

    /// The error for a limit that was reached.
    pub(crate) fn too_large(&self, what: &'static str, limit: usize) -> ReadError {
        ReadError::TooLarge { file: self.file.to_owned(), what, limit }
    }
}

/// Reads a profile; the path `-` is standard input. After every few hundred thousand bytes,
/// `progress` is told how far reading has come.
///
/// # Errors
/// If the file cannot be read, is no profile, or contains nothing readable. The message names
/// the file, the place in it and the remedy.
pub fn read(
    path: &Path,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<SampledProfile, ReadError> {
    let task = Task { file: path, options };
    let mut source = Source::open(path, &mut *progress).map_err(|source| task.failed(source))?;
    match detect::detect(&mut source, &task)? {
        Detected::PerfData => {
            let (file, broken) = seekable(path, source).map_err(|source| task.failed(source))?;
            let mut profile = perf_data(file, &task, progress)?;
            // If the compressed file ends too early, that is a better message than where its
            // content ends.
            if let Some(BrokenOff { at, what }) = broken {
                profile.remarks.retain(|remark| !matches!(remark, Remark::Truncated { .. }));
                profile.remarks.push(Remark::Truncated { at, what });
            }
            Ok(profile)
        }
        Detected::Text(Format::Folded) => folded::read(source, &task),
        Detected::Text(_) => script::read(source, &task),
        Detected::Pprof => pprof::read(source, &task),
    }
}

/// The most bytes that are unpacked or taken from a pipe into a temporary file.
const LARGEST_COPY: u64 = 1 << 32;

/// Returns the file itself if it is seekable and not compressed, else a temporary copy of its
/// content. The second result tells where the content broke off, if it did.
fn seekable(path: &Path, source: Source<'_>) -> io::Result<(File, Option<BrokenOff>)> {
    let mut start = Vec::new();
    if path != Path::new("-") && path.metadata()?.is_file() {
        let mut file = File::open(path)?;
        file.by_ref().take(PERF_MAGIC as u64).read_to_end(&mut start)?;
        // Otherwise the file is compressed.
        if perf_data::is_perf_data(&start) {
            return Ok((file, None));
        }
    }
    let mut copy = tempfile::tempfile()?;
    match io::copy(&mut source.take(LARGEST_COPY), &mut copy) {
        Ok(LARGEST_COPY) => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too large")),
        Ok(_) => Ok((copy, None)),
        Err(error) => match BrokenOff::of(&error) {
            Some(broken) => Ok((copy, Some(broken.clone()))),
            None => Err(error),
        },
    }
}

/// The number of bytes that identify a perf.data file.
const PERF_MAGIC: usize = 8;

/// Reads a perf.data file.
fn perf_data(
    file: File,
    task: &Task<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<SampledProfile, ReadError> {
    let options = perf_data::Options {
        event: task.options.event.clone(),
        window: task.options.window,
        kallsyms: task.options.kallsyms.clone(),
        ..perf_data::Options::default()
    };
    let mut told = |now: perf_data::Progress| {
        progress(Progress { read: now.read, total: Some(now.length) });
    };
    perf_data::read(file, &options, &mut told)
        .map_err(|source| ReadError::PerfData { file: task.file.to_owned(), source })
}
