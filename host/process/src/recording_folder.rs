//! The folder in which programs record their locks.
//!
//! # Who can reach it
//! The folder belongs to the user that made it, and only that user can write in it or list it. It
//! lies in another one, so that nobody else learns its name, which is 128 random bits. Whoever made
//! it may be root. A program that root starts may give up its rights, and could make no recording
//! then. So root also listens at a socket in the folder ([`Folder::make`]), and gives each process
//! that asks a file of its own. The recordings are root's files all the same: another user can
//! neither open nor shorten nor remove them, whoever the program has become.
//!
//! # What stays behind
//! The folder lies in memory if possible, because a mapped file on a disk would be written back
//! again and again. If Kilocore is killed, the folder stays there. Whoever has a folder holds a lock
//! on it, so the next one that is made finds those that nobody holds, and removes them.
//!
//! # Decisions
//! * **A recording belongs to its process and to whoever measures** (`folder.rs`, `broker.rs`). Root
//!   may measure a service that becomes another user before its first lock, forks, executes, and
//!   closes the descriptors that it does not know. (At first, every user could add files to root's
//!   folder, and files could be written by everybody: another user found one by its name and made
//!   the root program write where he liked.)
//! * **Files are made when they are asked for**, through a socket at which the kernel says who asks.
//!   To make them in advance, one would need to know how many processes there will be. To make one
//!   whenever rights are about to be dropped would miss programs that drop them by system calls of
//!   their own, such as those in Go.

mod broker;
mod folder;
mod held;
mod left;
mod names;

pub use folder::{Folder, choose, remove};
pub use names::process_of;
