//! Names for the words that threads of a running program wait on, and for the places where they
//! wait.
//!
//! [`Names`] knows a process by the files below `/proc`: which files are mapped where, and what
//! their symbol tables and unwind tables say. [`waiter`] knows synchronization libraries by the
//! names of their functions: a stack tells what its thread waits for.

mod maps;
mod names;
mod place;
mod unwinding;
mod waiter;

pub use names::Names;
pub use place::WordPlace;
pub use waiter::{WaitKind, Waiter, own_frame, waiter};
