//! The errors of reading a perf.data file.

use std::io;

use kilocore_symbols::KernelSymbolsError;

/// Why no profile can be read from a perf.data file. The caller, which opened the file, adds its
/// name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfDataError {
    /// The system cannot read it.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The file does not begin as a perf.data file does.
    #[error("it is not a perf.data file: it does not begin with PERFILE2")]
    NotPerfData,
    /// The file is of the first version of the format.
    #[error("it is of version 1 of the format, which perf wrote before 2012; record it again")]
    Version1,
    /// The file breaks off, or makes no sense, before its first sample.
    #[error("byte {at}: {what}; record it again")]
    Header {
        /// The offset in the file, in bytes.
        at: u64,
        /// What was expected there.
        what: &'static str,
    },
    /// The samples are in other files.
    #[error(
        "its samples are in other files of its directory; record without `--threads`, or give \
         what `perf script` prints of the directory"
    )]
    Directory,
    /// The file has no event of the name that was asked for.
    #[error("it has no event {name}; it has {}", there.join(", "))]
    NoSuchEvent {
        /// The event that was asked for.
        name: String,
        /// The events that the file has.
        there: Vec<String>,
    },
    /// The events cannot be understood.
    #[error("its events cannot be read: {0}")]
    Events(#[from] linux_perf_data::Error),
    /// The file has more distinct stacks than are kept.
    #[error("it has millions of distinct stacks; record for a shorter time or less often")]
    TooManyStacks,
    /// The file given for the kernel's symbols could not be read as such.
    #[error("the kernel's symbols cannot be read: {0}")]
    Kallsyms(#[from] KernelSymbolsError),
}
