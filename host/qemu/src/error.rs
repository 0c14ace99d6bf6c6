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
        "{} takes no plugins; `kilocore emulate --build-qemu` builds one that does, from Debian's source package \
         (that of Debian 12 takes them, that of Debian 13 does not)", qemu.display()
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
    /// There is no folder for the user's own QEMU.
    #[error("cannot use the folder kilocore/qemu in this user's cache: {0}")]
    Cache(io::Error),
    /// It was not built, for the reason that was written to standard error.
    #[error("QEMU was not built in {}; see above", folder.display())]
    NotBuilt {
        /// Where it was to be built.
        folder: PathBuf,
    },
    /// QEMU cannot be started.
    #[error("cannot start {}: {source}; name one that is installed, as by the Debian package qemu-user", qemu.display())]
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
