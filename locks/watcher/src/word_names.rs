//! Names for the words that threads of a running program wait on, and for the places where they
//! wait.
//!
//! [`Names`] knows a process by the files below `/proc`: which files are mapped where, and what
//! their symbol tables and unwind tables say. [`waiter`] knows synchronization libraries by the
//! names of their functions: a stack tells what its thread waits for. A [`Hint`] says how files that
//! were stripped of their names get them back.

mod files;
mod hint;
mod names;
mod packages;
mod place;
mod unwinding;
mod waiter;

pub use files::Files;
pub use hint::{Hint, Remedy};
pub use names::Names;
pub use place::WordPlace;
pub(crate) use waiter::lock_spun_for;
pub use waiter::{WaitKind, Waiter, own_frame, waiter};
