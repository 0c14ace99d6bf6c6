//! Calls of the system that need not be looked at.
//!
//! The program's memory, its threads and its signals are its own. Time, chance and processors are the simulated
//! machine's. What the system and its user are called, and what the program may use, whoever keeps the result knows.

/// Whether a call concerns only the program itself, or the simulated machine, or tells what whoever keeps the result
/// knows.
pub(crate) fn is(call: i64) -> bool {
    match call {
        // Memory.
        libc::SYS_mmap
        | libc::SYS_munmap
        | libc::SYS_mprotect
        | libc::SYS_mremap
        | libc::SYS_brk
        | libc::SYS_madvise
        | libc::SYS_msync
        | libc::SYS_mlock
        | libc::SYS_mlock2
        | libc::SYS_munlock
        | libc::SYS_mlockall
        | libc::SYS_munlockall
        | libc::SYS_memfd_create
        | libc::SYS_membarrier
        | libc::SYS_arch_prctl => true,
        // Threads and signals.
        libc::SYS_futex
        | libc::SYS_set_tid_address
        | libc::SYS_set_robust_list
        | libc::SYS_get_robust_list
        | libc::SYS_rseq
        | libc::SYS_sched_yield
        | libc::SYS_sched_getaffinity
        | libc::SYS_sched_setaffinity
        | libc::SYS_sched_getscheduler
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_getparam
        | libc::SYS_sched_setparam
        | libc::SYS_sched_get_priority_max
        | libc::SYS_sched_get_priority_min
        | libc::SYS_rt_sigaction
        | libc::SYS_rt_sigprocmask
        | libc::SYS_rt_sigreturn
        | libc::SYS_rt_sigpending
        | libc::SYS_sigaltstack
        // Whether it waits for something that is not simulated is known before.
        | libc::SYS_pause
        | libc::SYS_restart_syscall => true,
        // The simulated machine's.
        libc::SYS_clock_gettime
        | libc::SYS_clock_getres
        | libc::SYS_gettimeofday
        | libc::SYS_time
        | libc::SYS_nanosleep
        | libc::SYS_clock_nanosleep
        | libc::SYS_alarm
        | libc::SYS_getcpu
        | libc::SYS_getrandom
        | libc::SYS_sysinfo => true,
        // Who it is. The numbers of processes and threads are chance.
        libc::SYS_getpid
        | libc::SYS_gettid
        | libc::SYS_getppid
        | libc::SYS_getpgrp
        | libc::SYS_getpgid
        | libc::SYS_getsid
        | libc::SYS_getuid
        | libc::SYS_geteuid
        | libc::SYS_getgid
        | libc::SYS_getegid
        | libc::SYS_getresuid
        | libc::SYS_getresgid
        | libc::SYS_getgroups
        | libc::SYS_uname
        | libc::SYS_getrlimit
        | libc::SYS_setrlimit
        | libc::SYS_getcwd
        | libc::SYS_umask => true,
        // Descriptors: what they are of is noted where they are opened.
        libc::SYS_chdir
        | libc::SYS_fchdir
        | libc::SYS_close
        | libc::SYS_close_range
        | libc::SYS_dup
        | libc::SYS_dup2
        | libc::SYS_dup3
        | libc::SYS_pipe
        | libc::SYS_pipe2
        | libc::SYS_eventfd
        | libc::SYS_eventfd2
        | libc::SYS_epoll_create
        | libc::SYS_epoll_create1
        | libc::SYS_epoll_ctl
        | libc::SYS_fadvise64
        | libc::SYS_readahead => true,
        _ => false,
    }
}
