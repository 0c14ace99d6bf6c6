//! Processes that confine themselves: by seccomp, after which a system call may kill them, or to
//! another root, after which the recording's file cannot be found to let it grow.
//!
//! What the recorder needs the kernel for is done before. Afterwards a confined process is recorded
//! as far as that goes without system calls: into the room that there is, by the wall clock alone,
//! with no names for code that is loaded later. The C library's lock functions make the system
//! calls that they make anyway.
//!
//! Strict seccomp forbids the time-stamp counter, too, and a process may forbid it by itself. What
//! happens from then on in that thread, and in those made later, is not recorded at all.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::confined::{CLOCKLESS, CONFINED};
use crate::modules;
use crate::recorder::Recorder;
use crate::thread::Thread;
use crate::walk::walk;

/// Bytes of the recording that a process under seccomp finds unused: some 250 locks. There may be
/// thousands of such processes, which is why it is not more.
const ROOM: u64 = 128 << 10;

/// Bytes of the recording that a process with another root finds unused: these are few.
pub(crate) const ROOM_BELOW_ROOT: u64 = 1 << 20;

/// What a call of the program is about to take from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    /// System calls.
    Calls,
    /// The clock.
    Clock,
    /// Both.
    All,
}

/// Does beforehand what will not be possible any more. The recording gets `room` bytes at least.
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

/// Runs `confine`, which says whether it did, and does without what is lost from then on.
pub(crate) fn enter<R>(loss: Loss, confine: impl FnOnce() -> R, has: impl FnOnce(&R) -> bool) -> R {
    prepare(ROOM);
    // Before it is so: other threads may be confined at the same time.
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

/// Notes that the program has the clock again.
pub(crate) fn has_clock_again() {
    CLOCKLESS.store(false, Ordering::SeqCst);
}
