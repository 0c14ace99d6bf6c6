//! Which functions of Linux acquire and release locks.

use kilocore_kernel_path::{LockKind, Mode};

/// What a function does to the word that it updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Acquires(LockKind, Mode),
    Releases,
    /// It puts a mapping into a file's tree.
    PutsIn,
    /// It takes one out.
    TakesOut,
}

/// What a function does to locks, by its name.
pub(crate) fn role(function: &str) -> Option<Role> {
    use LockKind::{Mutex, ReadWriteSpin, Semaphore, Spin};
    use Mode::{Alone, Shared};
    let is_one_of = |start: &str, ends: &[&str]| {
        function.strip_prefix(start).is_some_and(|end| ends.contains(&end))
    };
    const HOW: [&str; 5] = ["", "_bh", "_irq", "_irqsave", "_irqrestore"];
    Some(match function {
        "vma_interval_tree_insert" | "vma_interval_tree_insert_after" => Role::PutsIn,
        "vma_interval_tree_remove" => Role::TakesOut,
        _ if is_one_of("_raw_spin_lock", &HOW) || is_one_of("_raw_spin_trylock", &HOW) => {
            Role::Acquires(Spin, Alone)
        }
        _ if is_one_of("_raw_read_lock", &HOW) || function == "_raw_read_trylock" => {
            Role::Acquires(ReadWriteSpin, Shared)
        }
        "_raw_write_trylock" | "_raw_write_lock_nested" => Role::Acquires(ReadWriteSpin, Alone),
        _ if is_one_of("_raw_write_lock", &HOW) => Role::Acquires(ReadWriteSpin, Alone),
        _ if is_one_of("down_read", &["", "_killable", "_interruptible", "_trylock"]) => {
            Role::Acquires(Semaphore, Shared)
        }
        _ if is_one_of("down_write", &["", "_killable", "_trylock"]) => {
            Role::Acquires(Semaphore, Alone)
        }
        "mutex_trylock" => Role::Acquires(Mutex, Alone),
        _ if is_one_of("mutex_lock", &["", "_killable", "_interruptible", "_io"]) => {
            Role::Acquires(Mutex, Alone)
        }
        "up_read" | "up_write" | "mutex_unlock" => Role::Releases,
        _ if ["_raw_spin_unlock", "_raw_read_unlock", "_raw_write_unlock"]
            .iter()
            .any(|start| is_one_of(start, &HOW)) =>
        {
            Role::Releases
        }
        _ => return None,
    })
}
