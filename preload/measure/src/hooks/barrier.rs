//! The functions `pthread_barrier_*`.

use core::ffi::{c_int, c_uint};
use core::sync::atomic::Ordering;

use kilocore_lock_recording::BarrierBlock;
use kilocore_preload_common::real;
use libc::{pthread_barrier_t, pthread_barrierattr_t};

use crate::clock;
use crate::counters::Count;
use crate::recorder::Recorder;

/// The offset at which glibc (from 2.25 on) keeps the number of threads that a barrier waits for.
const PARTIES_OFFSET: usize = 8;

/// Initializes a barrier.
///
/// # Safety
/// The contract is that of the POSIX function, here and below.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_barrier_init(
    barrier: *mut pthread_barrier_t,
    attr: *const pthread_barrierattr_t,
    parties: c_uint,
) -> c_int {
    // SAFETY: this passes on the caller's arguments unchanged, here and below.
    let result = unsafe { real::pthread_barrier_init(barrier, attr, parties) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.listed_destroyed::<BarrierBlock>(barrier as usize);
        if let Some(record) = recorder.listed::<BarrierBlock>(barrier as usize) {
            record.parties.store(parties, Ordering::Relaxed);
        }
    }
    result
}

/// Waits until all threads have come to the barrier.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_barrier_wait(barrier: *mut pthread_barrier_t) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: as above.
        return unsafe { real::pthread_barrier_wait(barrier) };
    };
    let record = recorder.listed::<BarrierBlock>(barrier as usize);
    if let Some(record) = record
        && record.parties.load(Ordering::Relaxed) == 0
    {
        // SAFETY: the program has passed an initialized barrier, whose number of threads does not
        // change.
        let parties = unsafe { barrier.byte_add(PARTIES_OFFSET).cast::<u32>().read() };
        record.parties.store(parties, Ordering::Relaxed);
    }
    let began = clock::now().cycles;
    // SAFETY: as above. Afterwards the barrier may no longer exist, because the first thread that
    // goes on may destroy it.
    let result = unsafe { real::pthread_barrier_wait(barrier) };
    let waited = clock::now().cycles.saturating_sub(began);
    recorder.thread.note_wait(waited);
    recorder.discount(waited);
    if let Some(record) = record {
        record.wait.count(waited, 1, true);
        if result == libc::PTHREAD_BARRIER_SERIAL_THREAD {
            record.rounds.fetch_add(1, Ordering::Relaxed);
        }
    }
    result
}

/// Destroys a barrier.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_barrier_destroy(barrier: *mut pthread_barrier_t) -> c_int {
    // SAFETY: as above.
    let result = unsafe { real::pthread_barrier_destroy(barrier) };
    if let (0, Some(recorder)) = (result, Recorder::enter()) {
        recorder.listed_destroyed::<BarrierBlock>(barrier as usize);
    }
    result
}
