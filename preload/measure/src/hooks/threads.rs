//! `pthread_create`, and noticing that a thread ends.
//!
//! The end is seen by the destructor of a thread-specific value, which runs however the thread
//! ends: by returning, by `pthread_exit` or cancelled. The start routine is wrapped only to set
//! that value in threads that never take a lock.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

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

/// The key plus 1; 0 before there is one, `u32::MAX` if there is none to be had.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Sees to it that the calling thread's end is noticed.
pub(crate) fn watch_end() {
    let mut key = KEY.load(Ordering::Acquire);
    if key == 0 {
        let mut fresh = 0;
        // SAFETY: a key of ours, and a destructor that takes any value.
        let failed = unsafe { libc::pthread_key_create(&raw mut fresh, Some(thread_ends)) } != 0;
        let wanted = if failed { u32::MAX } else { fresh + 1 };
        match KEY.compare_exchange(0, wanted, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => key = wanted,
            Err(theirs) => {
                // SAFETY: nobody else knows the key.
                unsafe { libc::pthread_key_delete(fresh) };
                key = theirs;
            }
        }
    }
    if key != u32::MAX {
        // SAFETY: a key of ours; the value only has to differ from null.
        unsafe { libc::pthread_setspecific(key - 1, ptr::without_provenance(1)) };
    }
}

/// Runs at the end of each thread that took a lock or was created here.
unsafe extern "C" fn thread_ends(_: *mut c_void) {
    if let Some(recorder) = Recorder::enter() {
        recorder.detach();
    }
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
