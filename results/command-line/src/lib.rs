//! What the command lines of the project's programs share.
//!
//! A program says once which it is ([`begin`]); messages and reports then bear its name. Its results
//! go to standard output as tables for people or as one JSON document, and into files by their
//! endings ([`reports`]). Whatever goes wrong for a reason that the user can mend is a [`Failure`]:
//! exit status 2 and one message.

mod chosen;
mod core_list;
mod failure;
mod lock_name;
pub mod output;
mod program;
pub mod reports;
pub mod screen;
mod within;

pub use chosen::chosen;
pub use core_list::{CoreList, CoreListError};
pub use failure::Failure;
pub use lock_name::{lock_named, mutexes, rw_lock_named, rw_locks, unknown_lock};
pub use program::{begin, say};
pub use within::within;
