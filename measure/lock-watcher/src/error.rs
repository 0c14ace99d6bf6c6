//! What can be in the way of watching.

use std::io;

use thiserror::Error;

use crate::ids::Pid;

/// Why a program cannot be watched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WatchError {
    /// There is no such process, or it has ended.
    #[error("there is no process {}; `pgrep -l NAME` finds the id of one", .0.0)]
    NoProcess(Pid),
    /// It belongs to somebody else.
    #[error("process {} belongs to another user; run this as that user, or as root", .0.0)]
    NotOurs(Pid),
    /// It consists of 32-bit code.
    #[error(
        "process {} runs 32-bit code, whose registers are not read here; only 64-bit programs can \
         be watched",
        .0.0
    )]
    Code32(Pid),
    /// The kernel refuses events.
    #[error("{}", refusal(*.paranoid, source))]
    Events {
        /// `kernel.perf_event_paranoid`, if it could be read.
        paranoid: Option<i32>,
        /// What it said.
        source: io::Error,
    },
    /// This machine's instructions are not understood.
    #[error("programs can be watched on x86-64 only, and this is {}", std::env::consts::ARCH)]
    Architecture,
    /// A buffer for events cannot be had.
    #[error(
        "no buffer for events: {0}; raise `ulimit -l` or the sysctl kernel.perf_event_mlock_kb"
    )]
    Buffer(io::Error),
}

fn refusal(paranoid: Option<i32>, source: &io::Error) -> String {
    match (source.raw_os_error(), paranoid) {
        (Some(libc::ENOSYS), _) => {
            "this kernel has no perf events (CONFIG_PERF_EVENTS); programs cannot be watched on it"
                .to_owned()
        }
        (Some(libc::EACCES | libc::EPERM), Some(paranoid)) if paranoid > -1 => format!(
            "watching needs events of whole cores, which the kernel refuses \
             (kernel.perf_event_paranoid is {paranoid}); run this as root, or, as root, `sysctl \
             kernel.perf_event_paranoid=-1`"
        ),
        (Some(libc::EACCES | libc::EPERM), _) => {
            "the kernel refuses perf events although its settings allow them, as it does where \
             seccomp filters them in a container; allow perf_event_open there (for example, \
             `--cap-add PERFMON --security-opt seccomp=unconfined`), or run this outside of it"
                .to_owned()
        }
        (Some(libc::EMFILE | libc::ENFILE), _) => {
            "there are not enough descriptors for the events; raise `ulimit -n`".to_owned()
        }
        _ => format!("the kernel refuses perf events: {source}"),
    }
}
