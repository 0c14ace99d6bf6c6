//! Why a program cannot be recorded.

use std::ffi::OsString;
use std::io;

use crate::WriteError;
use kilocore_linux::perf_events::TracepointError;

/// Why a program cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// No program was named.
    #[error("no program was named; give one behind `--`")]
    NoProgram,
    /// The program cannot be started.
    #[error("cannot start '{}': {source}", program.display())]
    Start {
        /// The program, as it was named.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Output(#[from] WriteError),
    /// The kernel's tracepoints cannot be had.
    #[error(
        "pages are recorded with the kernel's tracepoints, and those cannot be had here ({0}); run \
         this as root, in a container with `--cap-add SYS_ADMIN --cap-add PERFMON` or outside of it"
    )]
    Tracepoints(#[from] TracepointError),
    /// The kernel describes them in a way that is not known.
    #[error(
        "the kernel's tracepoint {place} has no {part} that is known; record on a kernel from 4.8 on"
    )]
    Unknown {
        /// The name of the kernel's tracepoint.
        place: &'static str,
        /// The part that it lacks, such as a field of its records.
        part: &'static str,
    },
    /// The kernel forbids users to watch whole cores.
    #[error(
        "the kernel lets only administrators watch all allocations ({source}; \
         kernel.perf_event_paranoid is {}); run this as root", paranoid.map_or("unknown".to_owned(), |it| it.to_string())
    )]
    Refused {
        /// The value of `kernel.perf_event_paranoid`; `None` if it cannot be read.
        paranoid: Option<i32>,
        /// What the system said.
        source: io::Error,
    },
    /// The kernel is built without events.
    #[error(
        "this kernel has no perf_event_open ({source}); one built with CONFIG_PERF_EVENTS is needed"
    )]
    NoPerfEvents {
        /// What the system said.
        source: io::Error,
    },
    /// There are too few file descriptors. Each core needs three.
    #[error("too few files may be open to watch {cores} cores ({source}); raise `ulimit -n`")]
    Files {
        /// How many cores there are.
        cores: usize,
        /// What the system said.
        source: io::Error,
    },
    /// There is no memory for a buffer.
    #[error(
        "no memory can be locked for the records of core {core} ({source}); raise `ulimit -l`, or \
         as root the sysctl kernel.perf_event_mlock_kb"
    )]
    Buffer {
        /// The number of the core.
        core: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The recorder itself cannot run.
    #[error(
        "the recorder cannot run: {0}; end some processes or raise `ulimit -u` and `ulimit -n`"
    )]
    Recorder(io::Error),
}
