//! `kilocore run --lock NAME -- CMD…`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use kilocore_locks::LockId;

use crate::failure::Failure;
use crate::launch;

/// Runs a program with its mutexes replaced.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The lock to use for the program's mutexes; see `kilocore locks`
    #[arg(long, value_name = "NAME")]
    lock: LockId,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let mut command = launch::command(&arguments.command)?;
    let library = launch::library("libkilocore_run.so")?;
    command.env("LD_PRELOAD", launch::preloading(&library));
    command.env("KILOCORE_LOCK", arguments.lock.name());
    // The program takes this process's place, so that its standard streams, its signals and its
    // exit status are its own.
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(launch::cannot_start(&arguments.command[0], &error))
}
