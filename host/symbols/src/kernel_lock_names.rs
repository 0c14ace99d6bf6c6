//! What the kernel's best-known locks are called, by the functions that acquire them.
//!
//! A lock of the kernel has no name in memory. But some functions acquire one lock only, and people who
//! ask why a program does not scale know these locks by name.

/// Names of locks, and what the functions that acquire them are called or begin with, if a star is at
/// the end.
const NAMES: &[(&str, &[&str])] = &[
    (
        "mmap_lock",
        &[
            "__vm_munmap",
            "vm_mmap_pgoff",
            "lock_mm_and_find_vma",
            "do_mprotect_pkey*",
            "do_madvise*",
            "madvise_lock*",
            "__do_sys_brk",
            "__x64_sys_brk",
            "vm_brk_flags",
            "__do_sys_mremap",
            "__mm_populate",
            "exit_mmap",
            "mmap_read_lock*",
            "mmap_write_lock*",
        ],
    ),
    // A fork takes both there. See `LockWaiters`.
    ("mmap_lock or i_mmap_rwsem", &["dup_mmap"]),
    ("lru_lock", &["folio_lruvec_lock*", "lruvec_lock*"]),
    ("zone->lock", &["rmqueue_bulk*", "free_pcppages_bulk*", "free_one_page*"]),
    ("a page table's lock", &["__pte_offset_map_lock", "pte_offset_map_lock*"]),
    (
        "anon_vma's lock",
        &["anon_vma_clone", "anon_vma_fork", "unlink_anon_vmas", "folio_lock_anon*"],
    ),
    (
        "i_mmap_rwsem",
        &["i_mmap_*", "unlink_file_vma*", "vma_link_file", "vma_prepare", "unmap_mapping_*"],
    ),
    (
        "a core's run-queue lock",
        &["raw_spin_rq_lock*", "__task_rq_lock", "task_rq_lock", "__schedule"],
    ),
    ("tasklist_lock", &["copy_process", "release_task*", "exit_notify", "wait_task_zombie"]),
    ("a futex's bucket", &["futex_q_lock", "futex_wake*", "futex_wait_setup", "futex_requeue"]),
    (
        "a pipe's mutex",
        &["pipe_write", "pipe_read", "anon_pipe_write", "anon_pipe_read", "pipe_poll"],
    ),
    ("a file's position", &["__fdget_pos", "fdget_pos"]),
    (
        "a directory's lock",
        &[
            "do_unlinkat",
            "do_rmdir",
            "filename_create",
            "path_openat",
            "open_last_lookups",
            "lookup_slow",
            "iterate_dir",
            "lock_rename*",
            "lock_two_directories",
        ],
    ),
    (
        "a file's lock",
        &[
            "ext4_buffered_write_iter",
            "ext4_dio_write_iter",
            "ext4_dax_write_iter",
            "ext4_fallocate",
            "generic_file_write_iter",
            "btrfs_buffered_write",
            "btrfs_direct_write",
            "xfs_ilock*",
            "f2fs_file_write_iter",
            "shmem_file_write_iter",
            "do_truncate",
        ],
    ),
    (
        "the table of open files",
        &["alloc_fd", "file_close_fd*", "fd_install", "do_dup2", "close_fd*"],
    ),
    ("a socket's lock", &["lock_sock_nested", "release_sock"]),
    ("an epoll's lock", &["ep_*", "do_epoll_ctl", "eventpoll_*"]),
];

/// What is known of those who wait for one lock.
///
/// A process has a lock of its own for what it has mapped, and a file has one for who maps it. `dup_mmap`, by which a process
/// forks, takes both. Only the file's is waited for by several processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LockWaiters {
    /// They may all be threads of one process.
    Unknown,
    /// They are threads of at least two.
    OfSeveralProcesses,
}

/// The name of a lock that is acquired in a function, or `None` if nobody knows.
///
/// ```
/// use kilocore_symbols::{LockWaiters, kernel_lock_name};
///
/// assert_eq!(kernel_lock_name("__vm_munmap", LockWaiters::Unknown), Some("mmap_lock"));
/// assert_eq!(kernel_lock_name("__x64_sys_munmap", LockWaiters::Unknown), None);
/// assert_eq!(kernel_lock_name("dup_mmap", LockWaiters::OfSeveralProcesses), Some("i_mmap_rwsem"));
/// ```
#[must_use]
pub fn kernel_lock_name(function: &str, waiters: LockWaiters) -> Option<&'static str> {
    if function == "dup_mmap" && waiters == LockWaiters::OfSeveralProcesses {
        return Some("i_mmap_rwsem");
    }
    let is = |known: &str| match known.strip_suffix('*') {
        Some(start) => function.starts_with(start),
        None => function == known,
    };
    NAMES
        .iter()
        .find(|(_, functions)| functions.iter().any(|known| is(known)))
        .map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::{LockWaiters, kernel_lock_name};

    fn name(function: &str) -> Option<&'static str> {
        kernel_lock_name(function, LockWaiters::Unknown)
    }

    #[test]
    fn locks_are_known_by_who_acquires_them() {
        assert_eq!(name("__vm_munmap"), Some("mmap_lock"));
        assert_eq!(name("folio_lruvec_lock_irqsave"), Some("lru_lock"));
        assert_eq!(name("do_unlinkat"), Some("a directory's lock"));
        assert_eq!(name("ext4_buffered_write_iter"), Some("a file's lock"));
        assert_eq!(name("dup_mmap"), Some("mmap_lock or i_mmap_rwsem"));
        assert_eq!(name("__vm_munmap_other"), None);
        assert_eq!(name("ext4_file_read_iter"), None);
    }
}
