//! Why a program cannot be emulated.

use std::io;
use std::process::ExitStatus;

use kilocore_emulation_orders::ReportError;
use kilocore_qemu::QemuError;

/// Why a program cannot be emulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// No program was named.
    #[error("no program was named; give one behind `--`")]
    NoProgram,
    /// QEMU cannot run it, or is not there.
    #[error(transparent)]
    Qemu(#[from] QemuError),
    /// The files between the program and its starter cannot be made or read.
    #[error("cannot keep what the program is asked for: {0}; TMPDIR names a folder with room")]
    Files(io::Error),
    /// The program ended without a report.
    #[error(
        "the program ended without a report, with {status}: a signal ended it, or it ended itself in another way \
         than by `exit`"
    )]
    NoReport {
        /// How it ended.
        status: ExitStatus,
    },
    /// The report is not to be believed.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The program was not emulated to its end.
    #[error("on {cores} simulated cores: {why}")]
    Failed {
        /// On how many cores.
        cores: u32,
        /// Why.
        why: String,
    },
}
