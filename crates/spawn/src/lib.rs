//! Running a program: its signals, cores, output and status.
//!
//! [`run`] starts a program and waits for its end. The program keeps this process's standard
//! input, output and error unless told otherwise; signals that ask this process to end while it
//! runs are passed on to it. Two things are special:
//!
//! * A [`Start::before_exec`] is called while the program's process exists but has not yet
//!   executed the program: whoever attaches a recorder to it loses none of the program.
//! * An [`Observer`] sees what the program writes, while that is passed on as it is.

mod cores;
mod gate;
mod host;
mod leftover;
mod observe;
mod signals;
mod start;
mod status;

pub use cores::{allowed_cores, confine, spare_cores};
pub use host::{boot_id, hostname, kernel_release, machine};
pub use kilocore_affinity::CpuId;
pub use observe::{Observer, Stream};
pub use start::{BeforeExec, End, NotStarted, Output, Start, run};
pub use status::shell_status;
