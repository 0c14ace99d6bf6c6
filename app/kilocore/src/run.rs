//! `kilocore run --lock NAME --rwlock NAME --pages -- CMD…`: a program with what helps, unmodified.

mod pages;
mod replaced;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{ArgGroup, Args};
use kilocore_command_line::{Failure, lock_named, say};
use kilocore_locks::{LockId, RwLockId};
use kilocore_process::allowed_cores;
use kilocore_sim::Sim;

use crate::lock_name::{names_for_programs, rw_lock_for_programs_named};

pub(crate) use replaced::Replaced;

use crate::{examples, launch};

/// Runs a program with its locks replaced, or with a page pool, or with both.
#[derive(Debug, Args)]
#[command(
    override_usage = "kilocore run [--lock NAME] [--rwlock NAME] [--pages] <COMMAND>...",
    after_help = examples::RUN
)]
#[command(group = ArgGroup::new("what").args(["lock", "rwlock", "pages"]).required(true).multiple(true))]
pub(crate) struct Arguments {
    /// Use this lock for the program's mutexes; see `kilocore list locks`. Without it, they stay as
    /// they are
    #[arg(long, value_name = "NAME", value_parser = lock_named)]
    lock: Option<LockId>,
    #[arg(long, value_name = "NAME", value_parser = rw_lock_for_programs_named, help = rwlock_help())]
    rwlock: Option<RwLockId>,
    /// Do not warn of a lock that suffers where threads outnumber cores, or of one under which a writer
    /// that waits keeps readers out
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    pages: pages::Pages,
    /// The program and its arguments, all that follows; `--` before it ends kilocore's own options
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

fn rwlock_help() -> String {
    format!(
        "Use this lock for the program's read-write locks: {}. Without it, they stay as they are",
        names_for_programs()
    )
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let command = &arguments.command;
    launch::check(command)?;
    let mut libraries: Vec<PathBuf> = Vec::new();
    let mut environment = Vec::new();
    if arguments.lock.is_some() || arguments.rwlock.is_some() {
        let replaced = Replaced {
            lock: arguments.lock.map(LockId::name),
            rwlock: arguments.rwlock.map(RwLockId::name),
        };
        libraries.push(replaced.library(command)?);
        environment.extend(replaced.variables());
        if !arguments.quiet {
            arguments.warn();
        }
    }
    if arguments.pages.are_wanted() {
        arguments.pages.check()?;
        launch::check_memory_is_served(command)?;
        libraries.push(launch::library("libkilocore_pages.so")?);
        environment.extend(arguments.pages.environment());
    }
    let libraries: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    environment.extend(kilocore_process::preload_all(&libraries));
    if arguments.pages.tells() {
        return pages::run_and_tell(command, environment);
    }
    let mut program = Command::new(&command[0]);
    program.args(&command[1..]).envs(environment).env_remove(pages::STATISTICS);
    kilocore_process::keep_ignored_signals(&mut program);
    // The program takes this process's place, so that its standard streams, its signals and its
    // exit status are its own.
    let error = kilocore_process::execute(&mut program);
    Err(launch::cannot_start(&command[0], error))
}

impl Arguments {
    /// Says what the locks that were chosen are bad at, if that can matter here.
    fn warn(&self) {
        let cores = allowed_cores().len();
        if let Some(lock) = self.lock
            && cores <= FEW_CORES
            && hands_over_in_order(lock)
        {
            say(&format!(
                "{} hands over in a fixed order: with more busy threads than the {cores} cores \
                 here it can be a few times slower than futex and the locks that park (kilocore list \
                 locks; --quiet leaves this out)",
                lock.name()
            ));
        }
        if let Some(lock) = self.rwlock
            && !lock.readers_pass_writers::<Sim>()
        {
            say(&format!(
                "under {lock} a writer that waits keeps new readers out: a program whose \
                 readers wait for one another as they read hangs, unlike under glibc's default and \
                 reader-first (--quiet leaves this out)"
            ));
        }
    }
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
