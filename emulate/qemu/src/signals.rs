//! Signals by which the program ends itself.
//!
//! QEMU has the thread that gets a signal end the program, as soon as it comes out of the call that it is in. One that
//! sleeps in the simulator would have to be woken for that, and others would run on until it is its turn. So it is the
//! thread that sends such a signal to another one which ends the program, by that signal.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::guest::Thread;
use crate::host::Status;
use crate::sent::{Receiver, Sent};
use crate::{host, memory, timers};

/// The signals that the program handles or ignores, each by a bit.
static HANDLED: AtomicU64 = AtomicU64::new(0);
/// Those of them that it handles.
static CAUGHT: AtomicU64 = AtomicU64::new(0);
/// Those after which the program wants the calls made again that they interrupt.
static RESTARTS: AtomicU64 = AtomicU64::new(0);

/// The last signal with the same number for QEMU's host and for its program.
const LAST: u64 = 31;

/// The program has said what a signal does.
pub(crate) fn action(signal: u64, action: u64) {
    if !(1..=LAST).contains(&signal) {
        return;
    }
    let bit = 1 << (signal - 1);
    if let Some([handler, flags]) = memory::read_u64s(action) {
        let is_caught = ![libc::SIG_DFL, libc::SIG_IGN].contains(&(handler as usize));
        note(&CAUGHT, bit, is_caught);
        note(&RESTARTS, bit, flags & libc::SA_RESTART as u64 != 0);
    }
    match memory::read_u64s(action) {
        None => {}
        Some([handler]) if handler == libc::SIG_DFL as u64 => {
            HANDLED.fetch_and(!bit, Ordering::Relaxed);
        }
        Some(_) => {
            HANDLED.fetch_or(bit, Ordering::Relaxed);
        }
    }
}

fn note(signals: &AtomicU64, bit: u64, is: bool) {
    if is {
        signals.fetch_or(bit, Ordering::Relaxed);
    } else {
        signals.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// Whether the program wants calls made again that this signal interrupts.
pub(crate) fn restarts(signal: u64) -> bool {
    (1..=LAST).contains(&signal) && RESTARTS.load(Ordering::Relaxed) >> (signal - 1) & 1 == 1
}

/// Whether the program handles a signal that people and other programs send.
pub(crate) fn may_come_from_outside() -> bool {
    let sent =
        [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGUSR1, libc::SIGUSR2];
    sent.iter().any(|signal| CAUGHT.load(Ordering::Relaxed) >> (signal - 1) & 1 == 1)
}

/// Whether QEMU has noted a signal for the calling thread: then it handles that before it makes the thread's next call, which
/// returns at once.
pub(crate) fn is_pending() -> bool {
    // As in the kernel: a word. From when QEMU notes a signal until it handles it, it blocks all, even this one, which neither
    // a C library nor the program can block.
    const NEVER_BLOCKED_BY_A_LIBRARY: u32 = 32;
    let mut blocked = 0_u64;
    // A signal that has been sent is noted by the end of the first call at the latest.
    for _ in 0..2 {
        // SAFETY: it only asks, and writes one word that lives meanwhile.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigprocmask,
                libc::SIG_BLOCK,
                ptr::null::<u64>(),
                &raw mut blocked,
                size_of::<u64>(),
            );
        }
    }
    blocked >> (NEVER_BLOCKED_BY_A_LIBRARY - 1) & 1 == 1
}

/// The thread is about to send a signal. Does not return if that goes to another thread of the program, and ends it.
pub(crate) fn sends(thread: &Thread, Sent { signal, to }: Sent) {
    let own = u64::from(std::process::id());
    let to = match to {
        Receiver::Process(process) if process == own => None,
        Receiver::Thread { process, number } if process.is_none_or(|process| process == own) => {
            Some(number)
        }
        _ => return,
    };
    let is_signal = (1..=LAST).contains(&signal);
    let signal = signal as libc::c_int;
    if !is_signal || !ends_the_program(signal) {
        return;
    }
    let gets = |&number: &libc::c_long| {
        to.is_none_or(|to| to == number as u64)
            && Status::of(number).is_some_and(|status| !status.blocks(signal))
    };
    // That of the process goes to its first thread, unless that blocks it.
    if let Some(number) = timers::numbers().into_iter().find(gets)
        && number != thread.whereabouts.number
    {
        end(signal);
    }
}

/// Whether the program ends when it gets this signal.
fn ends_the_program(signal: libc::c_int) -> bool {
    if HANDLED.load(Ordering::Relaxed) >> (signal - 1) & 1 == 1 {
        return false;
    }
    // SAFETY: a description that lives meanwhile. It only asks.
    let action = unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action);
        action.sa_sigaction
    };
    // QEMU handles those that end a program, and leaves others to the kernel, which can also end it itself.
    action != libc::SIG_DFL && action != libc::SIG_IGN
}

/// Ends the process by a signal.
fn end(signal: libc::c_int) {
    // SAFETY: a set and a limit that live meanwhile. The process is to end, without a core dump: that would be QEMU's own.
    unsafe {
        let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        let mut only: libc::sigset_t = core::mem::zeroed();
        libc::sigemptyset(&raw mut only);
        libc::sigaddset(&raw mut only, signal);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const only, ptr::null_mut());
        let process = libc::c_long::from(libc::getpid());
        libc::syscall(libc::SYS_tgkill, process, host::number(), signal);
    }
}
