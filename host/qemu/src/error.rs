//! Why QEMU cannot run a program here.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why no program, or not this one, can be run under QEMU.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QemuError {
    /// It is no program that QEMU can run here.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// There is no QEMU.
    #[error("qemu-x86_64 is not installed; install the Debian package qemu-user")]
    NoQemu,
    /// There is one that takes no plugins.
    #[error(
        "{} takes no plugins; use the package qemu-user of Debian 12 (that of Debian 13 has none), or a \
         QEMU from version 7.2 on that was configured with --enable-plugins", qemu.display()
    )]
    NoPlugins {
        /// The path of QEMU.
        qemu: PathBuf,
    },
    /// The plugin is not where it should be.
    #[error("{}: {source}; build the plugin, or name the one to use", library.display())]
    Library {
        /// Where it should be.
        library: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// QEMU cannot be started.
    #[error("cannot start {}: {source}", qemu.display())]
    Start {
        /// The path of QEMU.
        qemu: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Why QEMU cannot run a program here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It is not there, or may not be executed.
    #[error("{}: {source}; name a program that exists and may be executed", program.display())]
    Missing {
        /// The program, as it was named.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// It is a program for another kind of machine, or of another kind.
    #[error(
        "{}: this is {what}, and only programs for Linux on x86-64 can be run under QEMU",
        program.display()
    )]
    Foreign {
        /// The program's file.
        program: PathBuf,
        /// What the file is, in words.
        what: String,
    },
    /// A script names a program that is a script, and so on.
    #[error("{}: its `#!` leads from script to script; name a program", program.display())]
    Scripts {
        /// The script's file.
        program: PathBuf,
    },
    /// It has more rights than its user, which it would not have under QEMU.
    #[error(
        "{}: it is set-user-ID or set-group-ID and would not have these rights under QEMU; run it as \
         the user that it belongs to, or a copy of it", program.display()
    )]
    Privileged {
        /// The program's file.
        program: PathBuf,
    },
}
