//! What the libraries that Kilocore preloads under unmodified programs have in common.
//!
//! A library named in `LD_PRELOAD` comes before the C library in the search order of the dynamic
//! linker. A function that it exports under the name of a pthread function is therefore called
//! in its stead by the program and by every other library. Three things are needed to do that
//! right, and this crate is where they live:
//! * [`RealFunction`] and [`real`]: the functions of the C library that were displaced.
//! * [`MutexKind`], [`mutex_kind`] and [`condattr`]: the little that one must know of glibc's
//!   objects to tell an ordinary mutex from one with a special meaning.
//! * [`errno::preserved`]: pthread functions report errors by their return value, and programs
//!   read `errno` across them; an interposer must not disturb it.
//!
//! # Rules for code that runs inside somebody else's program
//! * **Nothing unwinds out** but a cancelled thread: exported functions cannot panic. Those that are
//!   cancellation points, or that threads wait in which may be cancelled at any instruction
//!   (`PTHREAD_CANCEL_ASYNCHRONOUS`), are `extern "C-unwind"` and own nothing that needs dropping,
//!   because `pthread_cancel` unwinds through them: through a guard it would end the process.
//! * **Nothing is assumed to be initialized.** The allocator or the constructor of another
//!   library may take a mutex before any constructor of ours has run, so all state starts out
//!   valid in static memory and is completed on first use, without locks and without memory
//!   from the program's allocator, which may itself be the caller.
//! * **Nothing is printed** on the program's behalf.
//!
//! Linux with glibc on 64-bit machines only; other C libraries do not promise these layouts.
#![no_std]

pub mod condattr;
pub mod errno;
mod mutex_kind;
pub mod real;
mod real_function;

pub use mutex_kind::{MutexKind, mutex_kind};
pub use real_function::RealFunction;
