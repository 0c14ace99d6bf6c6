//! Why a program cannot be recorded.

use std::io;
use std::process::ExitStatus;

use kilocore_qemu::QemuError;
use kilocore_references::ring::Malformed;

/// Why a program cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// No program was named.
    #[error("no program was named; give one behind `--`")]
    NoProgram,
    /// QEMU cannot run it, or is not there.
    #[error(transparent)]
    Qemu(#[from] QemuError),
    /// QEMU ended before the plugin had begun.
    #[error(
        "QEMU did not begin with the program ({status}); what it said is above. The plugin is for QEMU \
         from version 7.2 on"
    )]
    NotBegun {
        /// How QEMU ended.
        status: ExitStatus,
    },
    /// There is no memory for the rings.
    #[error("no memory can be shared with the program ({0}); make rings fewer or smaller")]
    Memory(io::Error),
    /// The recorder itself cannot run.
    #[error(
        "the recorder cannot run: {0}; end some processes or raise `ulimit -u` and `ulimit -n`"
    )]
    Recorder(io::Error),
}

/// Why a stream ends too early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The program wrote into its rings.
    #[error("{0}; the program has damaged what the plugin recorded")]
    Damaged(#[from] Malformed),
}
