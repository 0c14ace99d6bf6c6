//! `libkilocore_run.so` is preloaded under an unmodified program with `LD_PRELOAD`. It replaces the
//! algorithm of the program's mutexes by the lock that is named in `KILOCORE_LOCK`, and that of its
//! read-write locks by the one that is named in `KILOCORE_RWLOCK`. Either may be named alone.
//!
//! # How it works
//! The library exports `pthread_mutex_*` and `pthread_cond_*`. The lock's state lies inside the
//! program's own `pthread_mutex_t`, in the 16 bytes before the word in which glibc keeps the
//! mutex's kind. A lock of all zeros is free, so statically initialized mutexes need no
//! preparation. If the kind says that a mutex does more than exclude (it is recursive,
//! error-checking, robust, shared by processes, or has a priority protocol), glibc handles that
//! mutex as before. Condition variables are implemented here as well, because glibc's would lock
//! and unlock the mutex without this library; see [`condvar`].
//!
//! It exports `pthread_rwlock_*` likewise. Their state lies inside the program's own
//! `pthread_rwlock_t`, and locks that processes share stay glibc's.
//!
//! # What is where
//! * [`choice`] chooses a lock on first use, [`mutex_choice`] that for mutexes and
//!   [`rwlock_choice`] that for read-write locks.
//! * [`mutex`] implements the mutex functions with any lock.
//! * [`rwlock`] and [`replaced_rwlock`] implement the functions of read-write locks with any such
//!   lock, and [`read_holds`] is what a thread keeps of those that it reads under.
//! * [`patience`] is how threads wait for a mutex, [`host`] is how the locks' own waiters wait, and
//!   [`rooms`] contains the waiting rooms.
//! * [`process`] tells a forked child from its parent.
//! * [`thread_state`] keeps what a lock needs for each thread.
//! * [`versioned`] lets programs that ask for a version of a function find the one here.
//! * [`heap`] is the memory. It does not come from the program's allocator, and rarely from the
//!   system.
//!
//! `docs/guide/run.md` says what the library does for a user, what it does not change, and its limits.
//!
//! # Rules
//! The rules of [`kilocore_preload_common`] hold: nothing unwinds into the program, except for a
//! cancellation on its way through; nothing is assumed to be initialized; and nothing is printed,
//! except for one line if `KILOCORE_LOCK` or `KILOCORE_RWLOCK` does not name a lock.
// The library has no public interface. Its documentation is for readers of the source.
#![allow(rustdoc::private_intra_doc_links)]

pub mod c11_exports;
mod choice;
mod condvar;
pub mod condvar_exports;
mod cores;
mod deadline;
mod export;
mod glibcs_timed;
mod heap;
mod host;
mod impatience;
mod mutex;
mod mutex_choice;
pub mod mutex_exports;
mod mutex_users;
mod patience;
mod polls;
mod process;
mod read_holds;
mod replaced_rwlock;
mod rooms;
mod rwlock;
mod rwlock_choice;
pub mod rwlock_exports;
mod rwlock_wait;
mod shared_condvar;
mod slot;
mod thread_state;
mod versioned;
mod waiter;

use kilocore_preload_common::RealFunction;

/// The locks' queue nodes must not be allocated by the program's allocator, which may lock mutexes
/// itself.
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

/// Initializes everything while the environment is as the user left it, there is only one thread,
/// and no sandbox forbids a system call yet. If a mutex is used earlier than this, that first use
/// initializes what it needs.
extern "C" fn start() {
    RealFunction::find_all();
    let mutexes = mutex_choice::replaces();
    if mutexes || rwlock_choice::replaces() {
        process::current();
        cores::measure();
    }
    if mutexes {
        shared_condvar::find_marks();
        polls::prepare();
        rooms::register();
        (mutex_choice::functions().prepare)();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
