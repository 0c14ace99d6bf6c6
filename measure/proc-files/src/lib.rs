//! What the system's files say of processes and threads at this moment: which there are, in what
//! state they are, and in which system call a thread sleeps.
//!
//! These are reads of a few hundred bytes below `/proc`, made so that many of them in a row cost
//! the programs that are looked at next to nothing.

mod look;
mod process;
mod small_file;

pub use look::{Call, Doing, Look, Word, doing, look};
pub use process::{
    FileId, Status, all, environment_begins, executable, has_environment, name, newest,
    processor_time, status, threads,
};
pub use small_file::read;
