//! Calls that wait in the simulator, and that a signal interrupts.
//!
//! QEMU sees the signal before it makes the call. It has the thread handle the signal, and makes the call again, whatever the
//! program has said of that. Linux would have made the call, so that it returns that it was interrupted, unless the program
//! wants it made again. So when it comes again, right after the handler, it is interrupted in truth: it waits in the host's
//! kernel until a timer of the host sends the thread a signal of which neither QEMU nor the program knows.

use std::cell::Cell;
use std::ffi::c_int;
use std::mem;
use std::ptr;
use std::sync::OnceLock;

use crate::call::reads_or_writes;
use crate::guest::Thread;
use crate::signals;

/// A signal that the C library keeps for itself, to cancel threads, which QEMU does not: so nobody blocks it or handles it.
const SIGNAL: c_int = 32;
/// After how long it comes for the first time, and how often, in ns: the thread may not be in its call yet.
const FIRST: i64 = 200_000;
const EVERY: i64 = 1_000_000;

thread_local! {
    static TIMER: Cell<Option<Timer>> = const { Cell::new(None) };
}

/// The number of a timer of the host's.
#[derive(Debug, Clone, Copy)]
struct Timer(libc::timer_t);

/// An action for a signal, as the kernel has it.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
struct Action {
    handler: usize,
    flags: u64,
    restorer: usize,
    mask: u64,
}

/// A signal has ended the wait of a thread's call.
pub(crate) fn note(thread: &Thread, call: i64, arguments: [u64; 6], signal: u64) {
    if is_told(call, signal) {
        thread.interrupted.set(Some((call, arguments)));
    }
}

/// Whether the program is told that this signal has interrupted a call. Those that only ask are never made again.
fn is_told(call: i64, signal: u64) -> bool {
    !reads_or_writes(call) || !signals::restarts(signal)
}

/// Whether a thread makes the call anew now that was interrupted. Its last one was `before`.
pub(crate) fn comes_again(thread: &Thread, before: i64, call: i64, arguments: [u64; 6]) -> bool {
    // Unless the handler is over, it is another one, or the handler has gone elsewhere, and the thread comes from there.
    let is_handled = before == libc::SYS_rt_sigreturn;
    let is_it = is_handled && thread.interrupted.get() == Some((call, arguments));
    if is_it {
        thread.interrupted.set(None);
    }
    is_it
}

extern "C" fn ignore(_: c_int) {}

/// Has the kernel call a function that does nothing, for the signal. Whether it does.
fn install() -> bool {
    let action = |signal: c_int, new: *const Action, old: *mut Action| {
        // SAFETY: actions that live meanwhile, or none; the new one has a function of the right type.
        let answer =
            unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, new, old, size_of::<u64>()) };
        answer == 0
    };
    // The C library has put there how a handler returns.
    const SA_RESTORER: u64 = 0x0400_0000;
    let mut known = Action::default();
    if !action(libc::SIGSEGV, ptr::null(), &raw mut known) || known.flags & SA_RESTORER == 0 {
        return false;
    }
    let handler: extern "C" fn(c_int) = ignore;
    let own = Action { handler: handler as usize, flags: SA_RESTORER, mask: 0, ..known };
    action(SIGNAL, &raw const own, ptr::null_mut())
}

/// The call that the thread makes next is interrupted if it waits. Whether that can be done.
pub(crate) fn interrupt_next(thread: &Thread) -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    if !*IS_INSTALLED.get_or_init(install) {
        return false;
    }
    // SAFETY: descriptions and a number that live meanwhile; all zeroes are one.
    unsafe {
        let mut event: libc::sigevent = mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = SIGNAL;
        event.sigev_notify_thread_id = thread.whereabouts.number as c_int;
        let mut timer: libc::timer_t = ptr::null_mut();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) != 0 {
            return false;
        }
        TIMER.set(Some(Timer(timer)));
        let time = |ns| libc::timespec { tv_sec: 0, tv_nsec: ns };
        let times = libc::itimerspec { it_interval: time(EVERY), it_value: time(FIRST) };
        libc::timer_settime(timer, 0, &raw const times, ptr::null_mut()) == 0
    }
}

/// The call has returned.
pub(crate) fn is_over() {
    if let Some(Timer(timer)) = TIMER.take() {
        // SAFETY: the number of one that was made above, and is forgotten.
        unsafe { libc::timer_delete(timer) };
    }
}
