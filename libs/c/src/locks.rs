//! The locks of [`kilocore_locks`] for C. The functions are declared and documented in
//! `include/kilocore_locks.h`.
//!
//! A lock in C is a pointer to a table of functions and
//! the two words of a [`RawLock`](kilocore_locks::RawLock). What an algorithm needs of a thread, the
//! thread keeps. A read-write lock is an object on the heap, because its size depends on the
//! algorithm.

mod condition;
mod lock;
mod rw_lock;
mod tables;

pub use condition::*;
pub use lock::*;
pub use rw_lock::*;
