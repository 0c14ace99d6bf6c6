//! Why a profile cannot be read.

use std::io;
use std::path::{Path, PathBuf};

use crate::Format;
use crate::perf_data::PerfDataError;

/// Why a profile cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be opened, or the system cannot read it.
    #[error("{}: {source}; name a profile that exists and may be read", name(file))]
    Read {
        /// The file that was read.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The compressed file breaks off before anything in it could be read.
    #[error(
        "{}: byte {at}: {what}, and nothing can be read before that; copy or compress the profile \
         again",
        name(file)
    )]
    Damaged {
        /// The file that was read.
        file: PathBuf,
        /// Where reading ended, in bytes.
        at: u64,
        /// What could not be read.
        what: String,
    },
    /// The file is empty.
    #[error(
        "{}: the file is empty; record again, and let the recording end before you read it",
        name(file)
    )]
    Empty {
        /// The file that was read.
        file: PathBuf,
    },
    /// The file has none of the known formats.
    #[error(
        "{}: {what}, so this is no profile that can be read; give what `perf record` writes \
         or `perf script` prints, folded stacks (`a;b;c 12`), a pprof profile, or a CPU or contention \
         profile of gperftools",
        name(file)
    )]
    Unknown {
        /// The file that was read.
        file: PathBuf,
        /// What the file begins with.
        what: String,
    },
    /// The file has a format that has to be converted first.
    #[error("{}: this is {what}; {mend}", name(file))]
    Foreign {
        /// The file that was read.
        file: PathBuf,
        /// What the file is instead.
        what: &'static str,
        /// How it becomes a profile.
        mend: &'static str,
    },
    /// Too little of the file could be read to take it for a profile.
    #[error(
        "{}:{entry}: {what}; {unread} entries like this cannot be read as {format} and {read} can, so \
         this is no whole profile: {mend}, or convert it to folded stacks (`a;b;c 12`) or pprof with a \
         tool of those that wrote it",
        name(file)
    )]
    MostlyUnreadable {
        /// The file that was read.
        file: PathBuf,
        /// What it was taken for.
        format: Format,
        /// How many entries could be read.
        read: u64,
        /// How many could not.
        unread: u64,
        /// The first entry that could not be read: its line.
        entry: u64,
        /// What is wrong with it.
        what: String,
        /// What the user can do about it.
        mend: &'static str,
    },
    /// A program other than gzip compressed the file.
    #[error("{}: compressed by {program}; unpack it first: `{program} -d`", name(file))]
    Compressed {
        /// The file that was read.
        file: PathBuf,
        /// The program that unpacks such files.
        program: &'static str,
    },
    /// The file is a recording of perf without a usable profile.
    #[error("{}: {source}", name(file))]
    PerfData {
        /// The file that was read.
        file: PathBuf,
        /// What is wrong with it.
        source: PerfDataError,
    },
    /// The format is known, but not a single entry could be read.
    #[error(
        "{}:{entry}: {what}; nothing in this file could be read as {format}, so {mend}",
        name(file)
    )]
    Nothing {
        /// The file that was read.
        file: PathBuf,
        /// What it was taken for.
        format: Format,
        /// The first entry that could not be read: its line, or its number in a binary file.
        entry: u64,
        /// What is wrong with it.
        what: String,
        /// What the user can do about it.
        mend: &'static str,
    },
    /// Each line has two counts, so the file is a difference of two profiles.
    #[error(
        "{}:{line}: a stack with two numbers: this is the difference of two profiles; \
         give each of the two as a file of its own",
        name(file)
    )]
    Differential {
        /// The file that was read.
        file: PathBuf,
        /// The first such line, from 1.
        line: u64,
    },
    /// The event that was asked for is not in the profile.
    #[error("{}: no samples of event {event:?}; there are: {}", name(file), there.join(", "))]
    NoSuchEvent {
        /// The file that was read.
        file: PathBuf,
        /// What was asked for.
        event: String,
        /// What the file has.
        there: Vec<String>,
    },
    /// The profile has samples, but none of them says where it fell.
    #[error(
        "{}: {samples} samples, none with a stack; record with `perf record -g`, and print all \
         of `perf script`'s default fields",
        name(file)
    )]
    NoStacks {
        /// The file that was read.
        file: PathBuf,
        /// How many samples are in the file.
        samples: u64,
    },
    /// The profile is larger than any useful one.
    #[error("{}: more than {limit} {what}; record for a shorter time or less often", name(file))]
    TooLarge {
        /// The file that was read.
        file: PathBuf,
        /// Of what there are too many.
        what: &'static str,
        /// How many would be read.
        limit: usize,
    },
}

/// What messages call the file.
fn name(file: &Path) -> String {
    if file == Path::new("-") { "standard input".to_owned() } else { file.display().to_string() }
}
