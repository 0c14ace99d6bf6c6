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

use kilocore_locks::RawLock;
use kilocore_preload_common::{ThreadKey, errno};

use crate::host::Host;
use crate::slot::{Phase, STATE_ALIGN, STATE_BYTES, Slot, slot};

/// How many rounds of destructors the C library runs while they set their thread-specific data
/// again.
const ROUNDS: usize = 4; // PTHREAD_DESTRUCTOR_ITERATIONS

/// Makes the key early, while there are few other keys. The C library does not need to allocate
/// memory for the values of the first keys.
pub(crate) fn prepare<L: RawLock<Host>>() {
    if core::mem::needs_drop::<L::Thread>() {
        KEY.make(end::<L>);
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
        // The value is the number of the round.
        errno::preserved(|| KEY.set(1, end::<L>));
    }
}

/// The key whose destructor drops states. The program may use up all keys; then states are not
/// dropped any more.
static KEY: ThreadKey = ThreadKey::new();

kilocore_preload_common::export_key_functions!(super::KEY);

/// Is called at the end of a thread, with the number of the round. It requests the next round or,
/// in the last round, drops the state.
unsafe extern "C" fn end<L: RawLock<Host>>(round: *mut c_void) {
    let round = round.addr();
    if round < ROUNDS && KEY.set(round + 1, end::<L>) {
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
