//! `pthread_create`. The start routine is wrapped so that a thread joins the recording even if it
//! never acquires a lock.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use kilocore_preload_common::real_functions;
use libc::{pthread_attr_t, pthread_t};

use crate::recorder::Recorder;

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

real_functions! {
    /// Creates a thread.
    fn pthread_create(
        thread: *mut pthread_t,
        attr: *const pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> libc::c_int;
}

/// What a new thread is to do.
struct Task {
    start: Start,
    argument: *mut c_void,
}

/// First function of a thread.
unsafe extern "C-unwind" fn begin(task: *mut c_void) -> *mut c_void {
    // SAFETY: the Task that `pthread_create` below made for this thread, in memory from malloc,
    // which is not used after this.
    let Task { start, argument } = unsafe { task.cast::<Task>().read() };
    // SAFETY: as above.
    unsafe { libc::free(task) };
    // Joins the recording.
    let _ = Recorder::enter();
    // SAFETY: the program's routine with the program's argument. Nothing here needs dropping
    // should the routine not return.
    unsafe { start(argument) }
}

/// Creates a thread.
///
/// # Safety
/// That of the POSIX function.
#[unsafe(export_name = "pthread_create")]
unsafe extern "C" fn create(
    thread: *mut pthread_t,
    attr: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: the caller's arguments, unchanged.
        return unsafe { pthread_create(thread, attr, start, argument) };
    };
    // SAFETY: plain allocation, as the C library itself is about to do for the thread.
    let task = unsafe { libc::malloc(size_of::<Task>()) }.cast::<Task>();
    if task.is_null() {
        return libc::EAGAIN;
    }
    // SAFETY: memory of that size, aligned for anything.
    unsafe { task.write(Task { start, argument }) };
    let header = recorder.header();
    header.threads_started.fetch_add(1, Ordering::Relaxed);
    let alive = header.threads_alive.fetch_add(1, Ordering::Relaxed) + 1;
    header.threads_peak.fetch_max(alive, Ordering::Relaxed);
    // SAFETY: the caller's arguments; `begin` is given the task that it takes over.
    let result = unsafe { pthread_create(thread, attr, begin, task.cast()) };
    if result != 0 {
        header.threads_started.fetch_sub(1, Ordering::Relaxed);
        header.threads_alive.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: no thread was made that would free it.
        unsafe { libc::free(task.cast()) };
    }
    result
}
