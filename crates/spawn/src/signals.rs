//! Passing signals on to the program.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// Sees to it that children can be waited for: whoever ignores their ends, as some supervisors do
/// for all that they start, has the system reap them. Gives what was in force before.
fn wait_for_children() -> Option<(libc::c_int, libc::sigaction)> {
    // SAFETY: zero bytes are a valid sigaction, which asks for the default.
    let (action, mut old): (libc::sigaction, libc::sigaction) =
        unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    // SAFETY: both structures are ours.
    let failed = unsafe { libc::sigaction(libc::SIGCHLD, &raw const action, &raw mut old) } != 0;
    (!failed).then_some((libc::SIGCHLD, old))
}

/// Handlers that pass signals on; puts the former ones back when dropped.
pub(crate) struct Forwarding {
    former: Vec<(libc::c_int, libc::sigaction)>,
    _alone: MutexGuard<'static, ()>,
}

impl Forwarding {
    /// Puts the handlers in place. What comes before [`Forwarding::to`] is kept.
    pub(crate) fn begin() -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        RUNNING.store(0, Ordering::SeqCst);
        PENDING.store(0, Ordering::SeqCst);
        INTERRUPTED.store(false, Ordering::SeqCst);
        let mut former = Vec::new();
        former.extend(wait_for_children());
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
        Self { former, _alone: alone }
    }

    /// From now on, signals go to this process.
    pub(crate) fn to(&self, pid: libc::pid_t) {
        RUNNING.store(pid, Ordering::SeqCst);
        let pending = PENDING.swap(0, Ordering::SeqCst);
        if pending != 0 {
            forward(pending);
        }
    }

    /// The process is about to be waited for, and its id may become another's.
    pub(crate) fn to_nobody(&self) {
        RUNNING.store(0, Ordering::SeqCst);
    }

    /// Puts the former handlers back; whether a signal came meanwhile.
    pub(crate) fn end(mut self) -> bool {
        self.restore();
        INTERRUPTED.load(Ordering::SeqCst)
    }

    fn restore(&mut self) {
        for (signal, old) in self.former.drain(..) {
            // SAFETY: the action that was in force before.
            unsafe { libc::sigaction(signal, &raw const old, core::ptr::null_mut()) };
        }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.restore();
    }
}
