//! Waiting for the program, and for descendants of it that lost their parents.
//!
//! When the parent of a daemon ends, a process that watches the program from outside loses sight of
//! the daemon, unless the daemon becomes its child. Such a child must be waited for as soon as it
//! ends. A program that asks whether its daemon is still there would otherwise find a zombie.

use std::io;
use std::mem;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::gate;

/// Sums over the children that have ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// The moment of the program's end, in nanoseconds of `CLOCK_MONOTONIC`.
    pub(crate) at: u64,
    /// Processor time in user space.
    pub(crate) user: Duration,
    /// Processor time in the kernel.
    pub(crate) system: Duration,
    /// Switches to another thread by the thread's own will.
    pub(crate) voluntary_switches: u64,
    /// The most memory that one of them took, in bytes.
    pub(crate) most_memory: u64,
}

impl Ended {
    fn add(&mut self, usage: &libc::rusage) {
        self.user += duration(usage.ru_utime);
        self.system += duration(usage.ru_stime);
        self.voluntary_switches += u64::try_from(usage.ru_nvcsw).unwrap_or(0);
        let kib = u64::try_from(usage.ru_maxrss).unwrap_or(0);
        self.most_memory = self.most_memory.max(kib.saturating_mul(1024));
    }
}

/// Says which process becomes the parent of orphans, until this is dropped.
#[derive(Debug)]
pub(crate) struct Orphans {
    adopted: bool,
}

impl Orphans {
    /// From now on it is this process, if that is `wanted`.
    pub(crate) fn adopt(wanted: bool) -> Self {
        Self { adopted: wanted && become_subreaper(true) }
    }

    /// Waits for the program's end. The process id stays the program's.
    pub(crate) fn wait(&self, pid: libc::pid_t) -> Ended {
        let mut ended = Ended::default();
        loop {
            let (kind, id) =
                if self.adopted { (libc::P_ALL, 0) } else { (libc::P_PID, pid as libc::id_t) };
            match next_end(kind, id, 0) {
                Ok(child) if child == pid => break,
                // Nothing, or somebody else has waited for it meanwhile.
                Ok(child) => drop(take(child, &mut ended)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        ended.at = gate::monotonic_ns();
        ended
    }

    /// Takes the status of the program, which has ended. The process id may be used anew from then
    /// on.
    pub(crate) fn reap(&self, pid: libc::pid_t, ended: &mut Ended) -> io::Result<ExitStatus> {
        let status = take(pid, ended)?;
        if !self.adopted {
            return Ok(status);
        }
        // Those whose parent the program was, and that have ended as well.
        loop {
            match next_end(libc::P_ALL, 0, libc::WNOHANG) {
                Ok(child) if child > 0 => drop(take(child, ended)),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => return Ok(status),
            }
        }
    }
}

impl Drop for Orphans {
    fn drop(&mut self) {
        if self.adopted {
            become_subreaper(false);
        }
    }
}

fn become_subreaper(on: bool) -> bool {
    // SAFETY: integers only.
    unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, libc::c_ulong::from(on), 0, 0, 0) == 0 }
}

/// Returns the next child that ends, which must still be waited for. Returns 0 if none has ended
/// yet and `options` say not to wait.
fn next_end(kind: libc::idtype_t, id: libc::id_t, options: libc::c_int) -> io::Result<libc::pid_t> {
    // SAFETY: zero bytes are a valid siginfo.
    let mut info: libc::siginfo_t = unsafe { mem::zeroed() };
    let options = options | libc::WEXITED | libc::WNOWAIT;
    // SAFETY: `info` is ours to be written.
    if unsafe { libc::waitid(kind, id, &raw mut info, options) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: waitid fills the fields of a child's end in, or leaves zeroes.
    Ok(unsafe { info.si_pid() })
}

/// Waits for a child that has ended.
fn take(pid: libc::pid_t, ended: &mut Ended) -> io::Result<ExitStatus> {
    let mut status = 0;
    // SAFETY: zero bytes are a valid rusage.
    let mut usage: libc::rusage = unsafe { mem::zeroed() };
    loop {
        // SAFETY: both are ours to be written.
        if unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) } == pid {
            ended.add(&usage);
            return Ok(ExitStatus::from_raw(status));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(time.tv_sec.max(0) as u64)
        + Duration::from_micros(time.tv_usec.max(0) as u64)
}
