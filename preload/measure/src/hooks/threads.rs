//! The function `pthread_create`. The start routine is wrapped so that a thread joins the recording
//! even if it never acquires a lock.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use kilocore_preload_common::real_functions;
use libc::{pthread_attr_t, pthread_t};

use crate::recorder::Recorder;

type Start = unsafe extern "C-unwind" fn(*mut c_void) -> *mut c_void;

real_functions! {
    fn pthread_create(
        thread: *mut pthread_t,
        attr: *const pthread_attr_t,
        start: Start,
        argument: *mut c_void,
    ) -> libc::c_int;
}

/// The start routine of a new thread and its argument.
struct Task {
    start: Start,
    argument: *mut c_void,
}

/// The first function of a thread.
unsafe extern "C-unwind" fn begin(task: *mut c_void) -> *mut c_void {
    // SAFETY: this is the Task that `create` below has made for this thread, in memory from malloc.
    // The memory is not used after this.
    let Task { start, argument } = unsafe { task.cast::<Task>().read() };
    // SAFETY: as above.
    unsafe { libc::free(task) };
    // This makes the thread join the recording.
    let _ = Recorder::enter();
    // SAFETY: this calls the program's routine with the program's argument. If the routine does not
    // return, nothing here needs dropping.
    unsafe { start(argument) }
}

/// Creates a thread.
///
/// # Safety
/// The contract is that of the POSIX function.
#[unsafe(export_name = "pthread_create")]
unsafe extern "C" fn create(
    thread: *mut pthread_t,
    attr: *const pthread_attr_t,
    start: Start,
    argument: *mut c_void,
) -> c_int {
    let Some(recorder) = Recorder::enter() else {
        // SAFETY: this passes on the caller's arguments unchanged.
        return unsafe { pthread_create(thread, attr, start, argument) };
    };
    // SAFETY: this is a plain allocation, as the C library itself will make one for the thread.
    let task = unsafe { libc::malloc(size_of::<Task>()) }.cast::<Task>();
    if task.is_null() {
        return libc::EAGAIN;
    }
    // SAFETY: the memory has the size of a Task, and is aligned for any type.
    unsafe { task.write(Task { start, argument }) };
    let header = recorder.header();
    header.threads_started.fetch_add(1, Ordering::Relaxed);
    let alive = header.threads_alive.fetch_add(1, Ordering::Relaxed) + 1;
    header.threads_peak.fetch_max(alive, Ordering::Relaxed);
    // SAFETY: this passes on the caller's arguments. `begin` gets the task and frees it.
    let result = unsafe { pthread_create(thread, attr, begin, task.cast()) };
    if result != 0 {
        header.threads_started.fetch_sub(1, Ordering::Relaxed);
        header.threads_alive.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: no thread was made that would free the task.
        unsafe { libc::free(task.cast()) };
    }
    result
}
