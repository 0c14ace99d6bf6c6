//! A program that a signal ends while threads of it wait for their turn.
//!
//! Before QEMU ends a program whose signal asks for a core dump, it has to stop all threads, as for an unaligned atomic
//! instruction ([`watchdog`](crate::watchdog)). It says nothing of that to plugins. But while a thread handles a signal,
//! QEMU blocks all signals for it, even those that it never blocks else, as it needs them itself: a thread that waits in
//! the kernel so, and not by a call of the program's, is one that ends the program.
//!
//! The threads that wait are told then that all is over. Those inside of translated code leave it, and QEMU holds them
//! before the next block. Those in a call of the system count as stopped for QEMU, and stay where they are: else they would
//! make their calls, and write what they should not have lived to write.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;

use crate::host::Status;

/// A signal that QEMU needs itself. It blocks it only while it handles a signal, and in some calls.
const NEVER_BLOCKED: libc::c_int = libc::SIGSEGV;

/// The number by which the kernel knows the thread that runs, or 0 while it is in the simulator.
static RUNS: AtomicI64 = AtomicI64::new(0);
/// Whether a signal ends the program.
static ENDS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether the calling thread is in a call of the system.
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
}

/// The thread that runs is the one that the kernel knows by this number, or goes into the simulator if it is 0: who waits
/// there does not wait for QEMU.
#[inline]
pub(crate) fn runs(number: libc::c_long) {
    RUNS.store(number, Ordering::Relaxed);
}

/// Whether the thread that runs waits for others to be stopped, because a signal ends the program. It is not to be asked
/// while that thread is in a call of the system.
pub(crate) fn is_anybody() -> bool {
    let number = RUNS.load(Ordering::Relaxed);
    let status = if number == 0 { None } else { Status::of(number) };
    status.is_some_and(|status| status.sleeps() && status.blocks(NEVER_BLOCKED))
}

/// A signal ends the program: no thread goes on in a call of the system. The simulation is to be stopped next, so that QEMU
/// can stop those in translated code.
pub(crate) fn let_it_end() {
    ENDS.store(true, Ordering::Release);
}

/// The calling thread goes into the system, or comes back.
pub(crate) fn in_call(is: bool) {
    IN_CALL.set(is);
}

/// Does not return if the calling thread is in a call of the system and a signal ends the program.
#[inline]
pub(crate) fn stay_if_in_call() {
    while ENDS.load(Ordering::Acquire) && IN_CALL.get() {
        thread::park();
    }
}
