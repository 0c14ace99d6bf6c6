//! Reads a profile in any of the known formats.
//!
//! The beginning of the file, not its name, tells the format ([`detect`]). A file that gzip
//! compressed is unpacked first. All readers go through the file once from front to back, so a pipe
//! works as well. They fill one table of functions and one tree of contexts ([`names`]). Entries
//! that they cannot read are left out, counted and reported ([`skipped`]).

mod detect;
mod error;
mod folded;
mod foreign;
mod gperftools;
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

use crate::{Format, Remark, SampledProfile, idle, perf_data};

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
    let mut profile = any_format(path, &task, progress)?;
    idle::leave_out(&mut profile);
    Ok(profile)
}

/// Looks at the beginning of a file, whether it is that of a profile of some format. What follows may still
/// be damaged.
///
/// # Errors
/// If it is not. The message names the file, what it is if that is known, and the remedy.
pub fn recognize(path: &Path) -> Result<(), ReadError> {
    let options = Options::default();
    let task = Task { file: path, options: &options };
    let mut unseen = |_: Progress| {};
    let mut source = Source::open(path, &mut unseen).map_err(|source| task.failed(source))?;
    detect::detect(&mut source, &task).map(drop)
}

/// Reads all that a file has.
fn any_format(
    path: &Path,
    task: &Task<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<SampledProfile, ReadError> {
    let mut source = Source::open(path, &mut *progress).map_err(|source| task.failed(source))?;
    match detect::detect(&mut source, task)? {
        Detected::PerfData => {
            let (file, broken) = seekable(path, source).map_err(|source| task.failed(source))?;
            let mut profile = perf_data(file, task, progress)?;
            // If the compressed file ends too early, that is a better message than where its
            // content ends.
            if let Some(BrokenOff { at, what }) = broken {
                profile.remarks.retain(|remark| !matches!(remark, Remark::Truncated { .. }));
                profile.remarks.push(Remark::Truncated { at, what });
            }
            Ok(profile)
        }
        Detected::Text(Format::Folded) => folded::read(source, task),
        Detected::Text(_) => script::read(source, task),
        Detected::Pprof => pprof::read(source, task),
        Detected::GperftoolsCpu(words) => gperftools::cpu::read(source, words, task),
        Detected::Contention => gperftools::contention::read(source, task),
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
