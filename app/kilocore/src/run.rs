//! `kilocore run --lock NAME --rwlock NAME -- CMD…`.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgGroup, Args};
use kilocore_command_line::{Failure, lock_named};
use kilocore_locks::{LockId, RwLockId};
use kilocore_process::allowed_cores;
use kilocore_sim::Sim;

use crate::lock_name::{names_for_programs, rw_lock_for_programs_named};
use crate::{examples, launch};

/// Runs a program with its mutexes replaced, or its read-write locks, or both.
#[derive(Debug, Args)]
#[command(after_help = examples::RUN)]
#[command(group = ArgGroup::new("locks").args(["lock", "rwlock"]).required(true).multiple(true))]
pub(crate) struct Arguments {
    /// The lock to use for the program's mutexes; see `kilocore locks`. Without it, they stay as
    /// they are
    #[arg(long, value_name = "NAME", value_parser = lock_named)]
    lock: Option<LockId>,
    #[arg(long, value_name = "NAME", value_parser = rw_lock_for_programs_named, help = rwlock_help())]
    rwlock: Option<RwLockId>,
    /// Do not warn of a lock that suffers where threads outnumber cores, or of one under which a writer
    /// that waits keeps readers out
    #[arg(long, short)]
    quiet: bool,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn rwlock_help() -> String {
    format!(
        "The lock to use for the program's read-write locks: {}. Without it, they stay as they are",
        names_for_programs()
    )
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let mut command = launch::command(&arguments.command)?;
    let library = launch::library("libkilocore_run.so")?;
    launch::check_locks_are_replaced(&arguments.command)?;
    command.envs(kilocore_process::preload_environment(&library));
    // What is not named here is not replaced either, whatever the environment says.
    command.env("KILOCORE_LOCK", arguments.lock.map_or("", LockId::name));
    command.env("KILOCORE_RWLOCK", arguments.rwlock.map_or("", RwLockId::name));
    kilocore_process::keep_ignored_signals(&mut command);
    let cores = allowed_cores().len();
    if let Some(lock) = arguments.lock
        && !arguments.quiet
        && cores <= FEW_CORES
        && hands_over_in_order(lock)
    {
        eprintln!(
            "kilocore: {} hands over in a fixed order: with more busy threads than the {cores} cores \
             here it can be a few times slower than futex and the locks that park (kilocore locks; \
             --quiet leaves this out)",
            lock.name()
        );
    }
    if let Some(lock) = arguments.rwlock
        && !arguments.quiet
        && !lock.readers_pass_writers::<Sim>()
    {
        eprintln!(
            "kilocore: under {lock} a writer that waits keeps new readers out: a program whose readers \
             wait for one another as they read hangs, unlike under glibc's default and reader-first \
             (--quiet leaves this out)"
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
