//! The state that a lock keeps for each thread.
//!
//! A process uses one kind of lock. So each thread has one [slot](crate::slot), which is big enough
//! for the state of any kind.
//!
//! # At the end of a thread
//! A destructor of thread-specific data drops the state. It does so in the last of the four rounds
//! that POSIX guarantees, so that other destructors may still lock mutexes. If a destructor locks a
//! mutex even later, the state is made again and is never dropped. Such a thread leaks one state.

use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use kilocore_locks::RawLock;

use crate::host::Host;
use crate::slot::{Phase, STATE_ALIGN, STATE_BYTES, Slot, slot};

/// How many rounds of destructors the C library runs while they set their thread-specific data
/// again.
const ROUNDS: usize = 4; // PTHREAD_DESTRUCTOR_ITERATIONS

/// Makes the key early, while there are few other keys. The C library does not need to allocate
/// memory for the values of the first keys.
pub(crate) fn prepare<L: RawLock<Host>>() {
    if core::mem::needs_drop::<L::Thread>() {
        key::<L>();
    }
}

/// Calls `work` with the calling thread's state for lock `L`.
///
/// `work` must not call this function again. The locks never do, because they do not call the
/// program's code.
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
    // SAFETY: the slot belongs to this thread and lives as long as the thread.
    if !matches!(unsafe { (*slot).phase }, Phase::Live | Phase::Late) {
        fill::<L>(slot);
    }
    // SAFETY: by its phase, the slot contains a state of the one lock type of this process. There
    // is no other reference to the state, because `work` does not call this function again.
    work(unsafe { &mut *(&raw mut (*slot).state).cast::<L::Thread>() })
}

/// Makes a state in `slot`.
#[cold]
fn fill<L: RawLock<Host>>(slot: *mut Slot) {
    // SAFETY: the slot belongs to this thread, as in `with`, and contains no state now.
    unsafe {
        (&raw mut (*slot).state).cast::<L::Thread>().write(L::Thread::default());
        if (*slot).phase == Phase::Dropped {
            (*slot).phase = Phase::Late;
            return;
        }
        // The phase is set before the registration below, which may allocate and so lock a mutex.
        (*slot).phase = Phase::Live;
    }
    if core::mem::needs_drop::<L::Thread>() {
        kilocore_preload_common::errno::preserved(|| {
            if let Some(key) = key::<L>() {
                // SAFETY: the key is ours. The value is a count, not a pointer.
                unsafe { libc::pthread_setspecific(key, ptr::without_provenance(1)) };
            }
        });
    }
}

/// Returns the key whose destructor drops states, or `None` if the program has used up all keys. In
/// that case states are never dropped.
fn key<L: RawLock<Host>>() -> Option<libc::pthread_key_t> {
    /// One more than the key, or zero while there is no key.
    static KEY: AtomicU32 = AtomicU32::new(0);

    if let Some(key) = KEY.load(Ordering::Acquire).checked_sub(1) {
        return Some(key);
    }
    let mut key = 0;
    // SAFETY: the variable `key` is ours, and the destructor has the right type.
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

/// Is called at the end of a thread, with the number of the round. It requests the next round or,
/// in the last round, drops the state.
unsafe extern "C" fn end<L: RawLock<Host>>(round: *mut c_void) {
    let round = round.addr();
    if round < ROUNDS
        && let Some(key) = key::<L>()
        // SAFETY: the key is ours. The value is a count, not a pointer.
        && unsafe { libc::pthread_setspecific(key, ptr::without_provenance(round + 1)) } == 0
    {
        return;
    }
    let slot = slot();
    // SAFETY: the slot belongs to this thread. The phase is changed before the state is dropped.
    // There is no reference to the state now, because this thread runs a destructor for the C
    // library.
    unsafe {
        if (*slot).phase == Phase::Live {
            (*slot).phase = Phase::Dropped;
            (&raw mut (*slot).state).cast::<L::Thread>().drop_in_place();
        }
    }
}
