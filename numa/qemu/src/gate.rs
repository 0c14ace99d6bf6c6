//! One thread at a time executes an instruction that may take a lock or give it back.
//!
//! What such an instruction did can only be read from memory after it. So the thread goes through the gate
//! before the instruction and leaves it when the value has been read, and nobody changes the word between.
//!
//! Nobody waits for ever: QEMU may have to stop all threads for the sake of the one inside, as for an
//! atomic update of an unaligned word. That one sleeps then. Whoever has waited for long and finds it asleep goes on
//! without the gate. On a busy host, the one inside may have no core for as long, and is waited for. The gate is
//! about what is seen, and protects no memory of the plugin's.

use std::cell::Cell;
use std::ffi::c_uint;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::yield_now;
use std::time::{Duration, Instant};

/// How long to wait before it matters whether the one inside sleeps.
const PATIENCE: Duration = Duration::from_millis(200);
/// How often to look before the core is offered to others.
const LOOKS: u32 = 64;

/// Who is inside: the processor's number and one, or 0.
static INSIDE: AtomicU32 = AtomicU32::new(0);
/// The number by which the kernel knows the thread that went in last.
static THREAD: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// That of the calling thread, or 0 before it was asked for.
    static OWN: Cell<u32> = const { Cell::new(0) };
}

/// Goes in, if not inside already. Returns whether this thread is inside.
#[inline]
pub(crate) fn enter(vcpu: c_uint) -> bool {
    try_enter(vcpu) || wait(vcpu)
}

#[inline(always)]
fn try_enter(vcpu: c_uint) -> bool {
    // Acquire and release: what others did inside is seen here.
    let is_inside =
        INSIDE.compare_exchange(0, vcpu + 1, Ordering::AcqRel, Ordering::Relaxed).is_ok();
    if is_inside {
        THREAD.store(own(), Ordering::Relaxed);
    }
    is_inside
}

#[inline(always)]
fn own() -> u32 {
    let known = OWN.get();
    if known == 0 { ask() } else { known }
}

#[cold]
fn ask() -> u32 {
    // SAFETY: it only asks.
    let own = unsafe { libc::gettid() } as u32;
    OWN.set(own);
    own
}

/// Whether the thread inside sleeps. One that is gone does not come out either.
fn sleeps() -> bool {
    let status = kilocore_linux::status(THREAD.load(Ordering::Relaxed));
    status.is_none_or(|status| status.state == b'S')
}

#[cold]
#[inline(never)]
fn wait(vcpu: c_uint) -> bool {
    if INSIDE.load(Ordering::Relaxed) == vcpu + 1 {
        return true;
    }
    let mut since = Instant::now();
    loop {
        for _ in 0..LOOKS {
            if try_enter(vcpu) {
                return true;
            }
            spin_loop();
        }
        if since.elapsed() > PATIENCE {
            if sleeps() {
                return false;
            }
            since = Instant::now();
        }
        yield_now();
    }
}

/// Leaves the gate, if this processor is inside.
#[inline]
pub(crate) fn leave(vcpu: c_uint) {
    if INSIDE.load(Ordering::Relaxed) == vcpu + 1 {
        INSIDE.store(0, Ordering::Release);
    }
}

/// Waits until whoever is inside now has read its word, which may be about to go away.
pub(crate) fn pass(vcpu: c_uint) {
    if enter(vcpu) {
        leave(vcpu);
    }
}
