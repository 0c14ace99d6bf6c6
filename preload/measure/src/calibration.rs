//! What measuring itself adds to what it measures.
//!
//! Between the two readings of the clock around an empty hold lie the second reading and two
//! calls; around an empty think time, most of a release and of an acquisition. Both are measured
//! on a mutex of the recorder's own when a recording begins, and taken off every duration. The
//! least of some tries is taken, so that what is left is never below the truth by more than the
//! clock's grain.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::{LockBlock, family};

use crate::hooks::{lock_mutex, unlock_mutex};
use crate::object::{Mutex, Object, word};
use crate::recorder::Recorder;
use crate::thread::NO_THINK;

/// Tries.
const TRIES: usize = 48;

impl Recorder {
    /// Measures, in a thread that holds no lock and has nothing counted yet.
    pub(crate) fn calibrate(self) {
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        let object = Mutex(&raw mut mutex);
        let unit = self.allocate(|lock: *mut LockBlock| {
            // SAFETY: a fresh block of zeros, known to this thread only.
            let lock = unsafe { &mut *lock };
            *lock.address.get_mut() = object.address() as u64;
            *lock.family.get_mut() = family::MUTEX;
        });
        let Some(lock) = unit.and_then(|unit| self.block::<LockBlock>(unit)) else { return };
        // SAFETY: an ordinary mutex has a place, and this one lives until the end.
        let place = unsafe { &*object.place() };
        place.record.store(word(self.unit_of(lock), object.address()), Ordering::Relaxed);

        let thread = self.thread;
        let counted = (thread.locking.replace(true), thread.think.replace(core::ptr::null()));
        let (mut think, mut hold) = (u64::MAX, u64::MAX);
        for _ in 0..TRIES {
            thread.skip.set(0);
            thread.weight.set(1);
            // SAFETY: an initialized mutex that only this thread knows.
            unsafe { lock_mutex(&raw mut mutex) };
            think = think.min(thread.pending_think.get());
            let start = self.innermost().map_or(0, |held| held.start);
            // SAFETY: as above; held by this thread.
            unsafe { unlock_mutex(&raw mut mutex) };
            hold = hold.min(thread.last_sample.get().saturating_sub(start));
        }
        thread.locking.set(counted.0);
        thread.think.set(counted.1);
        thread.restart();
        // No lock of the program: a reader leaves out what has no family.
        lock.family.store(0, Ordering::Relaxed);
        lock.address.store(0, Ordering::Relaxed);
        if think != NO_THINK && hold != u64::MAX {
            self.state().think_overhead.store(think, Ordering::Relaxed);
            self.state().hold_overhead.store(hold, Ordering::Relaxed);
        }
    }
}
