//! Why a program cannot be emulated.

use std::ffi::OsString;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use kilocore_emulation_orders::{Place, ReportError};
use kilocore_points::Elsewhere;
use kilocore_process::status_of_bad_end;
use kilocore_qemu::QemuError;

use crate::words::{duration, number_of};

/// Why a program cannot be emulated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulateError {
    /// Another process emulates it.
    #[error(transparent)]
    Elsewhere(#[from] Elsewhere),
    /// No program was named.
    #[error("no program was named; give one behind `--`")]
    NoProgram,
    /// QEMU cannot run it, or is not there.
    #[error(transparent)]
    Qemu(#[from] QemuError),
    /// The program did not end as it should.
    #[error("the program was interrupted or failed, with status {}, {during}; nothing is shown", status_of_bad_end(*status))]
    Ended {
        /// How it ended.
        status: ExitStatus,
        /// Where it ran: `while its instructions were timed`.
        during: &'static str,
    },
    /// Somebody asked this process to end, and the emulation was ended.
    #[error("the emulation was interrupted by signal {signal}; nothing is shown")]
    Interrupted {
        /// The signal.
        signal: i32,
    },
    /// The program is too short for its instructions to be timed.
    #[error(
        "the program computes for {} on one core, too short to time its instructions, which takes {} at least; give \
         it a larger input, or the number of cycles itself, as in --cycles-per-instruction 0.8",
        duration(*computed),
        duration(*least)
    )]
    Short {
        /// How long it computes, in user mode.
        computed: Duration,
        /// How long it must compute.
        least: Duration,
    },
    /// A variable of the program's environment cannot be given to QEMU.
    #[error("{}={}: QEMU takes a comma for the end of a variable; give what it names another name", name.display(), value.display())]
    Comma {
        /// Its name.
        name: OsString,
        /// Its value.
        value: OsString,
    },
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
    /// A part of the run was asked for that begins or ends at a function which is not there.
    #[error("{option} {place}: {why}")]
    NoFunction {
        /// The option that asks for it.
        option: &'static str,
        /// The place.
        place: Place,
        /// What there is instead.
        why: String,
    },
    /// The run did not come to where the part begins or ends that was asked for.
    #[error("{option} {place} was not reached: {why}")]
    NotReached {
        /// The option that asks for it.
        option: &'static str,
        /// The place.
        place: Place,
        /// What is known of it.
        why: String,
    },
    /// The part that was asked for ended before it began.
    #[error(
        "--until {until} came before --from {from}, so that nothing is between them; let --until name what comes \
         later, or leave it out"
    )]
    Backwards {
        /// Where it was to begin.
        from: Place,
        /// Where it was to end.
        until: Place,
    },
    /// The program was not emulated to its end.
    #[error("on {}: {why}", number_of(*cores, "simulated core"))]
    Failed {
        /// On how many cores.
        cores: u32,
        /// Why.
        why: String,
    },
}
