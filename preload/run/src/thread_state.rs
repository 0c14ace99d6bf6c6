//! What a lock keeps per thread.
//!
//! A process uses one kind of lock, so each thread has one [slot](crate::slot), big enough for the
//! state of any.
//!
//! # At the end of a thread
//! The state is dropped by a destructor of thread-specific data, in the last of the four rounds
//! that POSIX grants, so that other destructors may still take locks. Should one do so even
//! later, the state is made again and then never dropped: a leak of one state for such a thread.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_locks::RawLock;

use crate::host::Host;
use crate::slot::{Phase, STATE_ALIGN, STATE_BYTES, Slot, slot};

/// How often the system calls destructors of thread-specific data while they renew it.
const ROUNDS: usize = 4; // PTHREAD_DESTRUCTOR_ITERATIONS

/// Makes the key, while few others are there: the C library keeps the values of the first ones
/// where it needs no memory for them.
pub(crate) fn prepare<L: RawLock<Host>>() {
    if core::mem::needs_drop::<L::Thread>() {
        key::<L>();
    }
}

/// Shows the calling thread's state for lock `L` to `work`.
///
/// `work` must not come here again; the locks call nothing of the program's, so they cannot.
#[inline(always)]
pub(crate) fn with<L: RawLock<Host>, R>(work: impl FnOnce(&mut L::Thread) -> R) -> R {
    if size_of::<L::Thread>() == 0 {
        return work(&mut L::Thread::default());
    }
    const {
        assert!(size_of::<L::Thread>() <= STATE_BYTES, "enlarge the slot, here and in wait.c");
        assert!(align_of::<L::Thread>() <= STATE_ALIGN, "align the slot, here and in wait.c");
    }
    let slot = slot();
    // SAFETY: the slot belongs to this thread and lives as long as it.
    if !matches!(unsafe { (*slot).phase }, Phase::Live | Phase::Late) {
        fill::<L>(slot);
    }
    // SAFETY: the phase says that the slot holds a state of the one lock type of this process.
    // Nothing else refers to it: `work` does not come here again.
    work(unsafe { &mut *(&raw mut (*slot).state).cast::<L::Thread>() })
}

/// Makes a state in `slot`.
#[cold]
fn fill<L: RawLock<Host>>(slot: *mut Slot) {
    // SAFETY: as in `with`, the slot is this thread's and holds no state now.
    unsafe {
        (&raw mut (*slot).state).cast::<L::Thread>().write(L::Thread::default());
        if (*slot).phase == Phase::Dropped {
            (*slot).phase = Phase::Late;
            return;
        }
        // Before the registration below, which may allocate and so take a mutex.
        (*slot).phase = Phase::Live;
    }
    if core::mem::needs_drop::<L::Thread>() {
        kilocore_preload_common::errno::preserved(|| {
            if let Some(key) = key::<L>() {
                // SAFETY: a key of ours; the value is a count, not a pointer.
                unsafe { libc::pthread_setspecific(key, ptr::without_provenance(1)) };
            }
        });
    }
}

/// The key whose destructor drops states, or none if the program has used up all keys; states are
/// then not dropped.
fn key<L: RawLock<Host>>() -> Option<libc::pthread_key_t> {
    /// Zero for none, else one more than the key.
    static KEY: AtomicU32 = AtomicU32::new(0);

    if let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) {
        return Some(key);
    }
    let mut key = 0;
    // SAFETY: the key is ours to write and the destructor has the right type.
    if unsafe { libc::pthread_key_create(&mut key, Some(end::<L>)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Some(key),
        Err(theirs) => {
            // SAFETY: nobody else knows this key.
            unsafe { libc::pthread_key_delete(key) };
            Some(theirs - 1)
        }
    }
}

/// Called at the end of a thread with the number of the round: asks for the next, and drops the
/// state in the last.
unsafe extern "C" fn end<L: RawLock<Host>>(round: *mut c_void) {
    let round = round.addr();
    if round < ROUNDS
        && let Some(key) = key::<L>()
        // SAFETY: a key of ours; the value is a count, not a pointer.
        && unsafe { libc::pthread_setspecific(key, ptr::without_provenance(round + 1)) } == 0
    {
        return;
    }
    let slot = slot();
    // SAFETY: the slot is this thread's. It leaves the phase `Live` before the state is dropped,
    // and nothing refers to the state now: this thread is in a destructor of the C library's.
    unsafe {
        if (*slot).phase == Phase::Live {
            (*slot).phase = Phase::Dropped;
            (&raw mut (*slot).state).cast::<L::Thread>().drop_in_place();
        }
    }
}
