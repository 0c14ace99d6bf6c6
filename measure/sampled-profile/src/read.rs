//! Reading a profile in whatever format it is.
//!
//! The format is found by what the file begins with and not by its name ([`detect`]). What is
//! compressed by gzip is unwrapped first. All readers go through the file once and from front to
//! back, so that a pipe will do; they fill one table of functions and one tree of contexts
//! ([`names`]), and what they cannot read they leave out, count and report ([`skipped`]).

mod detect;
mod error;
mod folded;
mod lines;
mod names;
mod options;
mod origin;
mod pprof;
mod progress;
mod script;
mod skipped;
mod source;
mod task;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use detect::Detected;
pub use error::ReadError;
pub use options::{Limits, Options};
pub use progress::Progress;
use source::{BrokenOff, Source};
pub(crate) use task::Task;

use crate::{Format, Remark, SampledProfile, perf_data};

/// Reads a profile; `-` is standard input. `progress` is told how far it is, at every few hundred
/// thousand bytes.
///
/// # Errors
/// If the file cannot be read, is no profile, or nothing in it could be read. The message names
/// the file, the place in it and the mend.
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
            // Where the file itself ends too early says more than where its content does.
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

/// The most that is unpacked or taken from a pipe, in bytes: it goes where temporary files go.
const LARGEST_COPY: u64 = 1 << 32;

/// The file itself if it can be read from anywhere, else a copy of what is in it, and where that
/// broke off.
fn seekable(path: &Path, source: Source<'_>) -> io::Result<(File, Option<BrokenOff>)> {
    let mut start = Vec::new();
    if path != Path::new("-") && path.metadata()?.is_file() {
        let mut file = File::open(path)?;
        file.by_ref().take(PERF_MAGIC as u64).read_to_end(&mut start)?;
        // Else it is compressed.
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

/// As many bytes as tell a perf.data file.
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
