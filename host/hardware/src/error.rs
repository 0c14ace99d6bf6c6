//! What can prevent a measurement.

use thiserror::Error;

/// Why this host could not be described.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// A file of the system is missing or cannot be read.
    #[error(
        "{path}: {reason}; measuring needs Linux with /sys mounted: start from a file of `kilocore list machines NAME` instead"
    )]
    Unreadable {
        /// The file of the system's.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A file of the system does not hold what Linux documents.
    #[error(
        "{path}: `{text}` is not {expected}; start from a file of `kilocore list machines NAME` instead"
    )]
    Malformed {
        /// The file of the system's.
        path: String,
        /// The text that was not understood.
        text: String,
        /// What was expected there.
        expected: &'static str,
    },
    /// A thread could not be pinned to a processor.
    #[error(
        "cannot run on processor {cpu}: {reason}; take the processor out of the set with `taskset`"
    )]
    Pin {
        /// The processor's number in Linux.
        cpu: u32,
        /// What the system said.
        reason: String,
    },
    /// No processor that the process may use is online.
    #[error(
        "no processor that this process may use is listed as online; widen its set with `taskset`"
    )]
    NoProcessor,
    /// There was not enough memory for a buffer.
    #[error("cannot get {mib} MiB of memory to measure with: {reason}")]
    Memory {
        /// Its size in MiB.
        mib: usize,
        /// What the system said.
        reason: String,
    },
    /// The processors were too busy with other programs for a single exchange in the time allowed.
    #[error("processors {a} and {b} were too busy to measure: try again on a quieter machine")]
    Busy {
        /// One processor's number in Linux.
        a: u32,
        /// The number in Linux of the processor that the line was exchanged with.
        b: u32,
    },
    /// What was measured does not make a machine.
    #[error(transparent)]
    Absurd(#[from] kilocore_machine::MachineError),
}
