//! Running a program under QEMU's user mode: finding QEMU, and the program as QEMU has to be told.
//!
//! [`find()`] looks for a QEMU that takes plugins, [`Program::find`] for the program of a command, and
//! [`command()`] makes the command that runs the program under that QEMU with a plugin. Nothing is run
//! here but QEMU's own help. [`Linkage`] says whether a library can be preloaded under the program.
//!
//! # Decisions
//! * **Only some QEMUs take plugins.** That of Debian 12 does; that of Debian 13 is linked statically
//!   and does not. So QEMU is asked before anything is run.
//! * **Scripts are run by their interpreters**, which are looked up as the kernel does, since QEMU
//!   runs only ELF files.
#![deny(missing_docs)]

mod build;
mod command;
mod error;
mod find;
mod linkage;
mod program;

pub use build::build;
pub use command::{Plugin, command, library};
pub use error::{ProgramError, QemuError};
pub use find::{find, looks_first_in};
pub use linkage::{Linkage, loader};
pub use program::Program;
