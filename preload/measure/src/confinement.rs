//! Processes that confine themselves. A process may use seccomp, after which a system call may kill
//! it. Or it may change its root directory, after which the recorder cannot open the recording's
//! file any more to let it grow.
//!
//! The recorder does everything that needs the kernel before the process is confined. Afterwards it
//! records what is possible without system calls: it uses the room that the file has, measures by
//! the wall clock only, and does not learn the names of code that is loaded later. The C library's
//! lock functions make the same system calls as always.
//!
//! Strict seccomp also forbids reading the time-stamp counter, and a process may forbid that
//! separately. From then on, nothing is recorded of that thread, or of threads that are created
//! later.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::confined::{CLOCKLESS, CONFINED};
use crate::modules;
use crate::recorder::Recorder;
use crate::thread::Thread;
use crate::walk::walk;

/// The unused bytes of the recording that a process has when seccomp begins. They suffice for some
/// 250 locks. The room is not larger because there may be thousands of such processes.
const ROOM: u64 = 128 << 10;

/// The unused bytes of the recording that a process has when its root changes. There are few such
/// processes, so the room may be larger.
pub(crate) const ROOM_BELOW_ROOT: u64 = 1 << 20;

/// What the process will not be able to use any more after a call of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// System calls, but for a few.
    Calls,
    Clock,
    /// System calls and the clock.
    All,
}

/// Does in advance what will not be possible any more. The recording gets at least `room` unused
/// bytes, if it can grow.
pub(crate) fn prepare(room: u64) {
    let Some(recorder) = Recorder::enter() else { return };
    recorder.aside(|| {
        recorder.stamp(true);
        recorder.reserve(room);
        if let Some(_tables) = recorder.lock_tables() {
            modules::note_all(recorder);
        }
        // The unwinder makes a system call when it is first used.
        walk((0, 0), 1, None);
    });
}

/// Prepares, and calls `confine`. If the process is confined then, which `has` tells from the
/// result, the recorder does not use what is lost from then on.
pub(crate) fn enter<R>(loss: Loss, confine: impl FnOnce() -> R, has: impl FnOnce(&R) -> bool) -> R {
    prepare(ROOM);
    // This is noted before the call, because other threads may be confined at the same time.
    let before = (CONFINED.load(Ordering::SeqCst), CLOCKLESS.load(Ordering::SeqCst));
    CONFINED.fetch_or(loss != Loss::Clock, Ordering::SeqCst);
    CLOCKLESS.fetch_or(loss != Loss::Calls, Ordering::SeqCst);
    let thread = Thread::current();
    let base = thread.base.get();
    if loss != Loss::Calls {
        thread.base.set(ptr::null_mut());
    }
    let result = confine();
    if !has(&result) {
        CONFINED.store(before.0, Ordering::SeqCst);
        CLOCKLESS.store(before.1, Ordering::SeqCst);
        thread.base.set(base);
    }
    result
}

/// Notes that the process may read the clock again.
pub(crate) fn has_clock_again() {
    CLOCKLESS.store(false, Ordering::SeqCst);
}
