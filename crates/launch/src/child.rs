//! Starting the program, passing signals on to it, and waiting for it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, PoisonError};

/// Signals that are passed on.
const FORWARDED: [libc::c_int; 4] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT];

/// The program that is running, 0 if there is none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// The first signal that came while no program was there to take it, 0 for none.
static PENDING: AtomicI32 = AtomicI32::new(0);

/// Whether a signal that is passed on came while the last program ran.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Held while handlers are in place: they are the process's, so one program at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The handler. What the terminal sends goes to the whole foreground process group, so that the
/// program has it already: a copy would be one too many, and many programs take a second Ctrl-C
/// as an order to give up at once.
extern "C" fn on_signal(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    INTERRUPTED.store(true, Ordering::SeqCst);
    // SAFETY: with SA_SIGINFO the kernel hands over a valid siginfo.
    let by_terminal = unsafe { (*info).si_code } == libc::SI_KERNEL;
    if !by_terminal || RUNNING.load(Ordering::SeqCst) == 0 {
        forward(signal);
    }
}

/// Passes a signal on, or keeps it for the program that is about to start.
fn forward(signal: libc::c_int) {
    let pid = RUNNING.load(Ordering::SeqCst);
    if pid > 0 {
        // SAFETY: kill is async-signal-safe; the program is not waited for yet, so the id is its.
        unsafe { libc::kill(pid, signal) };
    } else {
        let _ = PENDING.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst);
    }
}

/// Handlers that pass signals on; puts the former ones back when dropped.
struct Forwarding {
    former: Vec<(libc::c_int, libc::sigaction)>,
}

impl Forwarding {
    fn begin() -> Self {
        RUNNING.store(0, Ordering::SeqCst);
        PENDING.store(0, Ordering::SeqCst);
        INTERRUPTED.store(false, Ordering::SeqCst);
        let mut former = Vec::new();
        for signal in FORWARDED {
            // SAFETY: zero bytes are a valid sigaction.
            let (mut action, mut old): (libc::sigaction, libc::sigaction) =
                unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                on_signal;
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
            // SAFETY: both structures are ours; the handler only uses atomics and kill.
            let failed = unsafe { libc::sigaction(signal, &raw const action, &raw mut old) } != 0;
            if failed {
                continue;
            }
            if old.sa_sigaction == libc::SIG_IGN {
                // What is ignored here is ignored by the program, too (nohup).
                // SAFETY: the action just read.
                unsafe { libc::sigaction(signal, &raw const old, core::ptr::null_mut()) };
            } else {
                former.push((signal, old));
            }
        }
        Self { former }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        for (signal, old) in &self.former {
            // SAFETY: the action that was in force before.
            unsafe { libc::sigaction(*signal, old, core::ptr::null_mut()) };
        }
    }
}

/// How to start the program.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// The program and its arguments.
    pub(crate) command: &'a [OsString],
    /// The library to put under it.
    pub(crate) library: &'a Path,
    /// Where the library records.
    pub(crate) recordings: &'a Path,
    /// The only core it may use, if there is to be one only; its output then goes nowhere and
    /// its input is empty.
    pub(crate) confined_to: Option<usize>,
    /// Whether its standard output goes to standard error.
    pub(crate) output_to_stderr: bool,
}

/// The value of `LD_PRELOAD` that loads `library` after what is preloaded already.
fn preload(existing: Option<&OsStr>, library: &Path) -> OsString {
    let mut value = existing.unwrap_or_default().to_owned();
    if !value.is_empty() {
        value.push(":");
    }
    value.push(library);
    value
}

/// How a program ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// What the system says.
    pub(crate) status: ExitStatus,
    /// Whether somebody asked it to end: it may have ended as if all were well all the same.
    pub(crate) interrupted: bool,
}

/// Runs the program to its end. An error means that it could not be started.
pub(crate) fn run(start: &Start<'_>) -> io::Result<End> {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (program, arguments) = start
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no program was named"))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env("LD_PRELOAD", preload(std::env::var_os("LD_PRELOAD").as_deref(), start.library))
        .env("KILOCORE_MEASURE_DIR", start.recordings);
    if start.output_to_stderr {
        command.stdout(io::stderr().as_fd().try_clone_to_owned()?);
    }
    if let Some(core) = start.confined_to {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: between fork and exec, calls only what is async-signal-safe and allocates
        // nothing.
        unsafe { command.pre_exec(move || confine(core)) };
    }
    let forwarding = Forwarding::begin();
    let mut child = command.spawn()?;
    RUNNING.store(child.id() as i32, Ordering::SeqCst);
    let pending = PENDING.swap(0, Ordering::SeqCst);
    if pending != 0 {
        forward(pending);
    }
    let status = wait(&mut child);
    drop(forwarding);
    Ok(End { status: status?, interrupted: INTERRUPTED.load(Ordering::SeqCst) })
}

/// Waits for the program's end, and only then lets go of its process id.
fn wait(child: &mut Child) -> io::Result<ExitStatus> {
    loop {
        // SAFETY: zero bytes are a valid siginfo.
        let mut info: libc::siginfo_t = unsafe { core::mem::zeroed() };
        // SAFETY: `info` is ours; WNOWAIT leaves the child to be waited for below.
        let result = unsafe {
            libc::waitid(libc::P_PID, child.id(), &raw mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    RUNNING.store(0, Ordering::SeqCst);
    child.wait()
}

/// Confines the calling thread to a core.
fn confine(core: usize) -> io::Result<()> {
    // SAFETY: zero bytes are an empty set.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: the core came out of such a set, so the index is below its size.
    unsafe { libc::CPU_SET(core, &mut set) };
    // SAFETY: a set of the size given.
    if unsafe { libc::sched_setaffinity(0, size_of_val(&set), &raw const set) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// How a shell reports a program's end: its exit status, or 128 plus the signal.
pub(crate) fn shell_status(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_preloaded_already_stays_in_front() {
        let library = Path::new("/lib/own.so");
        assert_eq!(preload(None, library), "/lib/own.so");
        assert_eq!(preload(Some(OsStr::new("")), library), "/lib/own.so");
        assert_eq!(preload(Some(OsStr::new("a.so b.so")), library), "a.so b.so:/lib/own.so");
    }

    #[test]
    fn a_death_by_signal_is_reported_as_a_shell_does() {
        assert_eq!(shell_status(ExitStatus::from_raw(9)), 137);
        assert_eq!(shell_status(ExitStatus::from_raw(3 << 8)), 3);
    }
}
