//! Runs programs with `libkilocore_run.so` preloaded.
#![allow(dead_code)] // each test file uses its part

pub(crate) mod c;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

pub(crate) use kilocore_shipped::{Running, run};

use kilocore_locks::{LockId, RwLockId};
use kilocore_platform::Native;

/// Returns the library as it is shipped.
pub(crate) fn library() -> PathBuf {
    kilocore_shipped::folder().join("libkilocore_run.so")
}

/// A lock of each family: one whose waiters sleep and get the lock in no order, one whose waiters
/// spin on a common word, and queues whose waiters spin, sleep, stay on their NUMA node, stand
/// aside, or ask the holder.
const FAMILIES: [&str; 7] =
    ["futex", "ticket", "mcs", "clh-park", "cna", "malthusian", "requester"];

/// A read-write lock of each family: one word, a bias for readers, and counts per core.
const RW_FAMILIES: [&str; 3] = ["phase-fair", "bravo-writer-first", "per-core"];

/// If this variable is set in the environment, every program runs under every lock, as in `make
/// soak`.
const EVERY_LOCK: &str = "KILOCORE_EVERY_LOCK";

/// Returns `None`, which stands for a run without the library, and then a lock of each family. If
/// [`EVERY_LOCK`] is set, it returns all locks.
pub(crate) fn locks() -> impl Iterator<Item = Option<&'static str>> {
    let chosen: Vec<LockId> = if std::env::var_os(EVERY_LOCK).is_some() {
        LockId::ALL.to_vec()
    } else {
        FAMILIES.iter().map(|name| name.parse().expect("the registry knows it")).collect()
    };
    std::iter::once(None).chain(chosen.into_iter().map(|lock| Some(lock.name())))
}

/// Returns `None`, which stands for a run without the library, and then all read-write locks.
pub(crate) fn rwlocks() -> impl Iterator<Item = Option<&'static str>> {
    let locks = RwLockId::for_programs::<Native>().map(|lock| Some(lock.name()));
    std::iter::once(None).chain(locks)
}

/// Returns `None`, and then a read-write lock of each family, for programs that take long. If
/// [`EVERY_LOCK`] is set, it returns all.
pub(crate) fn rwlock_families() -> impl Iterator<Item = Option<&'static str>> {
    let every = std::env::var_os(EVERY_LOCK).is_some();
    rwlocks().filter(move |lock| every || lock.is_none_or(|name| RW_FAMILIES.contains(&name)))
}

/// Returns an empty directory for the test called `name`.
pub(crate) fn scratch(name: &str) -> PathBuf {
    kilocore_shipped::scratch(env!("CARGO_TARGET_TMPDIR"), name)
}

/// Returns `command` with the library preloaded and the lock called `lock`. If there is no lock,
/// the command runs without the library.
pub(crate) fn under(command: Command, lock: Option<&str>) -> Command {
    under_both(command, lock, None)
}

/// Does the same for a read-write lock. Mutexes stay as they are.
pub(crate) fn under_rwlock(command: Command, rwlock: Option<&str>) -> Command {
    under_both(command, None, rwlock)
}

/// Returns `command` with the library preloaded if there is any lock: one for mutexes, or one for
/// read-write locks, or both.
pub(crate) fn under_both(
    mut command: Command,
    lock: Option<&str>,
    rwlock: Option<&str>,
) -> Command {
    for variable in ["LD_PRELOAD", "KILOCORE_LOCK", "KILOCORE_RWLOCK"] {
        command.env_remove(variable);
    }
    for (variable, lock) in [("KILOCORE_LOCK", lock), ("KILOCORE_RWLOCK", rwlock)] {
        if let Some(lock) = lock {
            command.env("LD_PRELOAD", library()).env(variable, lock);
        }
    }
    command
}

/// Checks that the library is loaded in a program if there is a lock, and only then.
pub(crate) fn check_library(program: &Running, lock: Option<&str>) {
    program.assert_loaded("libkilocore_run.so", lock.is_some());
}

/// Runs a program that succeeds, for at most the time `limit`, and returns its standard output.
pub(crate) fn succeed(command: Command, limit: Duration) -> String {
    String::from_utf8_lossy(&kilocore_shipped::succeed(command, limit)).into_owned()
}
