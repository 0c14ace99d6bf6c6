//! The common parts of the libraries that Kilocore preloads under unmodified programs.
//!
//! The dynamic linker searches a library named in `LD_PRELOAD` before the C library. So if such a
//! library exports a function under the name of a pthread function, the program and every other
//! library call that function instead of the C library's. This crate contains what such an
//! interposer needs:
//! * [`RealFunction`] and [`real`] find and call the displaced functions of the C library, and
//!   [`displaced_functions!`] declares functions that return others.
//! * [`MutexKind`], [`mutex_kind`], [`rwlock`] and [`condattr`] know the few parts of glibc's
//!   objects that tell an ordinary lock from a special one.
//! * [`c11_functions!`] exports C11's functions of locks by those of pthreads.
//! * [`allocation_calls`] is what one of the libraries and a plugin of QEMU agree on.
//! * [`environment`] reads the environment at any time.
//! * [`Reserve`] is memory where no allocator may be called.
//! * [`ThreadKey`] notices that a thread ends, and does not keep a key that the program needs.
//! * [`is_thread_sanitized`] tells programs that must be left alone.
//! * [`cancellation::held`] keeps a thread from being cancelled in the midst of our own work.
//! * [`errno::preserved`] keeps `errno` unchanged. Pthread functions report errors by their return
//!   value, so programs expect `errno` to survive a call of them.
//!
//! # Rules for code that runs inside another program
//! * **Nothing unwinds out of an exported function except a cancelled thread.** Exported functions
//!   cannot panic. `pthread_cancel` unwinds through functions that are cancellation points, and
//!   through functions in which a thread waits that may be cancelled at any instruction
//!   (`PTHREAD_CANCEL_ASYNCHRONOUS`). These functions are `extern "C-unwind"` and own nothing that
//!   needs dropping, because unwinding through a guard would end the process. What does need it is
//!   called by [`cancellation::held`].
//! * **Nothing is assumed to be initialized.** The allocator, or the constructor of another
//!   library, may lock a mutex before any constructor of ours has run. So all state is in static
//!   memory and valid from the start. It is completed on first use, without locks and without
//!   memory from the program's allocator, which may itself be the caller.
//! * **The dynamic linker is asked when the library starts**, and not later:
//!   [`RealFunction::find_all`]. Another thread may hold the linker's lock for as long as it likes.
//! * **Nothing is printed** into the program's output.
//!
//! The crate supports Linux with glibc on 64-bit machines only, because other C libraries do not
//! promise these layouts.
#![no_std]

pub mod allocation_calls;
pub mod c11;
pub mod cancellation;
pub mod condattr;
pub mod environment;
pub mod errno;
mod exit;
mod mutex_kind;
pub mod real;
mod real_function;
mod reserve;
pub mod rwlock;
mod sanitizer;
pub mod thread_key;

pub use exit::exit_by;
pub use mutex_kind::{MutexKind, mutex_kind};
pub use real_function::RealFunction;
pub use reserve::Reserve;
pub use sanitizer::is_thread_sanitized;
pub use thread_key::ThreadKey;
