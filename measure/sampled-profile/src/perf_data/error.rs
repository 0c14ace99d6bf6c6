//! What may be wrong with a perf.data file.

use std::io;

use kilocore_symbols::KernelSymbolsError;

/// Why a perf.data file has no profile to give. Whoever opened the file knows its name.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PerfDataError {
    /// The system cannot read it.
    #[error("it cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It begins otherwise.
    #[error("it is not a perf.data file: it does not begin with PERFILE2")]
    NotPerfData,
    /// It is of the first version of the format.
    #[error("it is of version 1 of the format, which perf wrote before 2012; record it again")]
    Version1,
    /// It breaks off, or makes no sense, before its first sample.
    #[error("byte {at}: {what}; record it again")]
    Header {
        /// Where, in bytes.
        at: u64,
        /// What was expected there.
        what: &'static str,
    },
    /// Its samples are in other files.
    #[error(
        "its samples are in other files of its directory; record without `--threads`, or give \
         what `perf script` prints of the directory"
    )]
    Directory,
    /// Nobody asked for the event there.
    #[error("it has no event {name}; it has {}", there.join(", "))]
    NoSuchEvent {
        /// The event that was asked for.
        name: String,
        /// Those that it has.
        there: Vec<String>,
    },
    /// The events cannot be understood.
    #[error("its events cannot be read: {0}")]
    Events(#[from] linux_perf_data::Error),
    /// More distinct stacks than can be kept.
    #[error("it has millions of distinct stacks; record for a shorter time or less often")]
    TooManyStacks,
    /// The kernel's symbols that were given are none.
    #[error("the kernel's symbols cannot be read: {0}")]
    Kallsyms(#[from] KernelSymbolsError),
}
