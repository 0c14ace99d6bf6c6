//! Measures how much time the measurement itself adds to a duration.
//!
//! Even an empty hold contains the second reading of the clock and two calls. An empty think time
//! contains most of a release and most of an acquisition. Both overheads are measured with a mutex
//! of the recorder when a recording begins, and are subtracted from every duration. The smallest of
//! several measurements is used. So the result is never too small by more than the resolution of
//! the clock.

use core::sync::atomic::Ordering;

use kilocore_lock_recording::{LockBlock, family};

use crate::hooks::{lock_mutex, unlock_mutex};
use crate::object::{Mutex, Object, word};
use crate::recorder::Recorder;
use crate::thread::NO_THINK;

/// The number of measurements.
const TRIES: usize = 48;

impl Recorder {
    /// Measures both overheads. The thread must hold no lock and must not have counted anything
    /// yet.
    pub(crate) fn calibrate(self) {
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        let object = Mutex(&raw mut mutex);
        let unit = self.allocate(|lock: *mut LockBlock| {
            // SAFETY: the block is new and zeroed, and only this thread knows it.
            let lock = unsafe { &mut *lock };
            *lock.address.get_mut() = object.address() as u64;
            *lock.family.get_mut() = family::MUTEX;
        });
        let Some(lock) = unit.and_then(|unit| self.block::<LockBlock>(unit)) else { return };
        // SAFETY: an ordinary mutex has a place, and this mutex lives until the end of the
        // function.
        let place = unsafe { &*object.place() };
        place.record.store(word(self.unit_of(lock), object.address()), Ordering::Relaxed);

        let thread = self.thread;
        let counted = (thread.locking.replace(true), thread.think.replace(core::ptr::null()));
        let (mut think, mut hold) = (u64::MAX, u64::MAX);
        for _ in 0..TRIES {
            thread.skip.set(0);
            thread.weight.set(1);
            // SAFETY: the mutex is initialized, and only this thread knows it.
            unsafe { lock_mutex(&raw mut mutex) };
            think = think.min(thread.pending_think.get());
            let start = self.innermost().map_or(0, |held| held.start);
            // SAFETY: as above, and this thread holds the mutex.
            unsafe { unlock_mutex(&raw mut mutex) };
            hold = hold.min(thread.last_sample.get().saturating_sub(start));
        }
        thread.locking.set(counted.0);
        thread.think.set(counted.1);
        thread.restart();
        // This is not a lock of the program. Readers skip locks without a family.
        lock.family.store(0, Ordering::Relaxed);
        lock.address.store(0, Ordering::Relaxed);
        if think != NO_THINK && hold != u64::MAX {
            self.state().think_overhead.store(think, Ordering::Relaxed);
            self.state().hold_overhead.store(hold, Ordering::Relaxed);
        }
    }
}
