//! Ends a run in which nothing happens any more.
//!
//! QEMU has to stop all threads now and then: for an atomic instruction on an unaligned word, for one. It waits until
//! each has left its translated code, and a thread that waits for its turn inside of that does not. So the one that
//! runs would wait for ever. If it is a signal that ends the program, QEMU can be let go on to do so ([`dying`]). Else those
//! that wait are let go for a moment ([`stops`]).

use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{clock, depends, dying, guest, host, report, stops, timers};

/// How often somebody looks.
const EVERY: Duration = Duration::from_millis(250);
/// After so many looks without a change, somebody asks whether a signal ends the program.
const FEW_LOOKS: u32 = 2;
/// After so many, QEMU is taken to wait for threads that it cannot stop.
const STOPS_THREADS: u32 = 4;
/// After so many looks without a change nothing happens any more.
const LOOKS: u32 = 48;

/// Whether the thread that runs is in a call of the system, which may take as long as it likes.
static IN_CALL: AtomicBool = AtomicBool::new(false);

/// Whether it starts another process there, which never takes long, unless QEMU waits for threads that cannot be stopped.
static STARTS_PROCESS: AtomicBool = AtomicBool::new(false);

/// The thread that runs goes into the system to start another process, or comes back.
pub(crate) fn starts_process(is: bool) {
    STARTS_PROCESS.store(is, Ordering::Relaxed);
}

/// The thread that runs goes into the system, or comes back.
pub(crate) fn in_call(is: bool) {
    IN_CALL.store(is, Ordering::Relaxed);
}

/// Looks from now on, in a thread of its own.
pub(crate) fn begin() -> Result<(), String> {
    // SAFETY: sets of signals that live meanwhile. The thread must get none of the program's signals, which QEMU's
    // handlers take for those of a processor.
    let before = unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) =
            (core::mem::zeroed(), core::mem::zeroed());
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before);
        before
    };
    let begun = thread::Builder::new().name("kilocore".to_owned()).spawn(watch);
    // SAFETY: the set from before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut()) };
    begun.map(drop).map_err(|error| format!("no thread can be started: {error}"))
}

fn watch() {
    let (mut last, mut looks) = (0, 0);
    let mut waits_since = Instant::now();
    while guest::machine().is_none_or(|machine| !machine.is_over()) {
        if stops::carry_out_orders(EVERY) {
            looks = 0;
            continue;
        }
        let now = clock::keep();
        let is_idle = guest::machine().is_none_or(|machine| machine.is_idle());
        if !is_idle || now != last || timers::all_have_waited(waits_since.elapsed()) {
            waits_since = Instant::now();
        }
        let starts_process = STARTS_PROCESS.load(Ordering::Relaxed);
        let waits = IN_CALL.load(Ordering::Relaxed) && !starts_process || is_idle;
        looks = if now == last && !waits { looks + 1 } else { 0 };
        // On a busy host, the one that runs may wait for a core.
        if looks >= FEW_LOOKS && !host::others_sleep() {
            looks = 0;
        }
        last = now;
        // QEMU blocks all signals for that as well.
        if looks >= FEW_LOOKS && !starts_process && dying::is_anybody() {
            dying::let_it_end();
            if let Some(machine) = guest::machine() {
                machine.stop();
            }
            thread::sleep(EVERY * LOOKS);
            // One that writes a core dump may take longer.
            if dying::is_anybody() {
                report::fail("a signal ended the program, and QEMU could not stop its threads");
            }
            return;
        }
        if looks == STOPS_THREADS && !starts_process && stops::let_all_go() {
            depends::also(
                "QEMU had to stop all threads, at a moment that the program does not decide",
            );
            looks = 0;
        }
        if looks == LOOKS && guest::machine().is_some_and(|machine| !machine.is_over()) {
            report::fail(
                "nothing happened any more: QEMU had to stop all threads, as for an atomic instruction on an unaligned \
                 word, or to start another process, and those that waited for their turn could not be stopped",
            );
        }
    }
}
