//! `signal`: sending a signal to oneself and handling it.
//!
//! Threads of a process share the table of handlers and its lock.

use crate::sys::check;
use crate::{Benchmark, Info, Kind, Refusal, Seat, Shared, Task};

pub(super) struct Signal;

const INFO: Info = Info {
    name: "signal",
    title: "signals: send and handle",
    operation: "a signal that a task sends to itself and handles",
    source: "will-it-scale: signal1",
    default: Kind::Processes,
    only: None,
    keeps_core: true,
    hidden: false,
};

impl Benchmark for Signal {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn task(&self, _shared: &Shared, _seat: &Seat) -> Result<Box<dyn Task>, Refusal> {
        // SAFETY: zero bytes are a valid sigaction.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        let handler: extern "C" fn(libc::c_int) = handle;
        action.sa_sigaction = handler as usize;
        // SAFETY: `action` is a valid structure, and its handler does nothing.
        check("sigaction", unsafe {
            libc::sigaction(libc::SIGUSR1, &raw const action, core::ptr::null_mut())
        })?;
        // SAFETY: both calls touch no memory.
        let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
        Ok(Box::new(Signalling { process, thread }))
    }
}

struct Signalling {
    process: libc::pid_t,
    thread: libc::pid_t,
}

extern "C" fn handle(_signal: libc::c_int) {}

impl Task for Signalling {
    fn run(&mut self, operations: u64) -> Result<(), Refusal> {
        let (process, thread) = (self.process, self.thread);
        for _ in 0..operations {
            // The signal is handled before the call returns.
            // SAFETY: the call touches no memory, and the thread is this one.
            let result = unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
            if result != 0 {
                return Err(Refusal::last("tgkill"));
            }
        }
        Ok(())
    }
}
