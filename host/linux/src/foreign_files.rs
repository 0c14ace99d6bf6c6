//! Opening and reading files that somebody else wrote, named, or put there.
//!
//! Whoever looks at a program follows names that the program gives: of its libraries, of files with
//! debugging information, of what a virtual machine left in `/tmp`. The program may belong to another
//! user, and whoever looks may be root. So nothing is done to a file before it is known to be one
//! ([`ForeignFile`]), nothing of it is mapped, because its owner could take the pages away, and what is
//! read of it is bounded by what this process has room for ([`Room`]).

mod file;
mod file_systems;
mod image;
mod opening;
mod room;
mod users;

pub use file::{FileIdentity, ForeignFile, ForeignFileError};
pub use image::Image;
pub use opening::seen_from;
pub use room::{NoRoom, Room, Taken};
pub use users::{own_user, users_of_process};
