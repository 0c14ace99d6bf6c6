//! What the kernel's locks protect, and the next step for each.
//!
//! A lock of the kernel is known by its name, or by the system call in which threads wait for it. What
//! helps depends on what it protects: waits for the lock of a directory end with a second directory,
//! and those for the lock of a process's mappings do not.

use kilocore_lock_profile::KernelLockWaits;

/// What comes next for a program that waits for such locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// `kilocore run --pages`, which serves large memory without the kernel.
    Pages,
    /// `kilocore bench` with these benchmarks of `functions/bench`, which do the same.
    Bench(&'static str),
    /// `kilocore locate`, which names what takes longer on more cores.
    Locate,
}

/// Something that locks of the kernel protect.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Subject {
    /// What it is, such that it can follow `locks of`.
    pub(super) what: &'static str,
    /// What these locks are called.
    names: &'static [&'static str],
    /// The system calls in which threads wait for them, or what these begin with, if a star is at the end.
    calls: &'static [&'static str],
    /// What one of the kernel's functions has in its name, if the call alone does not tell.
    through: &'static [&'static str],
    /// What to change in the program.
    pub(super) mend: &'static str,
    pub(super) step: Step,
}

/// What a page fault is called, which is no system call.
const PAGE_FAULT: &str = "page_fault";

/// The first that fits is taken.
static SUBJECTS: &[Subject] = &[
    Subject {
        what: "words at which its threads sleep (futexes)",
        names: &["a futex's bucket"],
        calls: &["futex*"],
        through: &[],
        mend: "let fewer threads wait at one word, or at words of their own",
        step: Step::Bench("futex"),
    },
    Subject {
        what: "the scheduler",
        names: &["a core's run-queue lock"],
        calls: &[],
        through: &[],
        mend: "let threads sleep and wake one another less often, in larger pieces of work",
        step: Step::Locate,
    },
    Subject {
        what: "processes and threads that begin and end",
        names: &["anon_vma's lock", "i_mmap_rwsem", "tasklist_lock"],
        calls: &["fork", "vfork", "clone*", "execve*", "exit*", "wait4", "waitid"],
        through: &[],
        mend: "start fewer of them: use threads, a pool, or posix_spawn",
        step: Step::Bench("fork exec thread"),
    },
    Subject {
        what: "the table of open files",
        names: &["the table of open files"],
        calls: &["close", "close_range", "dup*", "fcntl"],
        through: &[],
        mend: "keep files open, or run processes instead of threads",
        step: Step::Bench("dup"),
    },
    Subject {
        what: "mapped memory",
        names: &["mmap_lock", "lru_lock", "zone->lock", "a page table's lock"],
        calls: &["mmap*", "munmap", "mremap", PAGE_FAULT],
        through: &[],
        mend: "map memory in larger pieces and keep it (glibc: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD and \
               M_TOP_PAD of mallopt, or another allocator), or run processes instead of threads",
        step: Step::Pages,
    },
    Subject {
        what: "the size and protection of memory",
        names: &[],
        calls: &["brk", "mprotect", "pkey_mprotect", "madvise", "process_madvise"],
        through: &[],
        mend: "keep memory instead of giving it back (glibc: M_TRIM_THRESHOLD and M_TOP_PAD of mallopt, \
               or another allocator), or run processes instead of threads",
        step: Step::Bench("brk malloc"),
    },
    Subject {
        what: "pipes",
        names: &["a pipe's mutex"],
        calls: &["pipe*", "splice", "tee"],
        through: &[],
        mend: "give each thread a pipe of its own, or pass more bytes at a time",
        step: Step::Bench("pipe"),
    },
    Subject {
        what: "epoll",
        names: &["an epoll's lock"],
        calls: &["epoll*"],
        through: &[],
        mend: "give each thread an epoll of its own",
        step: Step::Bench("epoll"),
    },
    Subject {
        what: "sockets",
        names: &["a socket's lock"],
        calls: &["socket*", "accept*", "connect", "bind", "listen", "send*", "recv*", "shutdown"],
        through: &[],
        mend: "give each thread a socket of its own (SO_REUSEPORT for those that listen)",
        step: Step::Bench("sock"),
    },
    Subject {
        what: "directories",
        names: &["a directory's lock"],
        calls: &[
            "open*",
            "creat",
            "unlink*",
            "rename*",
            "mkdir*",
            "rmdir",
            "link*",
            "symlink*",
            "getdents*",
        ],
        through: &[],
        mend: "spread the files over directories, one for each thread, or keep them open",
        step: Step::Bench("open open-apart unlink"),
    },
    Subject {
        what: "files",
        names: &["a file's position", "a file's lock"],
        calls: &["fallocate", "ftruncate", "truncate", "fsync", "fdatasync"],
        through: &[],
        mend: FILES,
        step: Step::Bench("write-random"),
    },
    Subject {
        what: "files",
        names: &[],
        calls: &["write*", "pwrite*", "read*", "pread*", "copy_file_range", "sendfile*"],
        // The same calls read and write devices, pipes and sockets.
        through: &["file", "inode", "generic_", "ext4", "xfs", "btrfs", "f2fs", "nfs", "shmem"],
        mend: FILES,
        step: Step::Bench("write-random"),
    },
    Subject {
        what: "signals",
        names: &[],
        calls: &["kill", "tkill", "tgkill", "rt_sig*", "timer_*"],
        through: &[],
        mend: "send fewer signals: a futex or an eventfd wakes one thread",
        step: Step::Bench("signal"),
    },
    Subject {
        what: "semaphores of System V",
        names: &[],
        calls: &["semop", "semtimedop", "semctl"],
        through: &[],
        mend: "use POSIX semaphores, which enter the kernel only to sleep",
        step: Step::Bench("sem"),
    },
];

const FILES: &str = "spread what is written over files, one for each thread, as a file's writers take turns, or \
                     write larger pieces";

/// What is said of locks that nobody knows.
static OTHERS: Subject = Subject {
    what: "something that has no name here",
    names: &[],
    calls: &[],
    through: &[],
    mend: "do what enters the kernel less often, in larger pieces, or let each thread have its own of what \
           it shares there",
    step: Step::Locate,
};

impl Subject {
    /// What a lock protects.
    pub(super) fn of(lock: &KernelLockWaits) -> &'static Self {
        let call = lock.functions.last().map(|outer| call_of(outer));
        let by_name = |one: &Self| one.names.contains(&&*lock.name);
        let by_call = |one: &Self| {
            let is = |known: &&str| match (known.strip_suffix('*'), call) {
                (Some(start), Some(call)) => call.starts_with(start),
                (None, Some(call)) => *known == call,
                (_, None) => false,
            };
            let passes =
                |part: &&str| lock.functions.iter().any(|function| function.contains(*part));
            one.calls.iter().any(is) && (one.through.is_empty() || one.through.iter().any(passes))
        };
        // A process that begins takes the locks of mapped memory, too.
        SUBJECTS.iter().find(|one| by_name(one) || by_call(one)).unwrap_or(&OTHERS)
    }

    /// Whether the locks are those of the program, which sleeps for them in the kernel.
    pub(super) fn is_of_the_program(&self) -> bool {
        std::ptr::eq(self, &SUBJECTS[0])
    }
}

/// `munmap` of `__x64_sys_munmap`.
fn call_of(outer: &str) -> &str {
    if outer == "exc_page_fault" {
        return PAGE_FAULT;
    }
    outer.find("_sys_").map_or(outer, |at| &outer[at + "_sys_".len()..])
}

impl Step {
    /// The command to type for a program, whose words are given as a shell reads them.
    pub(super) fn command(self, program: &str) -> String {
        match self {
            Self::Pages => format!("kilocore run --pages -- {program}"),
            Self::Bench(names) => format!("kilocore bench --as threads {names}"),
            Self::Locate => format!("kilocore locate -- {program}"),
        }
    }

    /// What the command does, such that it can follow it.
    pub(super) fn does(self) -> &'static str {
        match self {
            Self::Pages => {
                "serves the program's large anonymous memory from a pool, so that it enters the kernel \
                 less often for it: time it so"
            }
            Self::Bench(_) => "measures how far that scales here, without the program",
            Self::Locate => "names the functions, the kernel's too, that take longer on more cores",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(name: &str, functions: &[&str]) -> &'static Subject {
        let functions = functions.iter().map(|name| (*name).to_owned()).collect();
        Subject::of(&KernelLockWaits {
            name: name.to_owned(),
            functions,
            ..KernelLockWaits::default()
        })
    }

    #[test]
    fn locks_are_known_by_name_and_by_the_call_that_takes_them() {
        let what = |name, functions: &[&str]| subject(name, functions).what;
        assert_eq!(what("mmap_lock", &["__vm_munmap", "__x64_sys_munmap"]), "mapped memory");
        assert_eq!(what("", &["up_read", "exc_page_fault"]), "mapped memory");
        let forked =
            what("mmap_lock or i_mmap_rwsem", &["dup_mmap", "copy_process", "__do_sys_clone"]);
        assert_eq!(forked, "processes and threads that begin and end");
        assert_eq!(what("", &["do_unlinkat", "__x64_sys_unlink"]), "directories");
        assert_eq!(what("", &["path_openat", "__x64_sys_openat"]), "directories");
        let written = ["ext4_buffered_write_iter", "vfs_write", "__x64_sys_pwrite64"];
        assert_eq!(what("", &written), "files");
        assert_eq!(what("a pipe's mutex", &["anon_pipe_write", "__x64_sys_write"]), "pipes");
        assert_eq!(what("", &["n_tty_write", "tty_write", "__x64_sys_write"]), OTHERS.what);
        assert_eq!(what("", &[]), OTHERS.what);
    }

    #[test]
    fn a_futex_waits_for_a_lock_of_the_program() {
        assert!(subject("a futex's bucket", &["futex_wait_setup"]).is_of_the_program());
        assert!(!subject("mmap_lock", &["__vm_munmap"]).is_of_the_program());
    }

    #[test]
    fn each_step_is_a_command() {
        let command = |name| subject(name, &[]).step.command("./prog 4");
        assert_eq!(command("mmap_lock"), "kilocore run --pages -- ./prog 4");
        assert_eq!(command("a pipe's mutex"), "kilocore bench --as threads pipe");
        assert_eq!(command("a core's run-queue lock"), "kilocore locate -- ./prog 4");
    }
}
