//! `kilocore run --lock NAME -- CMD…`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Args;
use kilocore_locks::LockId;
use kilocore_process::allowed_cores;

use crate::failure::Failure;
use crate::lock_name::lock_named;
use crate::{examples, launch};

/// Runs a program with its mutexes replaced.
#[derive(Debug, Args)]
#[command(after_help = examples::RUN)]
pub(crate) struct Arguments {
    /// The lock to use for the program's mutexes; see `kilocore locks`
    #[arg(long, value_name = "NAME", value_parser = lock_named)]
    lock: LockId,
    /// Do not warn of a lock that suffers where threads outnumber cores
    #[arg(long, short)]
    quiet: bool,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let mut command = launch::command(&arguments.command)?;
    let library = launch::library("libkilocore_run.so")?;
    command.env("LD_PRELOAD", kilocore_process::preloading(&library));
    command.env("KILOCORE_LOCK", arguments.lock.name());
    kilocore_process::keep_ignored_signals(&mut command);
    let cores = allowed_cores().len();
    if !arguments.quiet && cores <= FEW_CORES && hands_over_in_order(arguments.lock) {
        eprintln!(
            "kilocore: {} hands over in a fixed order: with more busy threads than the {cores} cores \
             here it can be a few times slower than futex and the locks that park (kilocore locks; \
             --quiet leaves this out)",
            arguments.lock.name()
        );
    }
    // The program takes this process's place, so that its standard streams, its signals and its
    // exit status are its own.
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    Err(launch::cannot_start(&arguments.command[0], &error))
}

/// Programs have so many threads that they want to run at a time more often than not.
const FEW_CORES: usize = 8;

/// Whether a lock's next holder is settled before it is free, and spins until then: if it is not
/// running, nobody can go on.
fn hands_over_in_order(lock: LockId) -> bool {
    let waiting = lock.info().waiting;
    waiting.hands_over() && !waiting.sleeps()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queues_of_spinning_waiters_are_told_from_the_others() {
        let strict = |name: &str| hands_over_in_order(name.parse().expect("a lock"));
        assert!(strict("mcs") && strict("ticket") && strict("cna"));
        assert!(!strict("futex") && !strict("tas") && !strict("mcs-park") && !strict("backoff"));
    }
}
