//! What the command lines of the project's programs share.
//!
//! A program says once which it is ([`begin`]); messages and reports then bear its name. Its results
//! go to standard output as tables for people or as one JSON document, and into files by their
//! endings ([`reports`]). Whatever goes wrong for a reason that the user can mend is a [`Failure`]:
//! exit status 2 and one message.
//!
//! A command that starts a program shares its standard output with it; [`Destination`] says where the
//! answer goes then. A reader that goes away ends a program quietly ([`end`]).

mod chosen;
mod core_list;
mod destination;
mod failure;
mod lines;
mod lock_name;
pub mod output;
mod program;
mod reader;
pub mod reports;
pub mod screen;
mod within;

pub use chosen::chosen;
pub use core_list::{CoreList, CoreListError};
pub use destination::Destination;
pub use failure::Failure;
pub use lock_name::{lock_named, mutexes, rw_lock_named, rw_locks, unknown_lock};
pub use program::{begin, say};
pub use reader::{end, parse, reader_is_gone};
pub use within::within;
