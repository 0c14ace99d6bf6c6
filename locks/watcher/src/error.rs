//! What can be in the way of watching.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::ids::Pid;

/// Why a program cannot be watched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WatchError {
    /// There is no such process, or it has ended.
    #[error("there is no process {}; `pgrep -l NAME` finds the id of one", .0.0)]
    NoProcess(Pid),
    /// There is one, but `/proc` does not show it.
    #[error(
        "/proc does not show process {} to this user, as it is mounted with hidepid; run this as \
         the user of the process, or as root, or, as root, `mount -o remount,hidepid=0 /proc`",
        .0.0
    )]
    Hidden(Pid),
    /// It has ended, but its parent has not asked how.
    #[error(
        "process {} has ended, and only waits for its parent to ask how; there is nothing to watch",
        .0.0
    )]
    Ended(Pid),
    /// It is a thread.
    #[error("{} is a thread of process {}; give --pid {}", .thread.0, .process.0, .process.0)]
    Thread {
        /// The thread that was named.
        thread: Pid,
        /// The process that the thread belongs to.
        process: Pid,
    },
    /// It is whoever asks.
    #[error("process {} is this kilocore itself; give --pid the id of another program", .0.0)]
    Own(Pid),
    /// It is one of the kernel's.
    #[error(
        "process {} is a thread of the kernel, which executes no program; give --pid the id of a \
         program",
        .0.0
    )]
    Kernel(Pid),
    /// It belongs to somebody else.
    #[error("process {} belongs to another user; run this as that user, or as root", .0.0)]
    NotOurs(Pid),
    /// Its memory may not be read.
    #[error("{}", unreadable(*.pid, *.scope))]
    Memory {
        /// The process that was named.
        pid: Pid,
        /// `kernel.yama.ptrace_scope`, if this kernel has it.
        scope: Option<i32>,
    },
    /// It consists of 32-bit code.
    #[error(
        "process {} runs 32-bit code, whose registers are not read here; only 64-bit programs can \
         be watched",
        .0.0
    )]
    Code32(Pid),
    /// A file consists of it.
    #[error(
        "{} is 32-bit code, whose registers are not read here; only 64-bit programs can be watched: \
         measure a build for this machine",
        .0.display()
    )]
    File32(PathBuf),
    /// The kernel refuses events.
    #[error("{}", refusal(*.paranoid, source))]
    Events {
        /// `kernel.perf_event_paranoid`, if it could be read.
        paranoid: Option<i32>,
        /// What the kernel said.
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

impl WatchError {
    /// Whether the kernel says that this user may not.
    pub(crate) fn is_refusal(&self) -> bool {
        let Self::Events { source, .. } = self else { return false };
        matches!(source.raw_os_error(), Some(libc::EACCES | libc::EPERM))
    }
}

fn unreadable(pid: Pid, scope: Option<i32>) -> String {
    let pid = pid.0;
    match scope {
        Some(scope @ 1..) => format!(
            "the kernel lets nobody look into process {pid} who did not start it \
             (kernel.yama.ptrace_scope is {scope}); let `kilocore record locks --recorder watch` start the \
             program, run this as root, or, as root, `sysctl kernel.yama.ptrace_scope=0`"
        ),
        _ => format!(
            "the kernel lets this user not look into process {pid}, as if it had changed its user; \
             run this as root, in a container with `--cap-add SYS_PTRACE`"
        ),
    }
}

/// The setting by which ordinary users may watch their own programs.
const OWN: i32 = 2;

fn refusal(paranoid: Option<i32>, source: &io::Error) -> String {
    match (source.raw_os_error(), paranoid) {
        // The setting is there if and only if the kernel has them.
        (Some(libc::ENOSYS), None) => {
            "this kernel has no perf events (CONFIG_PERF_EVENTS); programs cannot be watched on it"
                .to_owned()
        }
        (Some(libc::EACCES | libc::EPERM), Some(paranoid)) if paranoid > OWN => format!(
            "the kernel refuses all perf events to this user (kernel.perf_event_paranoid is \
             {paranoid}). As root, `sysctl kernel.perf_event_paranoid={OWN}` lets you watch your \
             own programs, and `sysctl kernel.perf_event_paranoid=-1` lets you see all of them; or \
             run this as root, with `sudo`. For a group that root trusts to look into every process, \
             and for nobody else: `install -g GROUP -m 0750` a copy of kilocore, and `setcap \
             cap_perfmon,cap_sys_ptrace,cap_ipc_lock+ep` that copy"
        ),
        (Some(libc::EACCES | libc::EPERM | libc::ENOSYS), _) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_its_mend() {
        let events = |paranoid| {
            let source = io::Error::from_raw_os_error(libc::EACCES);
            WatchError::Events { paranoid, source }.to_string()
        };
        assert!(events(Some(3)).contains("sysctl kernel.perf_event_paranoid=2"));
        // Whoever may run a file with these rights may look into everybody's processes.
        assert!(events(Some(3)).contains("install -g GROUP -m 0750"));
        assert!(events(Some(2)).contains("--security-opt seccomp=unconfined"));
        let without = |paranoid| {
            let source = io::Error::from_raw_os_error(libc::ENOSYS);
            WatchError::Events { paranoid, source }.to_string()
        };
        assert!(without(None).contains("CONFIG_PERF_EVENTS"));
        assert!(without(Some(2)).contains("--security-opt seccomp=unconfined"));
        let memory = |scope| WatchError::Memory { pid: Pid(7), scope }.to_string();
        assert!(memory(Some(1)).contains("sysctl kernel.yama.ptrace_scope=0"));
        assert!(memory(None).contains("--cap-add SYS_PTRACE"));
    }
}
