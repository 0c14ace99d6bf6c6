//! `libkilocore_run.so`: put under an unmodified program with `LD_PRELOAD`, replaces the algorithm
//! of its mutexes by the lock named in `KILOCORE_LOCK`.
//!
//! # How
//! The library exports `pthread_mutex_*` and `pthread_cond_*`. The lock's state lies inside the
//! program's own `pthread_mutex_t`, in the 16 bytes before the word in which glibc keeps the
//! mutex's kind, and an all-zero lock is free, so statically initialized mutexes need no
//! preparation. Mutexes whose kind says that they do more than exclude (recursive,
//! error-checking, robust, with a priority protocol, shared by processes) go to glibc as before.
//! Condition variables are written anew, because glibc's would lock and unlock the mutex behind
//! this library's back; see [`condvar`].
//!
//! # Where to read
//! [`choice`] picks the lock on first use; [`mutex`] is the mutex over any lock; [`patience`] is how
//! threads wait for it, [`host`] how their locks do, and [`rooms`] where; [`process`] tells a
//! forked child from its parent; [`thread_state`] keeps what a lock needs per thread; [`heap`] is
//! memory that comes neither from the program nor, as a rule, from the system. What the library
//! does for a user, what it leaves alone and its limits are in `docs/run.md`.
//!
//! # Rules
//! Those of [`kilocore_preload_common`]: nothing unwinds into the program (save a cancellation on its
//! way through), nothing is assumed to be initialized, nothing is printed but one line when
//! `KILOCORE_LOCK` names no lock.
// A library without a public interface: its documentation is for those who read the source.
#![allow(rustdoc::private_intra_doc_links)]

mod choice;
mod condvar;
pub mod condvar_exports;
mod cores;
mod deadline;
mod heap;
mod host;
mod impatience;
mod mutex;
pub mod mutex_exports;
mod mutex_users;
mod patience;
mod process;
mod rooms;
mod shared_condvar;
mod slot;
mod thread_state;
mod waiter;

/// The memory of the locks' queue nodes must not come from the program's allocator, which may
/// lock mutexes itself.
#[global_allocator]
static HEAP: heap::Heap = heap::Heap::new();

/// Settles everything while the environment is as the user left it, there is one thread, and no
/// sandbox forbids a system call yet. Only a courtesy: whoever comes earlier settles it on first
/// use.
extern "C" fn start() {
    if choice::replaces() {
        process::current();
        shared_condvar::find_marks();
        cores::measure();
        rooms::register();
        (choice::functions().prepare)();
    }
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
